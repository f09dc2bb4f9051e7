/* SPDX-License-Identifier: Apache-2.0 */
/* clock: what the cycle clock costs, how fine it is, what it runs at, and what the core does
 * meanwhile. */
#include "harness.h"
#include "multiply_chain.h"

#include "base/message.h"

#include <okosu/clock.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Rates are given for this many ticks, which makes them numbers that are easy to read. */
#define MILLION 1000000
#define PAUSE_NS 20000000

static const struct bench_routine routines[] = {
    {"read", 0, 0, "read", "reads of a clock, one after the other"},
    {"empty", 0, 0, "pair", "start, nothing, stop: what is subtracted from every measurement"},
    {"step", 0, 0, "step", "by what the counter advances"},
    {"tick", 0, 0, "tick", "time of a tick, so the counter's frequency, by source"},
    {"core", 0, 0, "tick", "core cycles in a tick, over time"},
    {"multiply", 0, 0, "operation",
     "an integer multiplication, by the chain of additions: a whole number"},
    {NULL, 0, 0, NULL, NULL},
};

/* ---- reads ---- */

static void read_start(void *arg, size_t calls)
{
    for (size_t i = 0; i < calls; i++)
        okosu_clock_start();
}

static void read_stop(void *arg, size_t calls)
{
    for (size_t i = 0; i < calls; i++)
        okosu_clock_stop();
}

#if defined(__x86_64__)
/* The macro of the paper's section 2: no fence, so that work before and after may run inside. */
static void read_paper(void *arg, size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        unsigned long long ticks;

        __asm__ volatile("rdtsc; shlq $32, %%rdx; orq %%rdx, %%rax" : "=a"(ticks)::"%rdx");
    }
}
#endif

static void read_kernel(void *arg, size_t calls)
{
    struct timespec now;

    for (size_t i = 0; i < calls; i++)
        clock_gettime(*(const clockid_t *)arg, &now);
    bench_keep_memory(&now);
}

static int reads(struct bench *bench)
{
    static clockid_t monotonic = CLOCK_MONOTONIC, raw = CLOCK_MONOTONIC_RAW;
    const struct bench_point point = {.n = 1, .place = "registers", .mode = "throughput"};
    const struct bench_row rows[] = {
        {.routine = "read", .variant = "start", .kind = "okosu", .run = read_start},
        {.routine = "read", .variant = "stop", .kind = "okosu", .run = read_stop},
        {.routine = "read",
         .variant = "monotonic",
         .kind = "peer",
         .library = "clock_gettime",
         .config = "CLOCK_MONOTONIC",
         .run = read_kernel,
         .arg = &monotonic},
        {.routine = "read",
         .variant = "monotonic-raw",
         .kind = "peer",
         .library = "clock_gettime",
         .config = "CLOCK_MONOTONIC_RAW",
         .run = read_kernel,
         .arg = &raw},
#if defined(__x86_64__)
        {.routine = "read",
         .variant = "rdtsc",
         .kind = "paper",
         .library = "section 2",
         .config = "no fence",
         .run = read_paper},
#endif
    };

    return bench_point_run(bench, &point, rows, sizeof(rows) / sizeof(rows[0]));
}

/* ---- values of the clock, one a round ---- */

/* A value, or a negative number where there is none this time. */
typedef double (*measure)(struct bench *bench);

static double empty(struct bench *bench)
{
    struct okosu_clock clock;

    return okosu_clock_read(&clock) ? -1
                                    : (double)clock.overhead_ticks * bench_cycles_per_tick(bench);
}

static double step(struct bench *bench)
{
    struct okosu_clock clock;

    return okosu_clock_read(&clock) ? -1
                                    : (double)clock.granularity_ticks * bench_ns_per_tick(bench);
}

static double ns_of(double hz)
{
    return hz > 0 ? MILLION * 1e9 / hz : -1;
}

static double calibrated(struct bench *bench)
{
    struct okosu_clock_sources sources;

    return okosu_clock_read_sources(&sources, bench_smoke(bench) ? 0.002 : 0.05)
               ? -1
               : ns_of(sources.calibrated_hz);
}

