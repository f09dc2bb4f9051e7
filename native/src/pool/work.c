/* SPDX-License-Identifier: Apache-2.0 */
/* work: makes units clean, one at a time; the lock is released while memory is touched. */
#include "pool/pool.h"
#include "pool/supply.h"

#include <time.h>

/* After the kernel had no memory, the worker tries again a second later. */
#define PAUSE_NS UINT64_C(1000000000)

struct counted {
    size_t clean, dirty, absent; /* bytes */
};

static struct counted count(const struct okosu_zero_pool *pool)
{
    size_t in[OKOSU_UNIT_STATES], unit = pool->options.unit;

    okosu_units_count(&pool->units, in);
    return (struct counted){.clean = in[OKOSU_UNIT_CLEAN] * unit,
                            .dirty = in[OKOSU_UNIT_DIRTY] * unit,
                            .absent = in[OKOSU_UNIT_ABSENT] * unit};
}

/* With `reuse` dirty units are useful, too, and are cleared only where clean units are wanted. */
static bool wants_cleared(const struct okosu_zero_pool *pool, const struct counted *now)
{
    return now->dirty && (!pool->options.reuse || now->clean < atomic_load(&pool->clean));
}

/* Between `low` and `high` the pool goes on filling if it was filling, and goes on waiting if
 * not. */
static bool wants_more(struct okosu_zero_pool *pool, const struct counted *now)
{
    size_t ready = now->clean + (pool->options.reuse ? now->dirty : 0);

    if (ready < atomic_load(&pool->low))
        pool->filling = true;
    if (ready >= atomic_load(&pool->high))
        pool->filling = false;
    return pool->filling && now->absent;
}

static bool has_too_much(const struct okosu_zero_pool *pool, const struct counted *now)
{
    size_t keep = atomic_load(&pool->keep);

    return keep && now->clean > keep;
}

enum work { NOTHING, CLEAR, DROP, POPULATE };

/* Choose what to do now; *until is when there may be something to do, or 0. */
static enum work choose(struct okosu_zero_pool *pool, uint64_t *until)
{
    struct counted now = count(pool);

    *until = 0;
    if (wants_cleared(pool, &now))
        return CLEAR;
    if (has_too_much(pool, &now))
        return DROP;
    if (!wants_more(pool, &now))
        return NOTHING;
    if (okosu_now() >= pool->fill_after)
        return POPULATE;
    *until = pool->fill_after;
    return NOTHING;
}

bool okosu_pool_has_work(struct okosu_zero_pool *pool, uint64_t *until)
{
    return choose(pool, until) != NOTHING;
}

/* Call without the lock. A unit that the engine could not clear goes back to the kernel, so that
 * nobody gets it dirty. */
static bool clear(struct okosu_zero_pool *pool, size_t index, size_t dirty, bool *lost)
{
    *lost = okosu_supply_clear(pool, index, dirty) != 0;
    if (*lost)
        return okosu_supply_drop(pool, index) == 0;
    return true;
}

/* The callers of the next three functions have claimed the unit. */
static size_t clear_one(struct okosu_zero_pool *pool, size_t index)
{
    size_t dirty = pool->units.unit[index].dirty * OKOSU_POOL_PAGE;
    bool lost, usable;

    if (pool->engine->whole)
        dirty = pool->options.unit;
    pthread_mutex_unlock(&pool->lock);
    usable = clear(pool, index, dirty, &lost);
    pthread_mutex_lock(&pool->lock);
    if (lost) {
        pool->failures++;
        /* A unit that cannot even be dropped is never used again. */
        if (usable)
            okosu_units_settle(&pool->units, index, OKOSU_UNIT_ABSENT);
        return 0;
    }
    pool->cleared += dirty;
    okosu_units_settle(&pool->units, index, OKOSU_UNIT_CLEAN);
    return pool->options.unit;
}

static size_t populate_one(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    pthread_mutex_unlock(&pool->lock);
    rc = okosu_supply_populate(pool, index);
    if (rc)
        okosu_supply_drop(pool, index);
    pthread_mutex_lock(&pool->lock);
    okosu_units_settle(&pool->units, index, rc ? OKOSU_UNIT_ABSENT : OKOSU_UNIT_CLEAN);
    if (rc) {
        pool->failures++;
        pool->fill_after = okosu_now() + PAUSE_NS;
        return 0;
    }
    pool->populated += pool->options.unit;
    return pool->options.unit;
}

static void drop_one(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    pthread_mutex_unlock(&pool->lock);
    rc = okosu_supply_drop(pool, index);
    pthread_mutex_lock(&pool->lock);
    okosu_units_settle(&pool->units, index, rc ? OKOSU_UNIT_CLEAN : OKOSU_UNIT_ABSENT);
    pool->dropped += rc ? 0 : pool->options.unit;
}

size_t okosu_pool_step(struct okosu_zero_pool *pool, bool *did)
{
    struct okosu_units *units = &pool->units;
    uint64_t until;
    enum work work = choose(pool, &until);
    enum okosu_unit_state from;
    size_t index;

    *did = work != NOTHING;
    switch (work) {
    case CLEAR:
        from = OKOSU_UNIT_DIRTY;
        break;
    case DROP:
        from = OKOSU_UNIT_CLEAN;
        break;
    case POPULATE:
        from = OKOSU_UNIT_ABSENT;
        break;
    default:
        return 0;
    }
    index = work == DROP ? okosu_units_last(units, from) : okosu_units_find(units, from);
    /* If a taker was faster, the next call looks again for something to do. */
    if (index == units->count || !okosu_units_claim(units, index, from))
        return 0;
    if (work == CLEAR)
        return clear_one(pool, index);
    if (work == POPULATE)
        return populate_one(pool, index);
    drop_one(pool, index);
    return 0;
}
