/* SPDX-License-Identifier: Apache-2.0 */
/* pins: memory pinned for an engine, in chunks: either all of it or nothing. */
#pragma once

#include "engine.h"

struct zerod_pins {
    unsigned char *base;
    size_t chunk, count;
    void **pin; /* count; NULL: the engine needs none */
};

/* Pin `bytes` at `base`, a multiple of `unit` at a time; after a failure the chunks that were
 * pinned are unpinned in reverse order. 0 or -errno. For an engine that pins nothing this does
 * nothing. */
int zerod_pins_make(struct zerod_pins *pins, const struct zerod_use *use, void *base, size_t bytes,
                    size_t unit);
void zerod_pins_drop(struct zerod_pins *pins, const struct zerod_use *use);
/* The range in the form that the engine needs. It must not cross a chunk's end, and no unit
 * does. */
struct zerod_range zerod_pins_range(const struct zerod_pins *pins, void *at, size_t bytes);
