/* SPDX-License-Identifier: Apache-2.0 */
/* units: the states of a pool's units; runs are found by looking, lowest address first, so that
 * blocks gather at the low end and long runs stay at the high one. */
#include "pool/units.h"

#include <string.h>

void okosu_units_init(struct okosu_units *units, struct okosu_unit *unit, size_t count)
{
    memset(unit, 0, count * sizeof(*unit));
    *units = (struct okosu_units){.unit = unit, .count = count, .lowest_dirty = count};
    units->in[OKOSU_UNIT_ABSENT] = count;
}

void okosu_units_set(struct okosu_units *units, size_t index, enum okosu_unit_state state)
{
    struct okosu_unit *unit = &units->unit[index];

    units->in[unit->state]--;
    units->in[state]++;
    unit->state = (uint8_t)state;
    if (state == OKOSU_UNIT_DIRTY && index < units->lowest_dirty)
        units->lowest_dirty = index;
}

static size_t hold(struct okosu_units *units, size_t first, size_t count)
{
    for (size_t k = first; k < first + count; k++)
        okosu_units_set(units, k, OKOSU_UNIT_HELD);
    units->unit[first].run = (uint32_t)count;
    return first;
}

size_t okosu_units_take(struct okosu_units *units, size_t count)
{
    size_t run = 0;

    if (!count || units->in[OKOSU_UNIT_CLEAN] < count)
        return units->count;
    for (size_t i = 0; i < units->count; i++) {
        run = units->unit[i].state == OKOSU_UNIT_CLEAN ? run + 1 : 0;
        if (run == count)
            return hold(units, i + 1 - count, count);
    }
    return units->count;
}

size_t okosu_units_take_any(struct okosu_units *units, size_t count, size_t *dirty)
{
    size_t run = 0, last = 0;

    if (!count || units->in[OKOSU_UNIT_CLEAN] + units->in[OKOSU_UNIT_DIRTY] < count)
        return units->count;
    for (size_t i = 0; i < units->count; i++) {
        uint8_t state = units->unit[i].state;

        run = state == OKOSU_UNIT_CLEAN || state == OKOSU_UNIT_DIRTY ? run + 1 : 0;
        last = state == OKOSU_UNIT_DIRTY ? i + 1 : last;
        if (run < count)
            continue;
        i = i + 1 - count;
        *dirty = last > i ? last - i : 0;
        return hold(units, i, count);
    }
    return units->count;
}

bool okosu_units_give(struct okosu_units *units, size_t index, size_t pages, size_t per_unit)
{
    size_t run = index < units->count ? units->unit[index].run : 0;

    if (!run)
        return false;
    units->unit[index].run = 0;
    for (size_t k = index; k < index + run; k++) {
        size_t here = pages < per_unit ? pages : per_unit;

        pages -= here;
        units->unit[k].dirty = (uint32_t)here;
        okosu_units_set(units, k, here ? OKOSU_UNIT_DIRTY : OKOSU_UNIT_CLEAN);
    }
    return true;
}

size_t okosu_units_find(struct okosu_units *units, enum okosu_unit_state state)
{
    size_t i = state == OKOSU_UNIT_DIRTY ? units->lowest_dirty : 0;

    if (!units->in[state])
        return units->count;
    while (i < units->count && units->unit[i].state != state)
        i++;
    if (state == OKOSU_UNIT_DIRTY)
        units->lowest_dirty = i;
    return i;
}

size_t okosu_units_last(const struct okosu_units *units, enum okosu_unit_state state)
{
    for (size_t i = units->count; units->in[state] && i-- > 0;)
        if (units->unit[i].state == state)
            return i;
    return units->count;
}
