/* SPDX-License-Identifier: Apache-2.0 */
/* units: the states of a pool's units. Runs are found by a search from the lowest address, so that
 * blocks gather at the low end and long runs remain at the high one. */
#include "pool/units.h"

#include <string.h>

void okosu_units_init(struct okosu_units *units, struct okosu_unit *unit, size_t count)
{
    units->unit = unit;
    units->count = count;
    atomic_store(&units->top, 0);
}

enum okosu_unit_state okosu_units_state(const struct okosu_units *units, size_t index)
{
    return (enum okosu_unit_state)atomic_load_explicit(&units->unit[index].state,
                                                       memory_order_relaxed);
}

/* Moves the unit to HELD or ZEROING, which gives the caller the right to its other fields. */
static bool own(struct okosu_units *units, size_t index, enum okosu_unit_state from,
                enum okosu_unit_state to)
{
    size_t top = atomic_load_explicit(&units->top, memory_order_relaxed);
    uint8_t state = (uint8_t)from;

    if (!atomic_compare_exchange_strong_explicit(&units->unit[index].state, &state, (uint8_t)to,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    while (index >= top && !atomic_compare_exchange_weak(&units->top, &top, index + 1))
        ;
    return true;
}

static void hand_on(struct okosu_units *units, size_t index, enum okosu_unit_state state)
{
    atomic_store_explicit(&units->unit[index].state, (uint8_t)state, memory_order_release);
}

bool okosu_units_claim(struct okosu_units *units, size_t index, enum okosu_unit_state from)
{
    return own(units, index, from, OKOSU_UNIT_ZEROING);
}

void okosu_units_settle(struct okosu_units *units, size_t index, enum okosu_unit_state state)
{
    if (state != OKOSU_UNIT_DIRTY)
        units->unit[index].dirty = 0;
    hand_on(units, index, state);
}

/* Puts the units back into the states that they had before hold(). */
static void let_go(struct okosu_units *units, size_t first, size_t count)
{
    for (size_t k = first; k < first + count; k++) {
        const struct okosu_unit *unit = &units->unit[k];

        hand_on(units, k,
                unit->fresh   ? OKOSU_UNIT_ABSENT
                : unit->dirty ? OKOSU_UNIT_DIRTY
                              : OKOSU_UNIT_CLEAN);
    }
}

/* Takes the units `first` to `end` of the block that begins at `start`. */
static bool hold(struct okosu_units *units, size_t start, size_t first, size_t end, unsigned set,
                 size_t per_unit, struct okosu_units_found *found)
{
    *found = (struct okosu_units_found){0};
    for (size_t k = first; k < end; k++) {
        enum okosu_unit_state was = okosu_units_state(units, k);

        if (!(set >> was & 1) || !own(units, k, was, OKOSU_UNIT_HELD)) {
            let_go(units, first, k - first);
            return false;
        }
        units->unit[k].fresh = was == OKOSU_UNIT_ABSENT;
        found->there += was != OKOSU_UNIT_ABSENT;
        if (units->unit[k].dirty)
            found->dirty = (k - start) * per_unit + units->unit[k].dirty;
    }
    atomic_store_explicit(&units->unit[start].run, (uint32_t)(end - start), memory_order_relaxed);
    return true;
}

/* The lowest run of units whose states are all in `set`, a bit mask; or units->count. */
static size_t take_run(struct okosu_units *units, size_t count, unsigned set, size_t per_unit,
                       struct okosu_units_found *found)
{
    size_t end = set >> OKOSU_UNIT_ABSENT & 1 ? units->count : atomic_load(&units->top), run = 0;

    for (size_t i = 0; count && i < end; i++) {
        run = set >> okosu_units_state(units, i) & 1 ? run + 1 : 0;
        if (run < count)
            continue;
        if (hold(units, i + 1 - count, i + 1 - count, i + 1, set, per_unit, found))
            return i + 1 - count;
        run = 0;
    }
    *found = (struct okosu_units_found){0};
    return units->count;
}

size_t okosu_units_take(struct okosu_units *units, size_t count)
{
    struct okosu_units_found found;

    return take_run(units, count, 1u << OKOSU_UNIT_CLEAN, 0, &found);
}

size_t okosu_units_take_any(struct okosu_units *units, size_t count, size_t per_unit, bool fresh,
                            struct okosu_units_found *found)
{
    const unsigned dirty = 1u << OKOSU_UNIT_DIRTY, clean = 1u << OKOSU_UNIT_CLEAN;
    size_t first = take_run(units, count, dirty, per_unit, found);

    if (first == units->count)
        first = take_run(units, count, dirty | clean, per_unit, found);
    if (first == units->count && fresh)
        first = take_run(units, count, dirty | clean | 1u << OKOSU_UNIT_ABSENT, per_unit, found);
    return first;
}

bool okosu_units_extend(struct okosu_units *units, size_t index, size_t count, size_t per_unit,
                        bool fresh, struct okosu_units_found *found)
{
    size_t run = atomic_load_explicit(&units->unit[index].run, memory_order_relaxed);
    unsigned set =
        1u << OKOSU_UNIT_DIRTY | 1u << OKOSU_UNIT_CLEAN | (fresh ? 1u << OKOSU_UNIT_ABSENT : 0);

    *found = (struct okosu_units_found){0};
    if (!run || count > units->count - index)
        return false;
    return count <= run || hold(units, index, index + run, index + count, set, per_unit, found);
}

/* How many units the block that begins there has, and its end; 0 where none begins. Called only by
 * the holder, so that no atomic exchange is needed: the program waits while it gives a block
 * back. */
static size_t end_block(struct okosu_units *units, size_t index)
{
    size_t run = index < units->count
                     ? atomic_load_explicit(&units->unit[index].run, memory_order_relaxed)
                     : 0;

    if (run)
        atomic_store_explicit(&units->unit[index].run, 0, memory_order_relaxed);
    return run;
}

bool okosu_units_give(struct okosu_units *units, size_t index, size_t pages, size_t per_unit)
{
    size_t run = end_block(units, index);

    for (size_t k = index; k < index + run; k++) {
        struct okosu_unit *unit = &units->unit[k];

        unit->dirty = (uint32_t)(pages < per_unit ? pages : per_unit);
        pages -= unit->dirty;
        unit->fresh &= !unit->dirty;
        hand_on(units, k,
                unit->dirty   ? OKOSU_UNIT_DIRTY
                : unit->fresh ? OKOSU_UNIT_ABSENT
                              : OKOSU_UNIT_CLEAN);
    }
    return run > 0;
}

bool okosu_units_leave(struct okosu_units *units, size_t index)
{
    size_t run = end_block(units, index);

    for (size_t k = index; k < index + run; k++)
        okosu_units_settle(units, k, OKOSU_UNIT_ABSENT);
    return run > 0;
}

size_t okosu_units_block(const struct okosu_units *units, size_t index)
{
    size_t first = index;
    uint32_t run = 0;

    while (okosu_units_state(units, first) == OKOSU_UNIT_HELD) {
        run = atomic_load_explicit(&units->unit[first].run, memory_order_relaxed);
        if (run || first == 0)
            break;
        first--;
    }
    return run > index - first ? first : units->count;
}

bool okosu_units_seize(struct okosu_units *units, size_t index, bool abandoned)
{
    enum okosu_unit_state was = okosu_units_state(units, index);

    if (was == OKOSU_UNIT_HELD || (was == OKOSU_UNIT_ZEROING && !abandoned) ||
        !own(units, index, was, OKOSU_UNIT_HELD))
        return false;
    units->unit[index].fresh = false;
    atomic_store_explicit(&units->unit[index].run, 1, memory_order_relaxed);
    return true;
}

size_t okosu_units_find(const struct okosu_units *units, enum okosu_unit_state state)
{
    size_t i = 0;

    while (i < units->count && okosu_units_state(units, i) != state)
        i++;
    return i;
}

size_t okosu_units_last(const struct okosu_units *units, enum okosu_unit_state state)
{
    for (size_t i = atomic_load(&units->top); i-- > 0;)
        if (okosu_units_state(units, i) == state)
            return i;
    return units->count;
}

void okosu_units_count(const struct okosu_units *units, size_t in[OKOSU_UNIT_STATES])
{
    size_t top = atomic_load(&units->top);

    memset(in, 0, OKOSU_UNIT_STATES * sizeof(*in));
    for (size_t i = 0; i < top; i++)
        in[okosu_units_state(units, i)]++;
    in[OKOSU_UNIT_ABSENT] += units->count - top;
}
