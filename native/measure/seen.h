/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct names that the processes of one tree have shown, each kept once. A process says by
 * one bit a name which of them are its own, so that they can be forgotten when it executes another
 * program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OKOSU_SEEN_LIMIT = 4096, OKOSU_SEEN_SLOTS = 2 * OKOSU_SEEN_LIMIT };

struct okosu_seen {
    char *items[OKOSU_SEEN_LIMIT];
    uint16_t slots[OKOSU_SEEN_SLOTS]; /* the index of an item and 1; 0: free */
    size_t count;
    bool cut; /* there was a name more than there is room for */
};

struct okosu_seen_bits {
    uint64_t words[OKOSU_SEEN_LIMIT / 64];
};

/* Keep the name, which needs no NUL at its end, and set its bit. */
void okosu_seen_add(struct okosu_seen *seen, struct okosu_seen_bits *bits, const char *name,
                    size_t length);
void okosu_seen_merge(struct okosu_seen_bits *sum, const struct okosu_seen_bits *more);
bool okosu_seen_has(const struct okosu_seen_bits *bits, size_t item);
void okosu_seen_clear(struct okosu_seen *seen);
