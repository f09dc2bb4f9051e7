/* SPDX-License-Identifier: Apache-2.0 */
/* work: what makes units clean, one at a time, with the lock let go while the memory is touched. */
#include "pool/backing.h"
#include "pool/pool.h"

#include <time.h>

/* Without memory the next try is a second later. */
#define PAUSE_NS UINT64_C(1000000000)

uint64_t okosu_pool_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static size_t bytes_in(const struct okosu_zero_pool *pool, enum okosu_unit_state state)
{
    return pool->units.in[state] * pool->options.unit;
}

/* Between `low` and `high` it goes on doing what it did. */
static bool wants_more(struct okosu_zero_pool *pool)
{
    size_t clean = bytes_in(pool, OKOSU_UNIT_CLEAN);

    if (clean < pool->options.low)
        pool->filling = true;
    if (clean >= pool->options.high)
        pool->filling = false;
    return pool->filling && pool->units.in[OKOSU_UNIT_ABSENT];
}

static bool has_too_much(const struct okosu_zero_pool *pool)
{
    return pool->options.keep && bytes_in(pool, OKOSU_UNIT_CLEAN) > pool->options.keep;
}

bool okosu_pool_has_work(struct okosu_zero_pool *pool, uint64_t *until)
{
    *until = 0;
    if (pool->units.in[OKOSU_UNIT_DIRTY] || has_too_much(pool))
        return true;
    if (!wants_more(pool))
        return false;
    if (okosu_pool_now() >= pool->fill_after)
        return true;
    *until = pool->fill_after;
    return false;
}

static void *at(const struct okosu_zero_pool *pool, size_t index)
{
    return pool->base + index * pool->options.unit;
}

/* Without the lock. A unit that the engine could not clear goes back to the kernel: nobody sees it
 * before it is clean. */
static bool clear(struct okosu_zero_pool *pool, size_t index, size_t dirty, bool *lost)
{
    *lost = pool->engine->clear(at(pool, index), dirty) != 0;
    if (*lost)
        return okosu_backing_drop(at(pool, index), pool->options.unit) == 0;
    return true;
}

static size_t clear_one(struct okosu_zero_pool *pool, size_t index)
{
    size_t dirty = pool->units.unit[index].dirty * OKOSU_POOL_PAGE;
    bool lost, usable;

    if (pool->engine->whole)
        dirty = pool->options.unit;
    okosu_units_set(&pool->units, index, OKOSU_UNIT_ZEROING);
    pthread_mutex_unlock(&pool->lock);
    usable = clear(pool, index, dirty, &lost);
    pthread_mutex_lock(&pool->lock);
    if (lost) {
        pool->failures++;
        /* A unit that can't even be dropped stays apart for good. */
        if (usable)
            okosu_units_set(&pool->units, index, OKOSU_UNIT_ABSENT);
        return 0;
    }
    pool->cleared += dirty;
    okosu_units_set(&pool->units, index, OKOSU_UNIT_CLEAN);
    return pool->options.unit;
}

static size_t populate_one(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    okosu_units_set(&pool->units, index, OKOSU_UNIT_ZEROING);
    pthread_mutex_unlock(&pool->lock);
    rc = okosu_backing_populate(at(pool, index), pool->options.unit);
    if (rc)
        okosu_backing_drop(at(pool, index), pool->options.unit);
    pthread_mutex_lock(&pool->lock);
    okosu_units_set(&pool->units, index, rc ? OKOSU_UNIT_ABSENT : OKOSU_UNIT_CLEAN);
    if (rc) {
        pool->failures++;
        pool->fill_after = okosu_pool_now() + PAUSE_NS;
        return 0;
    }
    pool->populated += pool->options.unit;
    return pool->options.unit;
}

static void drop_one(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    okosu_units_set(&pool->units, index, OKOSU_UNIT_ZEROING);
    pthread_mutex_unlock(&pool->lock);
    rc = okosu_backing_drop(at(pool, index), pool->options.unit);
    pthread_mutex_lock(&pool->lock);
    okosu_units_set(&pool->units, index, rc ? OKOSU_UNIT_CLEAN : OKOSU_UNIT_ABSENT);
    pool->dropped += rc ? 0 : pool->options.unit;
}

size_t okosu_pool_step(struct okosu_zero_pool *pool, bool *did)
{
    uint64_t until;
    size_t index;

    *did = okosu_pool_has_work(pool, &until);
    if (!*did)
        return 0;
    index = okosu_units_find(&pool->units, OKOSU_UNIT_DIRTY);
    if (index < pool->units.count)
        return clear_one(pool, index);
    if (has_too_much(pool)) {
        drop_one(pool, okosu_units_last(&pool->units, OKOSU_UNIT_CLEAN));
        return 0;
    }
    return populate_one(pool, okosu_units_find(&pool->units, OKOSU_UNIT_ABSENT));
}
