/* SPDX-License-Identifier: Apache-2.0 */
/* Harness internal: the run's state, shared by the harness's own files and by nothing else but its
 * tests. */
#pragma once

#include "harness.h"

#include <stdio.h>

#define BENCH_SIZES_LIMIT 256
#define BENCH_PEERS_LIMIT 8
#define BENCH_NAMES_LIMIT 256
#define BENCH_ROUNDS_LIMIT 100000
/* A batch whose two chains differ by more than this share ran while the frequency moved, or while
 * something else had the core. */
#define BENCH_CHAIN_TOLERANCE 0.01
/* A batch of milliseconds (one call on data beyond the caches) outlasts the times for which a
 * frequency that is shared with neighbours stands still; the mean of both readings is nearer to it
 * than they are to each other, and memory's own speed varies by more. */
#define BENCH_LONG_US 1000
#define BENCH_LONG_CHAIN_TOLERANCE 0.05
/* The time that other programs may take during a batch: this share of it, plus the error of reading
 * the clocks. */
#define BENCH_AWAY_SHARE 0.01
#define BENCH_AWAY_NS 2000
/* Runs of one batch before it is given up, and where its point has had its share of --seconds; with
 * --smoke there is one. */
#define BENCH_ATTEMPTS 5
#define BENCH_LATE_ATTEMPTS 2
/*
 * A chain does not feel another hardware thread on the same core (of this machine or, in a guest,
 * of the host), but the width of the core does: bench_width_ticks() then takes a tenth to a half
 * longer. A thread that was there when a process began may go later, so the width of a core of one's
 * own is the most that three readings in a row reached.
 */
#define BENCH_WIDTH_SHARE 0.93
#define BENCH_WIDTH_LOADS 4096
/* Microseconds to wait for a calm machine before a batch is tried again: while the run has patience
 * left, and afterwards. */
#define BENCH_WAIT_US 20000
#define BENCH_SHORT_WAIT_US 500
#define BENCH_PATIENCE_US 20e6
/* A run of --points is one of many, or has a time to keep. */
#define BENCH_POINTS_PATIENCE_US 1e6

/* Comma-separated names of one option, in text that is the option's own. */
struct bench_names {
    char *text;
    const char *names[BENCH_NAMES_LIMIT];
    size_t count;
};

/* As few rounds as --seconds may leave. */
#define BENCH_FEWEST_ROUNDS 3

struct bench_options {
    unsigned rounds;
    unsigned seconds;    /* 0: as long as the rounds take */
    unsigned core_loads; /* a hundred times what another process found as `width`; 0: nothing */
    int cpu;             /* -1: not given */
    uint64_t seed;
    bool smoke, list, help;
    struct bench_names only, variant, points;
    size_t sizes[BENCH_SIZES_LIMIT];
    size_t size_count;
    const char *peers[BENCH_PEERS_LIMIT + 1]; /* NULL-ended */
};

/* Where time comes from; tests put their own in. */
struct bench_clock {
    uint64_t (*start)(void);
    uint64_t (*stop)(void);
    /* Ticks that `chain_cycles` dependent adds take. */
    uint64_t (*chain)(void);
    double chain_cycles;
    /* Ticks that `width_loads` independent loads take; NULL: not looked at. */
    uint64_t (*width)(void);
    double width_loads;
    /* Nanoseconds for which this thread wanted to run and did not, from some moment on (two clocks'
     * difference, so it may go back by a little); NULL: not looked at. */
    int64_t (*away)(void);
    double tick_hz;
};

struct bench_buffer;

struct bench {
    const struct bench_program *program;
    struct bench_options options;
    struct bench_clock clock;
    struct okosu_caches caches;
    double cycles_per_tick;
    uint64_t overhead; /* ticks of an empty batch */
    double width;      /* loads a cycle on a core of one's own, as far as was seen; 0: not known */
    double widths[2];  /* the last readings of it, the last one first */
    double patience;   /* microseconds that may be waited for calm */
    uint64_t begun;    /* when the first point was; 0: not yet */
    int cpu;
    uint64_t random;
    FILE *out;
    bool progress;
    size_t points, rows;
    size_t *sizes; /* what bench_sizes() handed out */
    struct bench_buffer *buffers;
    char *range; /* addresses that buffers are taken from; NULL: none could be had */
    size_t range_used;
    bool range_tried;
    bool met[BENCH_NAMES_LIMIT]; /* which of options.points there were */
    char *absent[BENCH_NAMES_LIMIT];
    size_t absent_count;
};

/* 0, or -EINVAL after a message, or -ENOMEM. */
int bench_options_read(struct bench_options *options, int argc, char **argv,
                       const struct bench_program *program);
void bench_options_drop(struct bench_options *options);
void bench_options_help(FILE *out, const struct bench_program *program);

/* bench_main() with the program, and a clock or none (all zeros), already in *bench. */
int bench_run(struct bench *bench, int argc, char **argv);
/* Fill in all of *bench but the clock, which the caller set; measures the clock's cost. */
int bench_start(struct bench *bench);
void bench_end(struct bench *bench);

/* Whether --points leaves this point of a routine, which is then noted as met. */
bool bench_wants_point(struct bench *bench, const struct bench_point *point, const char *routine);

/* A clock of this processor. */
uint64_t bench_width_ticks(void);
/* Loads that the core completes in a cycle now; `chain`: the ticks of a chain just before. */
double bench_width(const struct bench_clock *clock, uint64_t chain);

void bench_header_print(struct bench *bench);
void bench_routines_print(struct bench *bench);
/* `rounds`: of each sample; NULL: 0, 1, 2... `loads`: a cycle beside each sample; NULL: not known. */
void bench_row_print(struct bench *bench, const struct bench_point *point,
                     const struct bench_row *row, const double *samples, const unsigned *rounds,
                     const double *loads, size_t count, unsigned dropped, unsigned shared);
const struct bench_routine *bench_routine_find(const struct bench *bench, const char *name);
void bench_buffers_free(struct bench *bench);
/* Stay on one CPU from now on. 0 or -errno after a message. */
int bench_pin(struct bench *bench);
void bench_progress(struct bench *bench, const char *text);
