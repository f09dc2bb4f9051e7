/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark harness on a clock of the test's own: bench_fake MODE [OPTION...]. Time goes on
 * only where a routine or a witness says so, so every sample is known beforehand.
 *
 *   steady    nothing disturbs; two rows of 50 and 80 ticks a call, in cycles (2 a tick) and in ns
 *   once      the first chain after a batch is 5 % longer: one repetition, nothing dropped
 *   always    the chain after every batch of row "b" is 5 % longer: all of it dropped
 *   halted    the same, 50 times as long
 *   below     the same by 0.9 %: nothing repeated
 *   crowded   something else has half of the core whenever "b" is timed
 *   returned  something else has half of the core when the program begins, and again whenever "b" is timed
 *   stays     the same as crowded, and each look at the core takes 3 s
 *   spike     a chain right before a width is interrupted once, so that the core seems 50 times as wide
 *   preempted another program runs in the middle of every second timing of "b"
 *   cold      batches of at most 3 calls, each prepared
 *   begun     prepared batches, each of which takes 30,000 ticks besides its calls
 *   twice, stray   a row that is there twice, a row whose routine is in no table */
#include "harness_internal.h"

#include <stdlib.h>
#include <string.h>

#define CHAIN 1000

static const char *mode;
static uint64_t now;
static bool in_b, batch_timed, disturbed;
static size_t prepared, batches, largest_batch;
static int64_t left;
static char order[4096];

static uint64_t start(void)
{
    return now += 7;
}

static uint64_t stop(void)
{
    static bool odd;

    batch_timed = true;
    if (strcmp(mode, "preempted") == 0 && in_b && (odd = !odd)) {
        left++;
        now += 1000000;
    }
    return now += 3;
}

static uint64_t chain(void)
{
    bool longer = false, halted;

    now += CHAIN;
    halted = batch_timed && in_b && strcmp(mode, "halted") == 0;
    if (batch_timed && strcmp(mode, "once") == 0 && in_b)
        longer = !disturbed, disturbed = true;
    else if (batch_timed && in_b)
        longer = strcmp(mode, "always") == 0;
    if (batch_timed && in_b && strcmp(mode, "below") == 0)
        return CHAIN + 9;
    batch_timed = false;
    if (halted)
        return (uint64_t)50 * CHAIN;
    if (batches > 0 && strcmp(mode, "spike") == 0 && !disturbed) {
        disturbed = true;
        return (uint64_t)50 * CHAIN;
    }
    return longer ? CHAIN + CHAIN / 20 : CHAIN;
}

static uint64_t width(void)
{
    bool begins = batches == 0 && strcmp(mode, "returned") == 0;
    bool stays = strcmp(mode, "stays") == 0;
    bool crowded = stays || strcmp(mode, "crowded") == 0 || strcmp(mode, "returned") == 0;

    if (stays && batches > 0)
        now += 3000000000;
    return begins || (crowded && in_b) ? CHAIN / 2 : CHAIN / 4;
}

static int64_t away(void)
{
    return left * 1000000;
}

struct fake {
    char name;
    uint64_t ticks;
};

static void run(void *arg, size_t calls)
{
    const struct fake *fake = arg;

    in_b = fake->name == 'b';
    now += calls * fake->ticks + (strcmp(mode, "begun") == 0 ? 30000 : 0);
    batches++;
    if (calls > largest_batch)
        largest_batch = calls;
    if (strlen(order) < sizeof(order) - 1)
        order[strlen(order)] = fake->name;
}

static void prepare(void *arg)
{
    const struct fake *fake = arg;

    in_b = fake->name == 'b';
    prepared++;
}

static int sweep(struct bench *bench)
{
    static struct fake a = {'a', 50}, b = {'b', 80};
    struct bench_row rows[] = {
        {.routine = "sum", .variant = "a", .kind = "okosu", .run = run, .arg = &a},
        {.routine = "sum",
         .variant = "b",
         .kind = "peer",
         .library = "B \"1.0\"",
         .config = "x\ty",
         .run = run,
         .arg = &b,
         .extra = "\"k\": 1"},
        {.routine = "limit-load", .variant = "l", .kind = "limit", .run = run, .arg = &a},
    };
    struct bench_point point = {.n = 10, .footprint = 80, .align = {8, 16}, .mode = "throughput"};
    const double own[] = {1.5, 2.5};
    size_t count = 0, first;
    const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    const size_t *chosen = bench_sizes(bench, sizes, 9, 3, &count);
    int error;

    if (strcmp(mode, "cold") == 0 || strcmp(mode, "begun") == 0)
        for (size_t i = 0; i < 2; i++)
            rows[i].prepare = prepare, rows[i].calls_limit = *mode == 'c' ? 3 : 0;
    if (strcmp(mode, "twice") == 0)
        rows[1].variant = "a";
    if (strcmp(mode, "stray") == 0)
        rows[1].routine = "nothing";
    error = bench_point_run(bench, &point, rows, 3);
    if (error < 0)
        return error;
    bench_note(bench, "order %s", order);
    bench_note(bench, "prepared %zu of %zu, at most %zu", prepared, batches, largest_batch);
    bench_note(bench, "sizes %zu: %zu %zu %zu", count, chosen[0], chosen[count / 2],
               chosen[count - 1]);
    point.unit = "ns";
    first = batches;
    error = bench_point_run(bench, &point, rows, 2);
    bench_note(bench, "second point: %zu batches", batches - first);
    bench_absent(bench, "mkl", "not there", "make peers");
    bench_absent(bench, "mkl", "not there", "make peers");
    if (bench_wants_routine(bench, "sum") && bench_wants_variant(bench, "own")) {
        rows[0].variant = "own";
        bench_values(bench, &point, rows, own, 2);
    }
    return error;
}

int main(int argc, char **argv)
{
    static const struct bench_routine routines[] = {{"sum", 8, 1, "element", "a sum"},
                                                    {"limit-load", 8, 0, "element", "a limit"},
                                                    {NULL, 0, 0, NULL, NULL}};
    static const struct bench_program program = {
        .name = "fake", .doc = "A fake.", .routines = routines, .sweep = sweep};
    static struct bench bench = {.program = &program,
                                 .clock = {.start = start,
                                           .stop = stop,
                                           .chain = chain,
                                           .width = width,
                                           .width_loads = CHAIN,
                                           .away = away,
                                           .chain_cycles = 2 * CHAIN,
                                           .tick_hz = 1e9}};

    mode = argc > 1 ? argv[1] : "";
    return bench_run(&bench, argc > 1 ? argc - 1 : argc, argc > 1 ? argv + 1 : argv);
}
