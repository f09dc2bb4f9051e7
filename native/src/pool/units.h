/* SPDX-License-Identifier: Apache-2.0 */
/* units: records which units of a pool are in which state. It touches no memory of the pool and
 * makes no system call.
 *
 * The thread that moves a unit's state to HELD or ZEROING, with one atomic exchange, owns the unit
 * until it stores another state. There is no lock: the thread that clears has the lowest priority,
 * and if it lost its CPU while it held one, the program would have to wait, or do without its
 * blocks, as long as the machine is busy. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum okosu_unit_state {
    OKOSU_UNIT_ABSENT,
    OKOSU_UNIT_CLEAN,
    OKOSU_UNIT_HELD,
    OKOSU_UNIT_DIRTY,
    OKOSU_UNIT_ZEROING, /* being cleared, populated or dropped: no other thread may use it */
    OKOSU_UNIT_STATES
};

struct okosu_unit {
    _Atomic uint8_t state;
    bool fresh;           /* HELD: it was ABSENT when it was taken, and may still have no memory */
    uint32_t dirty;       /* pages of 4096 from its start that are not clean; 0 unless DIRTY was */
    _Atomic uint32_t run; /* of the first unit of a held block: how many units it has; else 0 */
};

struct okosu_units {
    struct okosu_unit *unit;
    size_t count;
    atomic_size_t top; /* every unit from this index on has always been ABSENT */
};

/* About a block that was taken: pages from its start to its last dirty one, and how many of its
 * units are in memory. */
struct okosu_units_found {
    size_t dirty, there;
};

/* Make all units ABSENT. `unit` has room for `count`, and is all 0. */
void okosu_units_init(struct okosu_units *units, struct okosu_unit *unit, size_t count);
enum okosu_unit_state okosu_units_state(const struct okosu_units *units, size_t index);
/* Move a unit from state `from` to ZEROING. False: another thread was first. */
bool okosu_units_claim(struct okosu_units *units, size_t index, enum okosu_unit_state from);
/* Called by the thread that claimed the unit: store its new state; CLEAN and ABSENT units have no
 * dirty page. */
void okosu_units_settle(struct okosu_units *units, size_t index, enum okosu_unit_state state);
/* Make the lowest run of `count` CLEAN units a held block; returns its index, or units->count where
 * there is none, or another thread took some of it meanwhile. */
size_t okosu_units_take(struct okosu_units *units, size_t count);
/* As okosu_units_take(), but from DIRTY units, else from DIRTY and CLEAN ones, else (`fresh`) from
 * ABSENT ones as well; a unit has `per_unit` pages of 4096. */
size_t okosu_units_take_any(struct okosu_units *units, size_t count, size_t per_unit, bool fresh,
                            struct okosu_units_found *found);
/* Extend the held block that begins at `index` to `count` units where it lies; *found describes the
 * added units. False: the units behind it are not free, or no block begins there. */
bool okosu_units_extend(struct okosu_units *units, size_t index, size_t count, size_t per_unit,
                        bool fresh, struct okosu_units_found *found);
/* Release the held block that begins at `index`; its first `pages` pages of 4096, of `per_unit` in
 * each unit, are dirty. False: no held block begins there. */
bool okosu_units_give(struct okosu_units *units, size_t index, size_t pages, size_t per_unit);
/* Release the held block that begins at `index`; nothing of it is in memory. False as above. */
bool okosu_units_leave(struct okosu_units *units, size_t index);
/* The first unit of the held block that this unit is in, or units->count. */
size_t okosu_units_block(const struct okosu_units *units, size_t index);
/* Make a unit that nobody holds a held block, whatever it contains. `abandoned`: no other thread
 * uses it even if it is ZEROING. False: another thread uses it. */
bool okosu_units_seize(struct okosu_units *units, size_t index, bool abandoned);
/* The lowest unit in this state, or units->count. */
size_t okosu_units_find(const struct okosu_units *units, enum okosu_unit_state state);
/* The highest one, so that dropped units lie as far as possible from those taken next. */
size_t okosu_units_last(const struct okosu_units *units, enum okosu_unit_state state);
/* How many are in each state. */
void okosu_units_count(const struct okosu_units *units, size_t in[OKOSU_UNIT_STATES]);
