/* SPDX-License-Identifier: Apache-2.0 */
/* pins: memory pinned for an engine, in chunks, all of it or nothing. */
#ifndef ZEROD_PINS_H
#define ZEROD_PINS_H

#include "engine.h"

struct zerod_pins {
    unsigned char *base;
    size_t chunk, count;
    void **pin; /* count; NULL: the engine needs none */
};

/* Pin bytes at `base`, a multiple of `unit` at a time; what was pinned before a failure is let go
 * in reverse order. 0 or -errno. An engine that pins nothing has nothing to do. */
int zerod_pins_make(struct zerod_pins *pins, const struct zerod_use *use, void *base, size_t bytes,
                    size_t unit);
void zerod_pins_drop(struct zerod_pins *pins, const struct zerod_use *use);
/* The range as the engine wants it. It must not cross a chunk: no unit does. */
struct zerod_range zerod_pins_range(const struct zerod_pins *pins, void *at, size_t bytes);

#endif
