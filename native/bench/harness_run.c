/* SPDX-License-Identifier: Apache-2.0 */
/* Harness, run: calibrates, interleaves, and times batches between two readings of the core's
 * speed. */
#include "harness_internal.h"

#include "base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Long against the clock's own cost, short against a timer tick (1 to 4 ms). */
#define BATCH_US 100.0
#define SMOKE_BATCH_US 10.0
/* The clock's share of a batch is to stay below a thousandth. */
#define OVERHEAD_SHARE 1000

struct slot {
    const struct bench_row *row;
    size_t calls;
    double *samples;
    unsigned *rounds;
    double *loads;
    size_t count;
    unsigned dropped, shared;
};

static uint64_t time_batch(const struct bench *bench, const struct bench_row *row, size_t calls)
{
    uint64_t begun = bench->clock.start(), ticks;

    row->run(row->arg, calls);
    ticks = bench->clock.stop() - begun;
    return ticks > bench->overhead ? ticks - bench->overhead : 0;
}

static uint64_t time_prepared(const struct bench *bench, const struct bench_row *row, size_t calls)
{
    if (row->prepare)
        row->prepare(row->arg);
    return time_batch(bench, row, calls);
}

/*
 * Finds how many calls fill a batch. A cold first call, or one in which another program ran, must
 * not decide, so a timing counts only once a second one agrees with it within a half.
 */
static size_t calibrate(const struct bench *bench, const struct bench_row *row, double target)
{
    size_t most = row->calls_limit ? row->calls_limit : (size_t)1 << 30, calls = 1;

    if (row->prepare == NULL)
        row->run(row->arg, 1);
    for (;;) {
        uint64_t ticks = time_prepared(bench, row, calls);
        double wanted = ticks ? (double)calls * target / (double)ticks : (double)most;

        if ((double)ticks >= target / 2 || calls == most) {
            size_t enough = wanted < 1               ? 1
                            : wanted >= (double)most ? most
                                                     : (size_t)(wanted + 0.999);

            if (enough == most || (double)time_prepared(bench, row, enough) >= target / 2)
                return enough;
        }
        if (calls == most)
            return most;
        calls = calls > most / 2 ? most : calls * 2;
        /* A batch may be prepared for longer than it runs: half of what seems enough comes next. */
        if (row->prepare && wanted / 2 > (double)calls)
            calls = wanted / 2 < (double)most ? (size_t)(wanted / 2) : most;
    }
}

/* A prepared batch has costs of its own (its first lines and pages), which fewer calls share: 735 calls took 128
 * cycles each and 1,200 of the same function 105 (sets of 129 bytes in no cache, Granite Rapids). So the
 * prepared rows of a point make as many calls as the one that calibrated most. */
static void equal_calls(struct slot *slots, size_t count)
{
    size_t most = 0;

    for (size_t i = 0; i < count; i++)
        if (slots[i].row->prepare && slots[i].calls > most)
            most = slots[i].calls;
    for (size_t i = 0; i < count; i++) {
        size_t limit = slots[i].row->calls_limit;

        if (slots[i].row->prepare)
            slots[i].calls = limit && limit < most ? limit : most;
    }
}

