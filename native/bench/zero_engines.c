/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zero_engines: what it costs to have a block cleared by each engine of the pool: the requesting
 * core's part, the time until the block is clean, and the processor time of whoever cleared it.
 *
 * Every block is full of 0xa5 when it is given back, and scanned by the requesting thread when the
 * pool hands it out again; an engine that left a byte is not measured but said to be wrong.
 */
#include "harness.h"

#include "base/message.h"

#include <okosu/clock.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)
#define GIVE_UP_NS UINT64_C(60000000000)

/* Blocks of a round, of which the median is the round's sample; a large one is cleared once. */
#define MANY_MOST (64 * MIB)

enum { ENGINES = 8, MANY = 15 };

static const struct bench_kernel kernels[] = {
    {"post", 0, 0, "block", "giving a block back to be cleared, on the requesting core"},
    {"complete", 1, 0, "byte", "from there until the block is clean, the worker's waking included"},
    {"clear", 1, 0, "byte", "the clearing alone, in the requesting thread"},
    {"processor", 1, 0, "byte", "processor time of the worker from giving to clean"},
    {NULL, 0, 0, NULL, NULL},
};

enum what { POST, COMPLETE, CLEAR, PROCESSOR, WHATS };

struct line {
    const struct okosu_zero_engine *engine;
    double *samples[WHATS]; /* cycles for POST, else ns; one a round */
    size_t count, blocks;
    const char *wrong;
};

static double thread_ns(int who)
{
    struct rusage use;

    getrusage(who, &use);
    return ((double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec) * 1e9 +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) * 1e3;
}

/* Of all threads but the calling one: getrusage() counts those, too, that have ended. */
static double others_ns(void)
{
    double all = thread_ns(RUSAGE_SELF);

    return all - thread_ns(RUSAGE_THREAD);
}

static bool is_zero(const void *at, size_t bytes)
{
    const uint64_t *word = at;
    uint64_t any = 0;

    for (size_t i = 0; i < bytes / sizeof(*word); i++)
        any |= word[i];
    return !any;
}

/* The block once more, when it is clean: ticks since `begun`, 0 where it never came. */
static uint64_t wait_clean(struct bench *bench, struct okosu_zero_pool *pool, size_t bytes,
                           uint64_t begun, void **block)
{
    uint64_t now = begun;

    do {
        *block = okosu_zero_pool_take(pool, bytes);
        now = okosu_clock_stop();
        sched_yield();
    } while (!*block && (double)(now - begun) * bench_ns_per_tick(bench) < (double)GIVE_UP_NS);
    return *block ? now - begun : 0;
}

/* What reading the clock twice costs by itself. */
static uint64_t clock_ticks;

/* One block there and back. 0 or -errno. */
static int round_trip(struct bench *bench, struct line *line, struct okosu_zero_pool *pool,
                      size_t bytes, double sample[WHATS])
{
    double before, ns = bench_ns_per_tick(bench);
    uint64_t begun, posted, done;
    void *block;

    begun = okosu_clock_start();
    if (!wait_clean(bench, pool, bytes, begun, &block))
        return -ETIMEDOUT;
    memset(block, 0xa5, bytes);
    before = others_ns();
    begun = okosu_clock_start();
    okosu_zero_pool_give(pool, block, bytes);
    posted = okosu_clock_stop() - begun;
    done = wait_clean(bench, pool, bytes, begun, &block);
    if (!done)
        return -ETIMEDOUT;
    sample[PROCESSOR] = others_ns() - before;
    sample[POST] =
        (double)(posted > clock_ticks ? posted - clock_ticks : 0) * bench_cycles_per_tick(bench);
    sample[COMPLETE] = (double)done * ns;
    if (!is_zero(block, bytes))
        line->wrong = "a block was not clean when the pool handed it out";
    memset(block, 0xa5, bytes);
    begun = okosu_clock_start();
    line->engine->clear(block, bytes);
    sample[CLEAR] = (double)(okosu_clock_stop() - begun) * ns;
    if (!is_zero(block, bytes))
        line->wrong = "a byte was left";
    line->blocks += 2;
    return okosu_zero_pool_give(pool, block, 0);
}

/* Its worker runs elsewhere, where there is another CPU. */
static int open_pool(struct okosu_zero_pool **pool, const struct okosu_zero_engine *engine,
                     size_t bytes)
{
    struct okosu_zero_pool_options options = {.cap = bytes,
                                              .unit = bytes,
                                              .low = bytes,
                                              .high = bytes,
                                              .engine = engine->name,
                                              .backing = OKOSU_POOL_THP};

    bool elsewhere = bench_elsewhere(true);
    int error = okosu_zero_pool_open(pool, &options);

    if (elsewhere)
        bench_elsewhere(false);
    return error;
}

