/* SPDX-License-Identifier: Apache-2.0 */
/* zero_engines_pool: engines that clear by a CPU: a block goes to the pool's worker and back. */
#include "zero_engines_bench.h"

#include <okosu/clock.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <sched.h>
#include <string.h>

/* Take the block again as soon as it is clean. Returns the ticks since `begun`, 0 if it was never
 * handed out. */
static uint64_t wait_clean(struct bench *bench, struct okosu_zero_pool *pool, size_t bytes,
                           uint64_t begun, void **block)
{
    uint64_t now = begun;

    do {
        *block = okosu_zero_pool_take(pool, bytes);
        now = okosu_clock_stop();
        sched_yield();
    } while (!*block && !engines_over(bench, now - begun));
    return *block ? now - begun : 0;
}

/* Give one block to the worker and take it back. 0 or -errno. */
static int round_trip(struct bench *bench, struct engines_line *line, struct okosu_zero_pool *pool,
                      size_t bytes, struct engines_trip *trip)
{
    const struct okosu_zero_engine *engine = line->engine;
    double before, ns = bench_ns_per_tick(bench);
    uint64_t begun, posted, done;
    void *block;

    begun = okosu_clock_start();
    if (!wait_clean(bench, pool, bytes, begun, &block))
        return -ETIMEDOUT;
    memset(block, 0xa5, bytes);
    before = engines_others_ns();
    begun = okosu_clock_start();
    okosu_zero_pool_give(pool, block, bytes);
    posted = okosu_clock_stop() - begun;
    done = wait_clean(bench, pool, bytes, begun, &block);
    if (!done)
        return -ETIMEDOUT;
    trip->value[ENGINES_PROCESSOR] = engines_others_since(before) + (double)posted * ns;
    trip->value[ENGINES_POST] = engines_cycles(bench, posted);
    trip->value[ENGINES_COMPLETE] = (double)done * ns;
    engines_look(line, block, bytes);
    memset(block, 0xa5, bytes);
    begun = okosu_clock_start();
    engine->clear(block, bytes);
    trip->value[ENGINES_CLEAR] = (double)(okosu_clock_stop() - begun) * ns;
    engines_look(line, block, bytes);
    return okosu_zero_pool_give(pool, block, 0);
}

/* Its worker runs elsewhere, where there is another CPU. */
static int open_pool(struct okosu_zero_pool **pool, const char *engine, size_t bytes)
{
    struct okosu_zero_pool_options options = {.cap = bytes,
                                              .unit = bytes,
                                              .low = bytes,
                                              .high = bytes,
                                              .engine = engine,
                                              .backing = OKOSU_POOL_THP};

    bool elsewhere = bench_elsewhere(true);
    int error = okosu_zero_pool_open(pool, &options);

    if (elsewhere)
        bench_elsewhere(false);
    return error;
}

static int measure(struct bench *bench, struct engines_line *line, size_t bytes,
                   struct engines_trip *trips, size_t count)
{
    struct okosu_zero_pool *pool;
    int error = open_pool(&pool, line->name, bytes);

    if (error)
        return error;
    for (size_t i = 0; i < count && !error; i++)
        error = round_trip(bench, line, pool, bytes, &trips[i]);
    okosu_zero_pool_close(pool);
    return error;
}

void engines_of_pool(struct bench *bench, struct engines_line *lines, size_t *count)
{
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++) {
        if (!bench_wants_variant(bench, (*e)->name))
            continue;
        if ((*e)->possible())
            lines[(*count)++] = (struct engines_line){.name = (*e)->name,
                                                      .doc = (*e)->doc,
                                                      .engine = *e,
                                                      .measure = measure,
                                                      .alone = true};
        else
            bench_absent(bench, (*e)->name, "this machine lacks what it needs", "another engine");
    }
}

void engines_list_pool(struct bench *bench)
{
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++) {
        struct okosu_variant about = {(*e)->name, 0, (*e)->doc};

        bench_list_variant(bench, &about);
    }
}
