/* SPDX-License-Identifier: Apache-2.0 */
/* units: which units of a pool are in which state. No memory of the pool is touched, no lock
 * taken, no system call made: the callers do that, under the pool's lock. */
#ifndef OKOSU_POOL_UNITS_H
#define OKOSU_POOL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum okosu_unit_state {
    OKOSU_UNIT_ABSENT,
    OKOSU_UNIT_CLEAN,
    OKOSU_UNIT_HELD,
    OKOSU_UNIT_DIRTY,
    OKOSU_UNIT_ZEROING, /* being cleared, populated or dropped: nobody else's for now */
    OKOSU_UNIT_STATES
};

struct okosu_unit {
    uint8_t state;
    uint32_t run;   /* of the first unit of a held block: its units. Else 0 */
    uint32_t dirty; /* DIRTY and ZEROING: pages of 4096 from its start that need clearing */
    /* Of the first unit of a block on its way back, in the pool's list: its units, its dirty pages
     * and the next block's index + 1. */
    uint32_t back, back_dirty, next;
};

struct okosu_units {
    struct okosu_unit *unit;
    size_t count;
    size_t in[OKOSU_UNIT_STATES]; /* how many are in each state */
    size_t lowest_dirty;          /* none below this index is DIRTY */
};

/* All ABSENT. `unit` has room for `count`. */
void okosu_units_init(struct okosu_units *units, struct okosu_unit *unit, size_t count);
void okosu_units_set(struct okosu_units *units, size_t index, enum okosu_unit_state state);
/* The lowest run of `count` CLEAN units becomes a held block: its index, or units->count. */
size_t okosu_units_take(struct okosu_units *units, size_t count);
/* The same of a run of CLEAN and DIRTY units; the first *dirty units of it may be either. */
size_t okosu_units_take_any(struct okosu_units *units, size_t count, size_t *dirty);
/* The block that begins at `index` is held no more; `pages` of its first pages of 4096 are dirty,
 * of `per_unit` that a unit has. False: no held block begins there. */
bool okosu_units_give(struct okosu_units *units, size_t index, size_t pages, size_t per_unit);
/* The lowest unit in this state, or units->count. */
size_t okosu_units_find(struct okosu_units *units, enum okosu_unit_state state);
/* The highest one: what is dropped lies as far as possible from what is taken next. */
size_t okosu_units_last(const struct okosu_units *units, enum okosu_unit_state state);

#endif
