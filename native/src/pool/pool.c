/* SPDX-License-Identifier: Apache-2.0 */
/* pool: open, take, give, close. */
#include "pool/pool.h"

#include "pool/backing.h"
#include "pool/engines.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define UNIT ((size_t)2 << 20)
#define HUGE_PAGE ((size_t)2 << 20)

static int check(struct okosu_zero_pool_options *o)
{
    if (!o->unit)
        o->unit = UNIT;
    if (o->unit & (o->unit - 1) || o->unit < HUGE_PAGE || o->cap < o->unit || o->node < 0)
        return -EINVAL;
    o->cap -= o->cap % o->unit;
    if (o->low > o->high || o->high > o->cap || (o->keep && o->keep < o->high))
        return -EINVAL;
    if (o->cap / o->unit > UINT32_MAX || o->backing > OKOSU_POOL_HUGETLB)
        return -EINVAL;
    return 0;
}

/* Whether huge pages of the kernel's pool serve: 1, 0 or -errno. */
static int choose_backing(const struct okosu_zero_pool_options *o)
{
    size_t free_pages, page = okosu_backing_hugetlb_page(&free_pages);

    if (o->backing == OKOSU_POOL_THP)
        return 0;
    if (page && o->unit % page == 0 && free_pages &&
        (o->backing == OKOSU_POOL_HUGETLB || o->may_hugetlb))
        return 1;
    if (o->backing == OKOSU_POOL_AUTO)
        return 0;
    return page && o->unit % page ? -EINVAL : -ENOTSUP;
}

static int init_lock(struct okosu_zero_pool *pool)
{
    pthread_condattr_t attr;
    int error = pthread_condattr_init(&attr);

    if (error)
        return -error;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    error = pthread_cond_init(&pool->work, &attr);
    pthread_condattr_destroy(&attr);
    if (!error)
        error = pthread_mutex_init(&pool->lock, NULL);
    return -error;
}

int okosu_zero_pool_open(struct okosu_zero_pool **out,
                         const struct okosu_zero_pool_options *options)
{
    struct okosu_zero_pool *pool = calloc(1, sizeof(*pool));
    size_t count;
    int rc;

    if (!pool)
        return -ENOMEM;
    pool->options = *options;
    rc = check(&pool->options);
    if (!rc)
        rc = okosu_engine_find(options->engine, &pool->engine);
    if (!rc)
        rc = okosu_engine_prove(pool->engine);
    if (!rc && !okosu_backing_can_populate())
        rc = -ENOTSUP;
    if (rc)
        goto out;
    rc = choose_backing(&pool->options);
    if (rc < 0)
        goto out;
    pool->hugetlb = rc;
    count = pool->options.cap / pool->options.unit;
    rc = -ENOMEM;
    pool->rows = calloc(count, sizeof(*pool->rows));
    pool->mine = okosu_backing_mine();
    if (!pool->rows || !pool->mine)
        goto out;
    pool->base =
        okosu_backing_map(pool->options.cap, pool->options.unit, pool->hugetlb, pool->options.node);
    if (!pool->base) {
        rc = -errno;
        goto out;
    }
    okosu_units_init(&pool->units, pool->rows, count);
    rc = init_lock(pool);
    if (!rc && !options->no_worker)
        rc = okosu_pool_start(pool);
out:
    if (rc) {
        okosu_zero_pool_close(pool);
        return rc;
    }
    *out = pool;
    return 0;
}

void okosu_zero_pool_close(struct okosu_zero_pool *pool)
{
    if (!pool)
        return;
    if (pool->mine && *pool->mine)
        okosu_pool_end(pool);
    if (pool->base)
        okosu_backing_unmap(pool->base, pool->options.cap);
    okosu_backing_drop_mine(pool->mine);
    free(pool->rows);
    free(pool);
}

bool okosu_zero_pool_owns(const struct okosu_zero_pool *pool, const void *at)
{
    return (size_t)((const unsigned char *)at - pool->base) < pool->options.cap;
}

