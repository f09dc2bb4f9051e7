/* SPDX-License-Identifier: Apache-2.0 */
/* Harness: one pinned thread, one clock, one stream of random numbers, one output. */
#include "harness_internal.h"

#include "base/message.h"
#include "base/now.h"

#include <okosu/clock.h>
#include <okosu/cpulist.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* A median of this many is not moved by the few that an interrupt hits. */
#define OVERHEAD_TRIES 101
/* A chain is about 4 us. */
#define SETTLE_CHAINS 50000
#define SMOKE_SETTLE_CHAINS 2000

static uint64_t clock_start(void)
{
    return okosu_clock_start();
}

static uint64_t clock_stop(void)
{
    return okosu_clock_stop();
}

/* The harness never sleeps, so what is not the thread's own time was another's. */
static int64_t away(void)
{
    return (int64_t)(okosu_now() - okosu_now_of(CLOCK_THREAD_CPUTIME_ID));
}

bool bench_wants_routine(const struct bench *bench, const char *routine)
{
    const struct bench_names *only = &bench->options.only;

    for (size_t i = 0; i < only->count; i++)
        if (strcmp(only->names[i], routine) == 0)
            return true;
    return only->count == 0;
}

bool bench_wants_variant(const struct bench *bench, const char *variant)
{
    const struct bench_names *names = &bench->options.variant;

    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], variant) == 0)
            return true;
    return names->count == 0;
}

bool bench_wants_point(struct bench *bench, const struct bench_point *point, const char *routine)
{
    const struct bench_names *points = &bench->options.points;
    char text[200];

    snprintf(text, sizeof(text), "%s/%zu/%s/%zu/%zu", routine, point->n, point->mode,
             point->align[0], point->align[1]);
    for (size_t i = 0; i < points->count; i++)
        if (strcmp(points->names[i], text) == 0) {
            bench->met[i] = true;
            return true;
        }
    return points->count == 0;
}

bool bench_smoke(const struct bench *bench)
{
    return bench->options.smoke;
}

unsigned bench_rounds(const struct bench *bench)
{
    return bench->options.rounds;
}

const char *const *bench_peers(const struct bench *bench)
{
    return bench->options.peers;
}

const struct okosu_caches *bench_caches(const struct bench *bench)
{
    return &bench->caches;
}

double bench_ns_per_tick(const struct bench *bench)
{
    return 1e9 / bench->clock.tick_hz;
}

double bench_cycles_per_tick(const struct bench *bench)
{
    return bench->cycles_per_tick;
}

const char *bench_place(const struct bench *bench, size_t footprint)
{
    if (footprint <= bench->caches.l1d)
        return "L1";
    if (footprint <= bench->caches.l2)
        return "L2";
    return footprint <= bench->caches.l3 ? "L3" : "memory";
}

const size_t *bench_sizes(struct bench *bench, const size_t *all, size_t all_count, size_t few,
                          size_t *count)
{
    const struct bench_options *options = &bench->options;

    if (options->size_count > 0) {
        *count = options->size_count;
        return options->sizes;
    }
    *count = all_count;
    if (!options->smoke || few == 0 || few >= all_count)
        return all;
    free(bench->sizes);
    bench->sizes = calloc(few, sizeof(*bench->sizes));
    if (bench->sizes == NULL)
        return all;
    for (size_t i = 0; i < few; i++)
        bench->sizes[i] = all[few == 1 ? 0 : i * (all_count - 1) / (few - 1)];
    *count = few;
    return bench->sizes;
}

__extension__ typedef unsigned __int128 wide;

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014). */
uint64_t bench_random(struct bench *bench, uint64_t limit)
{
    uint64_t z = bench->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (uint64_t)((wide)z * limit >> 64);
}

void bench_shuffle(struct bench *bench, uint32_t *order, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)bench_random(bench, i);
        uint32_t other = order[i - 1];

        order[i - 1] = order[k];
        order[k] = other;
    }
}

