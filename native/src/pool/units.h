/* SPDX-License-Identifier: Apache-2.0 */
/* units: which units of a pool are in which state. No memory of the pool is touched and no system
 * call made.
 *
 * A unit belongs to whoever moved its state, by one exchange, to HELD or ZEROING, until that stores
 * another state. There is no lock: the thread that clears has the lowest priority, and one that was
 * put off while it had a lock would keep the program waiting, or without its blocks, for as long as
 * the machine is busy. */
#ifndef OKOSU_POOL_UNITS_H
#define OKOSU_POOL_UNITS_H

#include <stdatomic.h>
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
    _Atomic uint8_t state;
    bool fresh;           /* HELD: it was ABSENT when it was taken, and may be so still */
    uint32_t dirty;       /* pages of 4096 from its start that are not clean; 0 unless DIRTY was */
    _Atomic uint32_t run; /* of the first unit of a held block: its units. Else 0 */
};

struct okosu_units {
    struct okosu_unit *unit;
    size_t count;
    atomic_size_t top; /* every unit from this index on has always been ABSENT */
};

/* Of a block that was taken: pages from its start to its last dirty one, and the units of it that
 * are in memory. */
struct okosu_units_found {
    size_t dirty, there;
};

/* All ABSENT. `unit` has room for `count`, and is all 0. */
void okosu_units_init(struct okosu_units *units, struct okosu_unit *unit, size_t count);
enum okosu_unit_state okosu_units_state(const struct okosu_units *units, size_t index);
/* Make a unit in state `from` ZEROING. False: somebody else was first. */
bool okosu_units_claim(struct okosu_units *units, size_t index, enum okosu_unit_state from);
/* By who claimed it: CLEAN and ABSENT ones have no dirty page. */
void okosu_units_settle(struct okosu_units *units, size_t index, enum okosu_unit_state state);
/* The lowest run of `count` CLEAN units becomes a held block: its index, or units->count where
 * there is none, or another thread took some of it meanwhile. */
size_t okosu_units_take(struct okosu_units *units, size_t count);
/* The same of DIRTY units, else of DIRTY and CLEAN ones, else (`fresh`) of ABSENT ones as well;
 * `per_unit` pages of 4096 are in one. */
size_t okosu_units_take_any(struct okosu_units *units, size_t count, size_t per_unit, bool fresh,
                            struct okosu_units_found *found);
/* Have the held block that begins at `index` be `count` units long where it lies; *found is of the
 * units that came to it. False: the ones behind it are not free, or it is no block. */
bool okosu_units_extend(struct okosu_units *units, size_t index, size_t count, size_t per_unit,
                        bool fresh, struct okosu_units_found *found);
/* The block that begins at `index` is held no more; `pages` of its first pages of 4096 are dirty,
 * of `per_unit` that a unit has. False: no held block begins there. */
bool okosu_units_give(struct okosu_units *units, size_t index, size_t pages, size_t per_unit);
/* The held block that begins at `index` is held no more, and nothing of it is in memory. */
bool okosu_units_leave(struct okosu_units *units, size_t index);
/* The lowest unit in this state, or units->count. */
size_t okosu_units_find(const struct okosu_units *units, enum okosu_unit_state state);
/* The highest one: what is dropped lies as far as possible from what is taken next. */
size_t okosu_units_last(const struct okosu_units *units, enum okosu_unit_state state);
/* How many are in each state. */
void okosu_units_count(const struct okosu_units *units, size_t in[OKOSU_UNIT_STATES]);

#endif
