/* SPDX-License-Identifier: Apache-2.0 */
/* A pattern over a block, which depends on the position in it: one word in each PATTERN_STEP bytes
 * and the last byte, so that blocks of many MiB are cheap to check. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { PATTERN_STEP = 8192 };

static inline void fill(void *p, size_t size, unsigned tag)
{
    char *bytes = p;
    size_t i, word;

    for (i = 0; i + sizeof word <= size; i += PATTERN_STEP) {
        word = i * 2654435761u + tag;
        memcpy(bytes + i, &word, sizeof word);
    }
    if (size)
        bytes[size - 1] = (char)tag;
}

static inline bool is_filled(const void *p, size_t size, unsigned tag)
{
    const char *bytes = p;
    size_t i, word;

    for (i = 0; i + sizeof word < size; i += PATTERN_STEP) {
        memcpy(&word, bytes + i, sizeof word);
        if (word != i * 2654435761u + tag)
            return false;
    }
    return true;
}
