/* SPDX-License-Identifier: Apache-2.0 */
/* zero_engines_bench: what the engines of the pool and those of the daemon have in common where
 * they are measured. */
#ifndef OKOSU_BENCH_ZERO_ENGINES_H
#define OKOSU_BENCH_ZERO_ENGINES_H

#include "harness.h"

/* Cycles of the core that asks; then nanoseconds: until the block is clean, of the clearing alone,
 * and of processors. */
enum engines_what {
    ENGINES_POST,
    ENGINES_COMPLETE,
    ENGINES_CLEAR,
    ENGINES_PROCESSOR,
    ENGINES_WHATS
};

/* How one block was cleared, once. */
struct engines_trip {
    double value[ENGINES_WHATS];
};

struct engines_line {
    const char *name, *doc;
    const void *engine;
    /* Clear blocks of so many bytes, one after the other, each full of 0xa5 before and looked
     * through after. 0; or -errno, and `wrong` may say more. A byte that was left is no error, but
     * `wrong` says it. */
    int (*measure)(struct bench *bench, struct engines_line *line, size_t bytes,
                   struct engines_trip *trips, size_t count);
    bool alone;       /* it has a clearing that takes place in the thread that asks */
    char device[100]; /* the name that its driver gives; "": none */
    char wrong[200];  /* why it is not measured, or no more; "": it is */
    size_t scanned;   /* blocks */
    double *samples[ENGINES_WHATS];
    size_t rounds;
};

enum { ENGINES_MOST = 16 };

/* Put a line for each engine that serves here at the end of lines[*count]. */
void engines_of_pool(struct bench *bench, struct engines_line *lines, size_t *count);
void engines_of_daemon(struct bench *bench, struct engines_line *lines, size_t *count);
/* Print the names of all engines, for --list. */
void engines_list_pool(struct bench *bench);
void engines_list_daemon(struct bench *bench);

/* Nanoseconds of processor time of all threads but the calling one, ended threads included. */
double engines_others_ns(void);

/* What they spent since it was `before`; 0 where the two readings, which are not of one moment, tell
 * less than that. */
double engines_others_since(double before);
/* Cycles of this core from ticks between two readings of the clock. */
double engines_cycles(const struct bench *bench, uint64_t ticks);
/* Whether a wait of this many ticks is so long that the engine is given up. */
bool engines_over(const struct bench *bench, uint64_t ticks);
/* Look through a block that was to be cleared. */
void engines_look(struct engines_line *line, const void *block, size_t bytes);

#endif
