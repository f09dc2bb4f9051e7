/* SPDX-License-Identifier: Apache-2.0 */
/* pool: open, take, give, close. */
#include "pool/pool.h"

#include "pool/backing.h"
#include "pool/broker.h"
#include "pool/engines.h"
#include "pool/supply.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* Whether this process made the pool. The shared word detects children of every kind of fork. */
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
    if (o->clean > o->high || (o->clean && !o->reuse))
        return -EINVAL;
    if (o->cap / o->unit > UINT32_MAX || o->backing > OKOSU_POOL_HUGETLB)
        return -EINVAL;
    return 0;
}

/* Whether to use huge pages of the kernel's pool: 1, 0 or -errno. */
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
    struct okosu_zero_pool *pool = aligned_alloc(_Alignof(struct okosu_zero_pool), sizeof(*pool));
    size_t count;
    int rc;

    if (!pool)
        return -ENOMEM;
    memset(pool, 0, sizeof(*pool));
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
    pool->shift = (uint8_t)__builtin_ctzl(pool->options.unit);
    atomic_store(&pool->low, pool->options.low);
    atomic_store(&pool->high, pool->options.high);
    atomic_store(&pool->keep, pool->options.keep);
    atomic_store(&pool->clean, pool->options.clean);
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
    /* The first fault of a mapping takes a lock that all mappings share, so a worker that may lose
     * its CPU must not cause it. */
    if (options->stand_back && !pool->hugetlb)
        okosu_backing_touch(pool->base, 1);
    rc = init_lock(pool);
    if (!rc && options->broker)
        rc = okosu_broker_open(&pool->broker, options->broker, pool->base, pool->options.unit,
                               count);
    /* A worker that stands back is started when there is something to do. */
    atomic_store(&pool->asleep, !options->no_worker && options->stand_back);
    if (!rc && !options->no_worker && !options->stand_back)
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
    if (pool->mine && is_mine(pool)) {
        if (pool->broker)
            okosu_broker_end(pool->broker);
        okosu_pool_end(pool);
    }
    if (pool->base)
        okosu_backing_unmap(pool->base, pool->options.cap);
    okosu_broker_close(pool->broker);
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

/* `found` NULL: take clean units only. */
static void *take(struct okosu_zero_pool *pool, size_t bytes, struct okosu_units_found *found)
{
    size_t unit = pool->options.unit, count = bytes / unit + (bytes % unit != 0), first;
    bool fresh = pool->options.fresh && !pool->hugetlb;

    if (!is_mine(pool) || !bytes)
        return NULL;
    first = found ? okosu_units_take_any(&pool->units, count, unit / OKOSU_POOL_PAGE, fresh, found)
                  : okosu_units_take(&pool->units, count);
    atomic_fetch_add_explicit(first < pool->units.count ? &pool->takes : &pool->misses, 1,
                              memory_order_relaxed);
    /* Fewer clean units may be left than the worker is to keep ready. */
    okosu_pool_wake(pool);
    return first == pool->units.count ? NULL : pool->base + first * unit;
}

void *okosu_zero_pool_take(struct okosu_zero_pool *pool, size_t bytes)
{
    return take(pool, bytes, NULL);
}

void *okosu_zero_pool_take_any(struct okosu_zero_pool *pool, size_t bytes,
                               struct okosu_zero_found *found)
{
    struct okosu_units_found in_units = {0};
    void *block = take(pool, bytes, &in_units);

    *found = (struct okosu_zero_found){.dirty = in_units.dirty * OKOSU_POOL_PAGE,
                                       .there = in_units.there * pool->options.unit};
    return block;
}

/* The index of the unit that begins at this address, or a number that no unit has. */
static size_t index_of(const struct okosu_zero_pool *pool, const void *block)
{
    size_t offset = (size_t)((const unsigned char *)block - pool->base);

    return offset & (((size_t)1 << pool->shift) - 1) ? SIZE_MAX : offset >> pool->shift;
}

/* The row of a held block, which belongs to its holder until it is given back; NULL: there is no
 * such block. */
static struct okosu_unit *held(const struct okosu_zero_pool *pool, const void *block)
{
    size_t index = index_of(pool, block);

    if (index >= pool->units.count || !pool->units.unit[index].run)
        return NULL;
    return &pool->units.unit[index];
}

void *okosu_pool_block(const struct okosu_zero_pool *pool, const void *at)
{
    size_t index = (size_t)((const unsigned char *)at - pool->base) >> pool->shift;
    size_t first = okosu_units_block(&pool->units, index);

    return first == pool->units.count ? NULL : pool->base + (first << pool->shift);
}

bool okosu_pool_seize(struct okosu_zero_pool *pool, const void *at)
{
    size_t index = (size_t)((const unsigned char *)at - pool->base) >> pool->shift;

    /* A child of fork has no worker. */
    return okosu_units_seize(&pool->units, index, !is_mine(pool));
}

bool okosu_pool_is_private(const struct okosu_zero_pool *pool, const void *at, size_t bytes)
{
    size_t first = (size_t)((const unsigned char *)at - pool->base);

    for (size_t i = first >> pool->shift; pool->broker && i << pool->shift < first + bytes; i++)
        if (okosu_broker_memory(pool->broker, i) != OKOSU_UNIT_OWN)
            return false;
    return true;
}

/* Unmap units that this thread holds. They stay HELD without being part of a block. */
static void let_go(struct okosu_zero_pool *pool, size_t index, size_t count)
{
    for (size_t i = index; i < index + count; i++) {
        pool->units.unit[i].run = 0;
        if (pool->broker && is_mine(pool))
            okosu_broker_leave(pool->broker, i);
    }
    if (count)
        okosu_backing_unmap(pool->base + (index << pool->shift), count << pool->shift);
}

