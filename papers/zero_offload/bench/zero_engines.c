/* SPDX-License-Identifier: Apache-2.0 */
/* zero_engines: what it costs to have a block cleared by each engine, of the pool and of the
 * daemon: the requesting core's part, the time until the block is clean, and the processor time of
 * all who had a part in it.
 *
 * Every block is full of 0xa5 before, and scanned by the requesting thread when it is said to be
 * clean; an engine that left a byte is not measured but said to be wrong. */
#include "zero_engines_bench.h"

#include "base/message.h"

#include <okosu/clock.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MIB ((size_t)1 << 20)
#define GIB ((double)(1 << 30))
#define GIVE_UP_NS UINT64_C(60000000000)

/* Blocks of a round, of which the median is the round's sample; a large one is cleared once. */
#define MANY_MOST (64 * MIB)

enum { MANY = 15 };

static const struct bench_routine routines[] = {
    {"post", 0, 0, "block", "asking for a block to be cleared, on the requesting core"},
    {"complete", 1, 0, "byte", "from there until the block is clean, a worker's waking included"},
    {"clear", 1, 0, "byte", "the clearing alone, in the requesting thread"},
    {"processor", 1, 0, "byte", "processor time of all from asking to clean, but of the waiting"},
    {NULL, 0, 0, NULL, NULL},
};

/* The ticks that reading the clock twice takes. */
static uint64_t clock_ticks;

static double thread_ns(int who)
{
    struct rusage use;

    getrusage(who, &use);
    return ((double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec) * 1e9 +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) * 1e3;
}

double engines_others_ns(void)
{
    double all = thread_ns(RUSAGE_SELF);

    return all - thread_ns(RUSAGE_THREAD);
}

double engines_others_since(double before)
{
    double spent = engines_others_ns() - before;

    return spent > 0 ? spent : 0;
}

double engines_cycles(const struct bench *bench, uint64_t ticks)
{
    return (double)(ticks > clock_ticks ? ticks - clock_ticks : 0) * bench_cycles_per_tick(bench);
}

bool engines_over(const struct bench *bench, uint64_t ticks)
{
    return (double)ticks * bench_ns_per_tick(bench) > (double)GIVE_UP_NS;
}

void engines_look(struct engines_line *line, const void *block, size_t bytes)
{
    const uint64_t *word = block;
    uint64_t any = 0;

    for (size_t i = 0; i < bytes / sizeof(*word); i++)
        any |= word[i];
    if (any)
        snprintf(line->wrong, sizeof(line->wrong), "a byte of %zu was left", bytes);
    line->scanned++;
}

static void print_line(struct bench *bench, const struct engines_line *line, size_t bytes)
{
    char extra[64];
    struct bench_point point = {.n = bytes, .footprint = bytes, .place = "memory", .mode = "cold"};
    struct bench_row row = {.variant = line->name,
                            .kind = "okosu",
                            .config = *line->device ? line->device : line->doc,
                            .extra = extra};

    snprintf(extra, sizeof(extra), "\"scanned\": %zu", line->scanned);
    for (int what = 0; what < ENGINES_WHATS; what++) {
        row.routine = routines[what].name;
        point.unit = what == ENGINES_POST ? "cycles" : "ns";
        point.items = what == ENGINES_POST ? 1 : bytes;
        if (bench_wants_routine(bench, row.routine) && (what != ENGINES_CLEAR || line->alone))
            bench_values(bench, &point, &row, line->samples[what], line->rounds);
    }
}

/* The processor time of all threads: clearing ahead moves this cost to another CPU, but does not
 * remove it. */
static void print_seconds(struct bench *bench, const struct engines_line *lines, size_t count,
                          size_t bytes)
{
    char text[400];
    size_t length = 0;

    for (size_t i = 0; i < count && length < sizeof(text); i++) {
        double sum = 0;

        for (size_t k = 0; k < lines[i].rounds; k++)
            sum += lines[i].samples[ENGINES_PROCESSOR][k];
        if (lines[i].rounds && !*lines[i].wrong)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s %.4f",
                                       length ? ", " : "", lines[i].name,
                                       sum / (double)lines[i].rounds / (double)bytes * GIB / 1e9);
    }
    if (length)
        bench_note(bench, "processor seconds for a GiB, in blocks of %zu MiB: %s", bytes / MIB,
                   text);
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

static void measure_once(struct bench *bench, struct engines_line *line, size_t bytes)
{
    size_t many = bytes <= MANY_MOST && !bench_smoke(bench) ? MANY : 1;
    struct engines_trip trips[MANY];
    double of[MANY];
    int error = line->measure(bench, line, bytes, trips, many);

    if (error && !*line->wrong)
        snprintf(line->wrong, sizeof(line->wrong), "%s", strerror(-error));
    for (int what = 0; what < ENGINES_WHATS && !error; what++) {
        for (size_t i = 0; i < many; i++)
            of[i] = trips[i].value[what];
        qsort(of, many, sizeof(of[0]), compare);
        line->samples[what][line->rounds] = of[many / 2];
    }
    line->rounds += !error;
}

static int measure(struct bench *bench, struct engines_line *lines, size_t count, size_t bytes)
{
    size_t order[ENGINES_MOST], rounds = bench_rounds(bench);
    double *room = calloc(count * ENGINES_WHATS * rounds + 1, sizeof(*room)), *next = room;

    if (!room)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        lines[i].rounds = lines[i].scanned = 0;
        *lines[i].wrong = '\0';
        for (int what = 0; what < ENGINES_WHATS; what++, next += rounds)
            lines[i].samples[what] = next;
    }
    for (size_t round = 0; round < rounds; round++) {
        shuffle(bench, order, count);
        for (size_t i = 0; i < count; i++)
            if (!*lines[order[i]].wrong)
                measure_once(bench, &lines[order[i]], bytes);
    }
    for (size_t i = 0; i < count; i++) {
        if (*lines[i].wrong)
            bench_absent(bench, lines[i].name, lines[i].wrong, NULL);
        else
            print_line(bench, &lines[i], bytes);
    }
    if (bench_wants_routine(bench, routines[ENGINES_PROCESSOR].name))
        print_seconds(bench, lines, count, bytes);
    free(room);
    return 0;
}

static int sweep(struct bench *bench)
{
    const size_t usual[] = {2 * MIB, 1024 * MIB};
    struct engines_line lines[ENGINES_MOST];
    struct okosu_clock clock;
    size_t count = 0, sizes_count;
    const size_t *sizes = bench_sizes(bench, usual, bench_smoke(bench) ? 1 : 2, 0, &sizes_count);
    int error = okosu_clock_read(&clock);

    clock_ticks = error ? 0 : clock.overhead_ticks;
    engines_of_pool(bench, lines, &count);
    engines_of_daemon(bench, lines, &count);
    for (size_t i = 0; i < sizes_count && !error; i++) {
        size_t bytes = sizes[i];

        if (bytes < 2 * MIB || bytes & (bytes - 1))
            bench_note(bench, "%zu bytes: a block is a power of two, 2 MiB at least", bytes);
        else
            error = measure(bench, lines, count, bytes);
    }
    if (error)
        okosu_message("engines not measured", strerror(-error), NULL);
    return error;
}

static void list(struct bench *bench)
{
    engines_list_pool(bench);
    engines_list_daemon(bench);
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "zero-engines",
        .doc = "what clearing a block ahead costs, by engine",
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
