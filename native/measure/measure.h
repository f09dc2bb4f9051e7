/* SPDX-License-Identifier: Apache-2.0 */
/* The options and the result of okosu-measure. */
#pragma once

#include "counters.h"
#include "table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

enum okosu_proof { OKOSU_PROOF_EXIT, OKOSU_PROOF_SAMPLE, OKOSU_PROOF_NONE };

struct okosu_measure_options {
    const char *in, *out, *err; /* NULL: /dev/null, /dev/null, inherited */
    uint64_t timeout_ns;        /* 0: none */
    int stop;                   /* the signal by which SIGUSR1 ends the program; 0: none */
    uint64_t grace_ns;          /* how long it may take to end by it */
    enum okosu_proof proof;
    bool threads, numa, files, digest, counters;
    pid_t parent; /* end the tree when this process, the caller, has ended; 0: go on */
    char **argv;
};

struct okosu_measure_result {
    uint64_t wall_ns, stopped_ns;
    struct rusage usage;
    int wait_status;
    bool timed_out, traced, sampled;
    bool asked;       /* the program was asked to stop before it ended … */
    uint64_t stop_ns; /* … and took this long */
    char why_untraced[256];
    uint64_t threads;
    uint64_t out_bytes, out_digest;
    int copy_error; /* errno of copying the output, 0 if it was */
    unsigned left;
    struct okosu_counters counters;
    struct okosu_memory peak;
    struct okosu_table table;
    int interrupted; /* the signal that ended the measurement, 0 for none */
    int exec_error;  /* errno of a program that could not be started, 0 if it was */
};

/* Run the program and measure it. Returns 0 or -errno (nothing was started then); the caller clears
 * the table. */
int okosu_measure_run(const struct okosu_measure_options *options,
                      struct okosu_measure_result *result);