void bench_progress(struct bench *bench, const char *text)
{
    if (bench->progress)
        fprintf(stderr, "\r\033[K%s%s", text, *text ? "…" : "");
}

/*
 * Vector loads of one line in the first-level cache, and as many instructions that need nothing
 * but their place in the stream: what a second thread on the core takes is those places and the
 * slots of loads. Of a Zen 3 without one, eight of ten samples had 1.88 to 1.91 a cycle, beside
 * one 1.0 to 1.7. (With additions instead, and loads of four lines, the pickers of Zen 3 settle
 * on one of three rates between 1.4 and 1.8 loads a cycle for a reading, and a neighbour leaves
 * 1.25.)
 */
#if defined(__x86_64__)
#define LOAD "movaps (%0), %%xmm15\n\tnop\n\t"
#define CHANGED "xmm15"
#elif defined(__aarch64__)
#define LOAD "ldr q31, [%0]\n\tnop\n\t"
#define CHANGED "v31"
#endif
#define LOADS_A_ROUND 16

uint64_t bench_width_ticks(void)
{
    static const char line[64] __attribute__((aligned(64)));
    uint64_t begun = okosu_clock_start();

    for (size_t i = 0; i < BENCH_WIDTH_LOADS / LOADS_A_ROUND; i++)
        __asm__ volatile(
            LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD LOAD
            :
            : "r"(line)
            : CHANGED);
    return okosu_clock_stop() - begun;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void nothing(void *arg, size_t calls)
{
    bench_keep_memory(arg);
}

/* Measures the ticks of a batch of no calls as those of other batches are measured. */
static uint64_t overhead(const struct bench_clock *clock)
{
    uint64_t ticks[OVERHEAD_TRIES];
    void (*volatile run)(void *, size_t) = nothing;

    for (size_t i = 0; i < OVERHEAD_TRIES; i++) {
        uint64_t begun = clock->start();

        run(NULL, 0);
        ticks[i] = clock->stop() - begun;
    }
    qsort(ticks, OVERHEAD_TRIES, sizeof(ticks[0]), ascending);
    return ticks[OVERHEAD_TRIES / 2];
}

/*
 * A CPU that was idle needs a while to reach full speed: its frequency rises, and in a guest the
 * host may move it to another core.
 */
static void settle(const struct bench *bench)
{
    for (size_t i = 0; i < (bench->options.smoke ? SMOKE_SETTLE_CHAINS : SETTLE_CHAINS); i++) {
        bench->clock.chain();
        if (bench->clock.width)
            bench->clock.width();
    }
}

static double measure_cycles_per_tick(const struct bench_clock *clock)
{
    uint64_t ticks[OVERHEAD_TRIES];

    for (size_t i = 0; i < OVERHEAD_TRIES; i++)
        ticks[i] = clock->chain();
    qsort(ticks, OVERHEAD_TRIES, sizeof(ticks[0]), ascending);
    return clock->chain_cycles / (double)ticks[OVERHEAD_TRIES / 2];
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_width(const struct bench_clock *clock, uint64_t chain)
{
    uint64_t ticks = clock->width();

    return ticks > 0 ? clock->width_loads * (double)chain / ((double)ticks * clock->chain_cycles)
                     : 0;
}

/* The upper quartile is taken because another thread on the core can only lower the value. */
static double measure_width(const struct bench_clock *clock)
{
    double found[OVERHEAD_TRIES];

    for (size_t i = 0; i < OVERHEAD_TRIES; i++)
        found[i] = bench_width(clock, clock->chain());
    qsort(found, OVERHEAD_TRIES, sizeof(found[0]), rising);
    return found[OVERHEAD_TRIES * 3 / 4];
}

/* Whether `okosu bench`, which has said its process, still waits for the rows; the kernel kills
 * this process as soon as that one has ended. */
static bool is_awaited(void)
{
    const char *parent = getenv("OKOSU_BENCH_PARENT");

    return !parent || (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == atol(parent));
}

int bench_start(struct bench *bench)
{
    int error = is_awaited() ? bench_pin(bench) : -ESRCH;

    if (error < 0)
        return error;
    bench->random = bench->options.seed;
    bench->patience = bench->options.points.count ? BENCH_POINTS_PATIENCE_US : BENCH_PATIENCE_US;
    bench->out = stdout;
    bench->progress = isatty(STDERR_FILENO);
    bench->caches = okosu_caches_read((unsigned)bench->cpu);
    settle(bench);
    bench->cycles_per_tick = measure_cycles_per_tick(&bench->clock);
    bench->overhead = overhead(&bench->clock);
    if (bench->clock.width) {
        bench->width = measure_width(&bench->clock);
        if (bench->options.core_loads / 100.0 > bench->width)
            bench->width = bench->options.core_loads / 100.0;
    }
    return 0;
}

void bench_end(struct bench *bench)
{
    for (size_t i = 0; i < bench->absent_count; i++)
        free(bench->absent[i]);
    free(bench->sizes);
    bench_buffers_free(bench);
    bench_options_drop(&bench->options);
}

static int use_clock(struct bench_clock *clock)
{
    struct okosu_clock about;
    int error = okosu_clock_read(&about);

    if (error < 0)
        return okosu_complain(error, strerror(-error), NULL, "the clock can't be used");
    *clock = (struct bench_clock){.start = clock_start,
                                  .stop = clock_stop,
                                  .chain = okosu_clock_chain,
                                  .chain_cycles = OKOSU_CLOCK_CHAIN,
                                  .width = bench_width_ticks,
                                  .width_loads = BENCH_WIDTH_LOADS,
                                  .away = away,
                                  .tick_hz = about.tick_hz};
    return 0;
}

/* A mistyped point would otherwise leave a silent hole in a table. */
static void note_points_not_met(struct bench *bench)
{
    for (size_t i = 0; i < bench->options.points.count; i++)
        if (!bench->met[i])
            bench_note(bench, "--points: there is no %s", bench->options.points.names[i]);
}

/* Writing to stdout may have failed: the disk is full, or the reader has gone. */
static int finish(struct bench *bench, int error)
{
    bench_progress(bench, "");
    if (fflush(bench->out) != 0 || ferror(bench->out))
        return okosu_complain(-EIO, strerror(errno), NULL, "the results could not be written");
    if (error == 0 && bench->rows == 0 && !bench->options.list)
        return okosu_complain(-EINVAL, "no row is left by --only, --variant, --sizes and --points",
                              "--list names the routines and variants", "nothing was measured");
    return error;
}

int bench_run(struct bench *bench, int argc, char **argv)
{
    const struct bench_program *program = bench->program;
    int error;

    bench->out = stdout;
    error = bench_options_read(&bench->options, argc, argv, program);
    if (error < 0)
        return error == -EINVAL ? 2 : 1;
    if (bench->options.help) {
        bench_options_help(stdout, program);
        error = fflush(stdout);
        bench_options_drop(&bench->options);
        return error == 0 ? 0 : 1;
    }
    if (bench->options.list) {
        bench_routines_print(bench);
        if (program->list)
            program->list(bench);
        error = finish(bench, 0);
    } else {
        error = bench->clock.start ? 0 : use_clock(&bench->clock);
        if (error == 0)
            error = bench_start(bench);
        if (error == 0) {
            bench_header_print(bench);
            error = program->sweep(bench);
            note_points_not_met(bench);
            error = finish(bench, error);
        }
    }
    bench_end(bench);
    return error < 0 ? 1 : 0;
}

int bench_main(int argc, char **argv, const struct bench_program *program)
{
    static struct bench bench;

    bench.program = program;
    return bench_run(&bench, argc, argv);
}