static double stated_cpuid(struct bench *bench)
{
    struct okosu_clock_sources sources;

    return okosu_clock_read_sources(&sources, 0.001) ? -1 : ns_of(sources.cpuid_hz);
}

static double stated_hypervisor(struct bench *bench)
{
    struct okosu_clock_sources sources;

    return okosu_clock_read_sources(&sources, 0.001) ? -1 : ns_of(sources.hypervisor_hz);
}

/* Rounds apart in time, since the core's frequency wanders slowly. */
static double core(struct bench *bench)
{
    if (!bench_smoke(bench))
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    okosu_clock_cycles_per_tick();
    return MILLION * okosu_clock_cycles_per_tick();
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Both chains have as many links, so their ratio is the latency. */
static double multiply(struct bench *bench)
{
    double ratios[15];

    bench_multiply_chain();
    for (int i = 0; i < 15; i++) {
        double before = (double)okosu_clock_chain(), ticks = (double)bench_multiply_chain();

        ratios[i] = 2 * ticks / (before + (double)okosu_clock_chain());
    }
    qsort(ratios, 15, sizeof(ratios[0]), ascending);
    return ratios[7];
}

struct value {
    const char *routine, *variant, *kind, *unit;
    size_t items;
    measure measure;
    const char *why; /* why the value may be absent */
};

static const struct value values[] = {
    {"empty", "start-stop", "okosu", "cycles", 1, empty, "the clock can't be read"},
    {"step", "counter", "okosu", "ns", 1, step, "the clock can't be read"},
    {"tick", "calibrated", "okosu", "ns", MILLION, calibrated, "the kernel's clock stands still"},
    {"tick", "cpuid", "okosu", "ns", MILLION, stated_cpuid, "the processor states no frequency"},
    {"tick", "hypervisor", "okosu", "ns", MILLION, stated_hypervisor,
     "no hypervisor states a frequency"},
    {"core", "chain", "okosu", "cycles", MILLION, core, ""},
    {"multiply", "chain", "okosu", "cycles", 1, multiply, ""},
};

static int run_value(struct bench *bench, const struct value *value, double *samples)
{
    const struct bench_point point = {
        .n = value->items, .place = "registers", .mode = "value", .unit = value->unit};
    const struct bench_row row = {
        .routine = value->routine, .variant = value->variant, .kind = value->kind};

    if (!bench_wants_routine(bench, value->routine) || !bench_wants_variant(bench, value->variant))
        return 0;
    for (unsigned round = 0; round < bench_rounds(bench); round++) {
        samples[round] = value->measure(bench);
        if (samples[round] < 0) {
            bench_absent(bench, value->variant, value->why, NULL);
            return 0;
        }
    }
    bench_values(bench, &point, &row, samples, bench_rounds(bench));
    return 0;
}

static void note_clock(struct bench *bench)
{
    struct okosu_clock_invariance found;
    struct okosu_clock clock;

    if (okosu_clock_read(&clock))
        return;
    okosu_clock_check(&found, bench_smoke(bench) ? 4 : 40);
    bench_note(bench,
               "counter: %.6f MHz (%s), %llu ticks a step, %llu ticks for an empty region; "
               "%sdeclared invariant, rate constant to %.1e over %u windows of 5 ms awake and "
               "asleep, %smonotone",
               clock.tick_hz / 1e6, clock.source, (unsigned long long)clock.granularity_ticks,
               (unsigned long long)clock.overhead_ticks, found.declared ? "" : "not ",
               found.deviation, found.windows, found.monotone ? "" : "not ");
}

static int sweep(struct bench *bench)
{
    double *samples = calloc(bench_rounds(bench), sizeof(*samples));
    int rc = samples ? reads(bench) : -1;

    if (!samples)
        okosu_message("out of memory", NULL, NULL);
    note_clock(bench);
    for (size_t i = 0; !rc && i < sizeof(values) / sizeof(values[0]); i++)
        rc = run_value(bench, &values[i], samples);
    free(samples);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "clock",
        .doc = "Cost, step and frequency of the cycle clock, and core cycles in a tick.",
        .routines = routines,
        .sweep = sweep,
    };

    return bench_main(argc, argv, &program);
}
