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

static _Atomic unsigned childhoods;

static void count_childhood(void)
{
    childhoods++;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_childhood);
}

/* Whether this process made the pool. The page sees children of every kind of fork. */
static bool is_mine(const struct okosu_zero_pool *pool)
{
    return *pool->mine && pool->childhood == childhoods;
}

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
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct okosu_zero_pool *pool = calloc(1, sizeof(*pool));
    size_t count;
    int rc;

    if (!pool)
        return -ENOMEM;
    pthread_once(&once, watch_forks);
    pool->childhood = childhoods;
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
    if (pool->mine && is_mine(pool))
        okosu_pool_end(pool);
    if (pool->base)
        okosu_backing_unmap(pool->base, pool->options.cap);
    okosu_backing_drop_mine(pool->mine);
    free(pool->rows);
    free(pool);
}

void *okosu_zero_pool_base(const struct okosu_zero_pool *pool)
{
    return pool->base;
}

bool okosu_zero_pool_owns(const struct okosu_zero_pool *pool, const void *at)
{
    return (size_t)((const unsigned char *)at - pool->base) < pool->options.cap;
}

void okosu_pool_take_in(struct okosu_zero_pool *pool)
{
    uint32_t next = atomic_exchange(&pool->returned, 0);

    while (next) {
        struct okosu_unit *unit = &pool->units.unit[next - 1];
        size_t index = next - 1;

        next = unit->next;
        unit->run = unit->back;
        okosu_units_give(&pool->units, index, unit->back_dirty,
                         pool->options.unit / OKOSU_POOL_PAGE);
    }
}

/* `dirty` NULL: only what is clean. */
static void *take(struct okosu_zero_pool *pool, size_t bytes, size_t *dirty)
{
    size_t unit = pool->options.unit, count = bytes / unit + (bytes % unit != 0), first;

    if (!is_mine(pool) || !bytes)
        return NULL;
    first = pool->units.count;
    if (pthread_mutex_trylock(&pool->lock) == 0) {
        okosu_pool_take_in(pool);
        first = dirty ? okosu_units_take_any(&pool->units, count, dirty)
                      : okosu_units_take(&pool->units, count);
        pool->takes += first < pool->units.count;
        pthread_mutex_unlock(&pool->lock);
    }
    if (first == pool->units.count)
        atomic_fetch_add_explicit(&pool->misses, 1, memory_order_relaxed);
    /* Fewer clean units may be left than it keeps ready. */
    okosu_pool_wake(pool);
    return first == pool->units.count ? NULL : pool->base + first * unit;
}

void *okosu_zero_pool_take(struct okosu_zero_pool *pool, size_t bytes)
{
    return take(pool, bytes, NULL);
}

void *okosu_zero_pool_take_any(struct okosu_zero_pool *pool, size_t bytes, size_t *dirty)
{
    size_t units = 0;
    void *block = take(pool, bytes, &units);

    *dirty = units * pool->options.unit;
    return block;
}

/* The index of the unit that begins at this address, or a number no unit has. */
static size_t index_of(const struct okosu_zero_pool *pool, const void *block)
{
    size_t offset = (size_t)((const unsigned char *)block - pool->base);

    return offset % pool->options.unit ? SIZE_MAX : offset / pool->options.unit;
}

/* The row of a held block, which is its holder's until it is given back; NULL: there is none. */
static struct okosu_unit *held(const struct okosu_zero_pool *pool, const void *block)
{
    size_t index = index_of(pool, block);

    if (index >= pool->units.count || !pool->units.unit[index].run)
        return NULL;
    return &pool->units.unit[index];
}

/* A block counts as given back, and may be anybody's, from the moment it is in the list. */
static void put_back(struct okosu_zero_pool *pool, struct okosu_unit *unit, size_t pages)
{
    uint32_t last = atomic_load(&pool->returned), index = (uint32_t)(unit - pool->units.unit);

    unit->back = unit->run;
    unit->back_dirty = (uint32_t)(pages < UINT32_MAX ? pages : UINT32_MAX);
    unit->run = 0;
    do
        unit->next = last;
    while (!atomic_compare_exchange_weak(&pool->returned, &last, index + 1));
    atomic_fetch_add_explicit(&pool->gives, 1, memory_order_relaxed);
    okosu_pool_wake(pool);
}

int okosu_zero_pool_give(struct okosu_zero_pool *pool, void *block, size_t dirty)
{
    struct okosu_unit *unit = held(pool, block);

    if (!unit)
        return -EINVAL;
    if (!is_mine(pool))
        return okosu_backing_drop(block, unit->run * pool->options.unit);
    put_back(pool, unit, dirty / OKOSU_POOL_PAGE + (dirty % OKOSU_POOL_PAGE != 0));
    return 0;
}

int okosu_zero_pool_renew(struct okosu_zero_pool *pool, void *block)
{
    struct okosu_unit *unit = held(pool, block);
    size_t bytes;
    int rc;

    if (!unit)
        return -EINVAL;
    bytes = unit->run * pool->options.unit;
    rc = okosu_backing_renew(block, bytes, pool->hugetlb, pool->options.node);
    /* The pages are not there any more, and that is as good as dirty: clearing brings them. */
    if (!rc && is_mine(pool))
        put_back(pool, unit, SIZE_MAX);
    return rc;
}

void okosu_zero_pool_want(struct okosu_zero_pool *pool, size_t bytes)
{
    size_t unit = pool->options.unit, cap = pool->options.cap;

    if (!is_mine(pool))
        return;
    bytes = bytes < cap ? (bytes + unit - 1) & ~(unit - 1) : cap;
    pthread_mutex_lock(&pool->lock);
    pool->options.low = pool->options.high = bytes;
    if (pool->options.keep && pool->options.keep < pool->options.high)
        pool->options.keep = pool->options.high;
    pthread_mutex_unlock(&pool->lock);
    okosu_pool_wake(pool);
}

size_t okosu_zero_pool_size(struct okosu_zero_pool *pool, const void *block)
{
    const struct okosu_unit *unit = held(pool, block);

    return unit ? unit->run * pool->options.unit : 0;
}

size_t okosu_zero_pool_work(struct okosu_zero_pool *pool, size_t bytes)
{
    size_t done = 0, cleaned;
    bool did = is_mine(pool);

    if (!did)
        return 0;
    pthread_mutex_lock(&pool->lock);
    while (did && done < bytes) {
        okosu_pool_take_in(pool);
        cleaned = okosu_pool_step(pool, &did);
        done += cleaned;
    }
    pthread_mutex_unlock(&pool->lock);
    return done;
}

void okosu_zero_pool_stats(struct okosu_zero_pool *pool, struct okosu_zero_pool_stats *stats)
{
    size_t unit = pool->options.unit;
    bool mine = is_mine(pool);
    const size_t *in = pool->units.in;

    if (mine) {
        pthread_mutex_lock(&pool->lock);
        okosu_pool_take_in(pool);
    }
    *stats = (struct okosu_zero_pool_stats){
        .cap = pool->options.cap,
        .unit = unit,
        .clean = in[OKOSU_UNIT_CLEAN] * unit,
        .held = in[OKOSU_UNIT_HELD] * unit,
        .dirty = in[OKOSU_UNIT_DIRTY] * unit,
        .zeroing = in[OKOSU_UNIT_ZEROING] * unit,
        .absent = in[OKOSU_UNIT_ABSENT] * unit,
        .takes = pool->takes + pool->misses,
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