static bool wait_and_seize(struct okosu_zero_pool *pool, size_t index)
{
    const struct timespec while_clearing = {.tv_nsec = 1000000};
    bool mine = is_mine(pool);

    /* A unit that the worker does not let go of in time stays mapped. */
    for (int i = 0; i < 1000; i++) {
        if (okosu_units_seize(&pool->units, index, !mine))
            return true;
        if (okosu_units_state(&pool->units, index) != OKOSU_UNIT_ZEROING)
            return false;
        syscall(SYS_nanosleep, &while_clearing, NULL); /* no cancellation point */
    }
    return false;
}

void okosu_pool_retire(struct okosu_zero_pool *pool)
{
    size_t first = 0, i;

    if (atomic_exchange(&pool->retired, true))
        return;
    okosu_zero_pool_want(pool, 0, 0);
    for (i = 0; i < pool->units.count; i++) {
        if (!wait_and_seize(pool, i)) {
            let_go(pool, first, i - first);
            first = i + 1;
        }
    }
    let_go(pool, first, i - first);
}

void okosu_pool_resume(struct okosu_zero_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = false;
    atomic_store(&pool->asleep, true);
    pthread_mutex_unlock(&pool->lock);
}

bool okosu_pool_is_mine(const struct okosu_zero_pool *pool)
{
    return is_mine(pool);
}

void okosu_pool_forget(struct okosu_zero_pool *pool)
{
    size_t top = atomic_load(&pool->units.top), run = 0;

    if (atomic_load(&pool->retired))
        return;
    for (size_t i = 0; i <= top; i++) {
        if (i < top && okosu_units_state(&pool->units, i) != OKOSU_UNIT_HELD) {
            run++;
            continue;
        }
        if (run)
            okosu_backing_drop(pool->base + ((i - run) << pool->shift), run << pool->shift);
        run = 0;
    }
}

static int gave(struct okosu_zero_pool *pool)
{
    atomic_fetch_add_explicit(&pool->gives, 1, memory_order_relaxed);
    okosu_pool_wake(pool);
    return 0;
}

int okosu_zero_pool_extend(struct okosu_zero_pool *pool, void *block, size_t bytes, size_t *dirty)
{
    size_t unit = (size_t)1 << pool->shift, count = bytes / unit + (bytes % unit != 0);
    bool fresh = pool->options.fresh && !pool->hugetlb;
    struct okosu_units_found found;

    *dirty = 0;
    if (!held(pool, block))
        return -EINVAL;
    if (!is_mine(pool) || !okosu_units_extend(&pool->units, index_of(pool, block), count,
                                              unit / OKOSU_POOL_PAGE, fresh, &found))
        return -EAGAIN;
    *dirty = found.dirty * OKOSU_POOL_PAGE;
    return 0;
}

int okosu_zero_pool_give(struct okosu_zero_pool *pool, void *block, size_t dirty)
{
    struct okosu_unit *unit = held(pool, block);
    size_t pages = dirty / OKOSU_POOL_PAGE + (dirty % OKOSU_POOL_PAGE != 0);

    if (!unit)
        return -EINVAL;
    if (atomic_load(&pool->retired)) {
        let_go(pool, index_of(pool, block), unit->run);
        return 0;
    }
    if (!is_mine(pool)) {
        int rc = okosu_backing_drop(block, unit->run * pool->options.unit);

        /* In a child the daemon's units are absent, which is no error. */
        return rc == -ENOMEM && pool->broker ? 0 : rc;
    }
    if (!okosu_units_give(&pool->units, index_of(pool, block), pages,
                          ((size_t)1 << pool->shift) / OKOSU_POOL_PAGE))
        return -EINVAL;
    return gave(pool);
}

int okosu_zero_pool_renew(struct okosu_zero_pool *pool, void *block)
{
    struct okosu_unit *unit = held(pool, block);
    int rc;

    if (!unit)
        return -EINVAL;
    if (atomic_load(&pool->retired)) {
        let_go(pool, index_of(pool, block), unit->run);
        return 0;
    }
    if (!is_mine(pool))
        return okosu_backing_renew(block, unit->run * pool->options.unit, pool->hugetlb,
                                   pool->options.node);
    rc = okosu_supply_renew(pool, index_of(pool, block), unit->run);
    if (rc)
        return rc;
    return okosu_units_leave(&pool->units, index_of(pool, block)) ? gave(pool) : -EINVAL;
}

static size_t whole_units(const struct okosu_zero_pool *pool, size_t bytes)
{
    size_t unit = pool->options.unit, cap = pool->options.cap;

    return bytes < cap ? (bytes + unit - 1) & ~(unit - 1) : cap;
}

/* The worker may see one value changed and the other not yet; it looks again. */
void okosu_zero_pool_want(struct okosu_zero_pool *pool, size_t ready, size_t clean)
{
    if (!is_mine(pool))
        return;
    ready = whole_units(pool, ready);
    if (atomic_load(&pool->keep) && atomic_load(&pool->keep) < ready)
        atomic_store(&pool->keep, ready);
    atomic_store(&pool->high, ready);
    atomic_store(&pool->low, ready);
    atomic_store(&pool->clean, whole_units(pool, clean));
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
    size_t in[OKOSU_UNIT_STATES];

    okosu_units_count(&pool->units, in);
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
        .takes = pool->takes + pool->misses,
        .misses = pool->misses,
        .gives = pool->gives,
        .cleared = pool->cleared,
        .populated = pool->populated,
        .dropped = pool->dropped,
        .failures = pool->failures,
        .waits = pool->waits,
        .brokered = okosu_broker_units(pool->broker) * unit,
        .hugetlb = pool->hugetlb,
        .engine = pool->engine->name,
    };
    if (mine)
        pthread_mutex_unlock(&pool->lock);
}