static bool apart(uint64_t before, uint64_t after, double tolerance)
{
    uint64_t low = before < after ? before : after, high = before < after ? after : before;

    return (double)(high - low) > tolerance * (double)low;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

/* Loads that the core completes in a cycle now; 0 where that is not looked at. A reading during which the chain alone
 * was interrupted is too high, so that no single one counts for what a core of one's own does. */
static double look_at_width(struct bench *bench, uint64_t chain)
{
    double now, sure;

    if (bench->clock.width == NULL)
        return 0;
    now = bench_width(&bench->clock, chain);
    sure = lesser(now, lesser(bench->widths[0], bench->widths[1]));
    bench->widths[1] = bench->widths[0];
    bench->widths[0] = now;
    if (sure > bench->width)
        bench->width = sure;
    return now;
}

/* Whether something else had part of the core at a reading. */
static bool shared(const struct bench *bench, double loads)
{
    return loads < BENCH_WIDTH_SHARE * bench->width;
}

static int64_t away(const struct bench *bench)
{
    return bench->clock.away ? bench->clock.away() : 0;
}

static double tolerance(const struct bench *bench, uint64_t ticks)
{
    return (double)ticks * bench_ns_per_tick(bench) < BENCH_LONG_US * 1e3
               ? BENCH_CHAIN_TOLERANCE
               : BENCH_LONG_CHAIN_TOLERANCE;
}

/* Whether other programs had so much of the time that a batch of so many ticks is wrong. */
static bool robbed(const struct bench *bench, int64_t lost, uint64_t ticks)
{
    return (double)lost >
           BENCH_AWAY_NS + BENCH_AWAY_SHARE * (double)ticks * bench_ns_per_tick(bench);
}

/* Waits until the core's speed is steady and nothing shares the core, or the time is over. The time
 * is taken from the run's patience, so that a machine that is never calm does not hold up the
 * run. */
static void wait_calm(struct bench *bench)
{
    double a_us = bench->clock.tick_hz / 1e6;
    uint64_t begun = bench->clock.start(), waited = 0;
    uint64_t before = bench->clock.chain(), now;
    uint64_t most = (uint64_t)((bench->patience > 0 ? BENCH_WAIT_US : BENCH_SHORT_WAIT_US) * a_us);

    do {
        now = bench->clock.chain();
        waited = bench->clock.start() - begun;
        if (!apart(before, now, BENCH_CHAIN_TOLERANCE) && !shared(bench, look_at_width(bench, now)))
            break;
        before = now;
    } while (waited < most);
    bench->patience -= (double)waited / a_us;
}

static void sample(struct bench *bench, const struct bench_point *point, struct slot *slot,
                   unsigned round, uint64_t end)
{
    const struct bench_row *row = slot->row;
    /* --smoke shows only that each row can be timed, also on a busy machine, and nobody quotes its
     * numbers: its first batch is kept, whatever disturbed it. */
    int most = bench->options.smoke                              ? 1
               : end != UINT64_MAX && bench->clock.start() > end ? BENCH_LATE_ATTEMPTS
                                                                 : BENCH_ATTEMPTS;

    for (int attempt = 1; attempt <= most; attempt++) {
        uint64_t before, after, ticks;
        int64_t gone;
        bool others, wrong, last = attempt == most;
        double per_call, loads;

        if (attempt > 1)
            wait_calm(bench);
        if (row->prepare)
            row->prepare(row->arg);
        else
            row->run(row->arg, slot->calls / 16 + 1);
        gone = away(bench);
        before = bench->clock.chain();
        loads = look_at_width(bench, before);
        ticks = time_batch(bench, row, slot->calls);
        after = bench->clock.chain();
        loads = lesser(loads, look_at_width(bench, after));
        others = shared(bench, loads);
        gone = away(bench) - gone;
        /* A batch that was never alone on its core is better than none, and is counted; one that
         * holds another program's time is not, except with --smoke: its chains may hold that
         * program's time too and then say nothing of the core's speed. Once the run's patience is
         * over the neighbour is likely to stay, and more rounds say more than more tries. */
        wrong = apart(before, after, tolerance(bench, ticks)) || robbed(bench, gone, ticks);
        if (last ? wrong && !bench->options.smoke : wrong || (others && bench->patience > 0))
            continue;
        per_call = (double)ticks / (double)slot->calls;
        if (point->unit && strcmp(point->unit, "ns") == 0)
            per_call *= bench_ns_per_tick(bench);
        else if (wrong)
            per_call *= bench->cycles_per_tick;
        else
            per_call *= 2 * bench->clock.chain_cycles / (double)(before + after);
        slot->samples[slot->count] = per_call;
        slot->loads[slot->count] = loads;
        slot->rounds[slot->count++] = round;
        slot->shared += others;
        return;
    }
    slot->dropped++;
}

static int check_row(struct bench *bench, const struct bench_row *rows, size_t i)
{
    if (bench_routine_find(bench, rows[i].routine) == NULL)
        return okosu_complain(-EINVAL, "the program is wrong", NULL,
                              "row %s %s: its routine is in no table", rows[i].routine,
                              rows[i].variant);
    for (size_t k = 0; k < i; k++)
        if (strcmp(rows[k].routine, rows[i].routine) == 0 &&
            strcmp(rows[k].variant, rows[i].variant) == 0)
            return okosu_complain(-EINVAL, "the program is wrong", NULL, "row %s %s is there twice",
                                  rows[i].routine, rows[i].variant);
    return 0;
}

static void tell(struct bench *bench, const struct bench_point *point, const struct bench_row *row)
{
    char text[200];

    snprintf(text, sizeof(text), "%s: point %zu: %s n=%zu %s", bench->program->name, bench->points,
             row->routine, point->n, point->mode);
    bench_progress(bench, text);
}

/* When this point has had its share of --seconds: what is left for it and the points to come, in
 * equal parts. */
static uint64_t deadline(struct bench *bench)
{
    uint64_t now = bench->clock.start(), spent, all;
    size_t wanted = bench->options.points.count;
    size_t to_come = wanted > bench->points ? wanted - bench->points + 1 : 1;

    if (bench->options.seconds == 0)
        return UINT64_MAX;
    if (bench->begun == 0)
        bench->begun = now;
    spent = now - bench->begun;
    all = (uint64_t)(bench->options.seconds * bench->clock.tick_hz);
    return now + (all > spent ? (all - spent) / to_come : 0);
}

static void run_rounds(struct bench *bench, const struct bench_point *point, struct slot *slots,
                       uint32_t *order, size_t count)
{
    uint64_t end = deadline(bench);
    double target = (point->batch_us > 0    ? point->batch_us
                     : bench->options.smoke ? SMOKE_BATCH_US
                                            : BATCH_US) *
                    bench->clock.tick_hz / 1e6;

    if (target < OVERHEAD_SHARE * (double)bench->overhead)
        target = OVERHEAD_SHARE * (double)bench->overhead;
    for (size_t i = 0; i < count; i++) {
        order[i] = (uint32_t)i;
        slots[i].calls = calibrate(bench, slots[i].row, target);
    }
    equal_calls(slots, count);
    for (unsigned round = 0; round < bench->options.rounds; round++) {
        if (round >= BENCH_FEWEST_ROUNDS && end != UINT64_MAX && bench->clock.start() > end)
            break;
        bench_shuffle(bench, order, count);
        for (size_t i = 0; i < count; i++)
            sample(bench, point, &slots[order[i]], round, end);
    }
}

int bench_point_run(struct bench *bench, const struct bench_point *point,
                    const struct bench_row *rows, size_t count)
{
    struct slot *slots = calloc(count + 1, sizeof(*slots));
    uint32_t *order = calloc(count + 1, sizeof(*order));
    double *samples = calloc((count + 1) * bench->options.rounds, sizeof(*samples));
    unsigned *rounds = calloc((count + 1) * bench->options.rounds, sizeof(*rounds));
    double *loads = calloc((count + 1) * bench->options.rounds, sizeof(*loads));
    size_t used = 0, wanted = 0;
    int error = -ENOMEM;

    if (slots == NULL || order == NULL || samples == NULL || rounds == NULL || loads == NULL) {
        okosu_message("out of memory", NULL, NULL);
        goto out;
    }
    for (size_t i = 0; i < count; i++) {
        bool limit = strcmp(rows[i].kind, "limit") == 0;

        error = check_row(bench, rows, i);
        if (error < 0)
            goto out;
        if (!limit && !(bench_wants_routine(bench, rows[i].routine) &&
                        bench_wants_variant(bench, rows[i].variant) &&
                        bench_wants_point(bench, point, rows[i].routine)))
            continue;
        wanted += !limit ||
                  (bench->options.only.count > 0 && bench_wants_routine(bench, rows[i].routine) &&
                   bench_wants_point(bench, point, rows[i].routine));
        slots[used].row = &rows[i];
        slots[used].samples = samples + used * bench->options.rounds;
        slots[used].rounds = rounds + used * bench->options.rounds;
        slots[used].loads = loads + used * bench->options.rounds;
        used++;
    }
    error = 0;
    if (wanted == 0)
        goto out;
    bench->points++;
    tell(bench, point, slots[0].row);
    run_rounds(bench, point, slots, order, used);
    for (size_t i = 0; i < used; i++)
        bench_row_print(bench, point, slots[i].row, slots[i].samples, slots[i].rounds,
                        bench->clock.width ? slots[i].loads : NULL, slots[i].count,
                        slots[i].dropped, slots[i].shared);
    fflush(bench->out);
out:
    free(loads);
    free(rounds);
    free(samples);
    free(order);
    free(slots);
    return error;
}