void *okosu_zero_pool_take(struct okosu_zero_pool *pool, size_t bytes)
{
    size_t unit = pool->options.unit, count = bytes / unit + (bytes % unit != 0), first;

    if (!*pool->mine || !bytes)
        return NULL;
    pthread_mutex_lock(&pool->lock);
    first = okosu_units_take(&pool->units, count);
    pool->takes++;
    pool->misses += first == pool->units.count;
    /* Fewer clean units may be left than it keeps ready. */
    okosu_pool_wake(pool);
    pthread_mutex_unlock(&pool->lock);
    return first == pool->units.count ? NULL : pool->base + first * unit;
}

/* The index of the unit that begins at this address, or a number no unit has. */
static size_t index_of(const struct okosu_zero_pool *pool, const void *block)
{
    size_t offset = (size_t)((const unsigned char *)block - pool->base);

    return offset % pool->options.unit ? SIZE_MAX : offset / pool->options.unit;
}

int okosu_zero_pool_give(struct okosu_zero_pool *pool, void *block, size_t dirty)
{
    size_t index = index_of(pool, block), pages = dirty / OKOSU_POOL_PAGE;
    bool was;

    pages += dirty % OKOSU_POOL_PAGE != 0;
    if (!*pool->mine) {
        size_t bytes = okosu_zero_pool_size(pool, block);

        return bytes ? okosu_backing_drop(block, bytes) : -EINVAL;
    }
    pthread_mutex_lock(&pool->lock);
    was = okosu_units_give(&pool->units, index, pages, pool->options.unit / OKOSU_POOL_PAGE);
    pool->gives += was;
    okosu_pool_wake(pool);
    pthread_mutex_unlock(&pool->lock);
    return was ? 0 : -EINVAL;
}

/* A child of fork looks without the lock, which a thread that it does not have may hold. */
size_t okosu_zero_pool_size(struct okosu_zero_pool *pool, const void *block)
{
    size_t index = index_of(pool, block), run = 0;
    bool mine = *pool->mine;

    if (mine)
        pthread_mutex_lock(&pool->lock);
    if (index < pool->units.count)
        run = pool->units.unit[index].run;
    if (mine)
        pthread_mutex_unlock(&pool->lock);
    return run * pool->options.unit;
}

size_t okosu_zero_pool_work(struct okosu_zero_pool *pool, size_t bytes)
{
    size_t done = 0, cleaned;
    bool did = *pool->mine;

    if (!did)
        return 0;
    pthread_mutex_lock(&pool->lock);
    while (did && done < bytes) {
        cleaned = okosu_pool_step(pool, &did);
        done += cleaned;
    }
    pthread_mutex_unlock(&pool->lock);
    return done;
}

void okosu_zero_pool_stats(struct okosu_zero_pool *pool, struct okosu_zero_pool_stats *stats)
{
    size_t unit = pool->options.unit;
    bool mine = *pool->mine;
    const size_t *in = pool->units.in;

    if (mine)
        pthread_mutex_lock(&pool->lock);
    *stats = (struct okosu_zero_pool_stats){
        .cap = pool->options.cap,
        .unit = unit,
        .clean = in[OKOSU_UNIT_CLEAN] * unit,
        .held = in[OKOSU_UNIT_HELD] * unit,
        .dirty = in[OKOSU_UNIT_DIRTY] * unit,
        .zeroing = in[OKOSU_UNIT_ZEROING] * unit,
        .absent = in[OKOSU_UNIT_ABSENT] * unit,
        .takes = pool->takes,
        .misses = pool->misses,
        .gives = pool->gives,
        .cleared = pool->cleared,
        .populated = pool->populated,
        .dropped = pool->dropped,
        .failures = pool->failures,
        .hugetlb = pool->hugetlb,
        .engine = pool->engine->name,
    };
    if (mine)
        pthread_mutex_unlock(&pool->lock);
}