static void print_line(struct bench *bench, const struct line *line, size_t bytes)
{
    char extra[64];
    struct bench_point point = {.n = bytes, .footprint = bytes, .place = "memory", .mode = "cold"};
    struct bench_row row = {.variant = line->engine->name,
                            .kind = "okosu",
                            .config = line->engine->doc,
                            .extra = extra};

    snprintf(extra, sizeof(extra), "\"scanned\": %zu", line->blocks);
    for (int what = 0; what < WHATS; what++) {
        row.kernel = kernels[what].name;
        point.unit = what == POST ? "cycles" : "ns";
        point.items = what == POST ? 1 : bytes;
        if (bench_wants_kernel(bench, row.kernel))
            bench_values(bench, &point, &row, line->samples[what], line->count);
    }
}

static void shuffle(struct bench *bench, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)bench_random(bench, i), other = order[i - 1];

        order[i - 1] = order[k];
        order[k] = other;
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static int measure_once(struct bench *bench, struct line *line, size_t bytes)
{
    size_t many = bytes <= MANY_MOST && !bench_smoke(bench) ? MANY : 1;
    double trips[MANY][WHATS], of[MANY];
    struct okosu_zero_pool *pool;
    int error = open_pool(&pool, line->engine, bytes);

    if (error)
        return error;
    for (size_t i = 0; i < many && !error; i++)
        error = round_trip(bench, line, pool, bytes, trips[i]);
    okosu_zero_pool_close(pool);
    for (int what = 0; what < WHATS && !error; what++) {
        for (size_t i = 0; i < many; i++)
            of[i] = trips[i][what];
        qsort(of, many, sizeof(of[0]), compare);
        line->samples[what][line->count] = of[many / 2];
    }
    line->count += !error;
    return error;
}

static int measure(struct bench *bench, size_t bytes)
{
    static struct line lines[ENGINES];
    size_t order[ENGINES], count = 0, rounds = bench_rounds(bench);
    double *room = calloc(ENGINES * WHATS * rounds, sizeof(*room)), *next = room;
    int error = room ? 0 : -ENOMEM;

    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e && room; e++) {
        if (!bench_wants_variant(bench, (*e)->name))
            continue;
        if (!(*e)->possible()) {
            bench_absent(bench, (*e)->name, "this machine lacks what it needs", "another engine");
            continue;
        }
        lines[count] = (struct line){.engine = *e};
        for (int what = 0; what < WHATS; what++, next += rounds)
            lines[count].samples[what] = next;
        count++;
    }
    for (size_t round = 0; round < rounds && !error; round++) {
        shuffle(bench, order, count);
        for (size_t i = 0; i < count && !error; i++)
            error = measure_once(bench, &lines[order[i]], bytes);
    }
    for (size_t i = 0; i < count && !error; i++) {
        if (lines[i].wrong)
            bench_absent(bench, lines[i].engine->name, lines[i].wrong, "report this as a bug");
        else
            print_line(bench, &lines[i], bytes);
    }
    free(room);
    return error;
}

static int sweep(struct bench *bench)
{
    const size_t usual[] = {2 * MIB, 1024 * MIB};
    struct okosu_clock clock;
    size_t count;
    const size_t *sizes = bench_sizes(bench, usual, bench_smoke(bench) ? 1 : 2, 0, &count);
    int error = okosu_clock_read(&clock);

    clock_ticks = error ? 0 : clock.overhead_ticks;
    for (size_t i = 0; i < count && !error; i++) {
        size_t bytes = sizes[i];

        if (bytes < 2 * MIB || bytes & (bytes - 1))
            bench_note(bench, "%zu bytes: a block is a power of two, 2 MiB at least", bytes);
        else
            error = measure(bench, bytes);
    }
    if (error)
        okosu_message("engines not measured", strerror(-error),
                      error == -ENOMEM ? "a smaller block: --sizes BYTES" : NULL);
    return error;
}

static void list(struct bench *bench)
{
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++) {
        struct okosu_variant about = {(*e)->name, 0, (*e)->doc};

        bench_list_variant(bench, &about);
    }
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "zero-engines",
        .doc = "what clearing a block ahead costs, by engine",
        .kernels = kernels,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
