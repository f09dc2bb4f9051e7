/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one measurement, shared by the loop, the tracer and the sampler. */
#pragma once

#include "measure.h"

#include "base/now.h"

#include <time.h>

enum { OKOSU_UNANNOUNCED = 32 };

struct okosu_run {
    const struct okosu_measure_options *options;
    struct okosu_measure_result *result;
    struct okosu_table *table;
    pid_t self, root;
    bool reading;     /* proofs are being taken: the tree is not being killed */
    bool root_reaped; /* the measurement is over */
    bool held;        /* some process is */
    uint64_t start_ns, end_ns;
    uint64_t asked_ns;             /* when the program was asked to stop */
    uint64_t spare_launcher_until; /* its helper may finish until then */
    uint64_t sampled_threads;      /* the most at once of those that no tracer follows */
    /* Tasks that ended before their maker's event was seen; a ring. */
    pid_t unannounced[OKOSU_UNANNOUNCED];
    unsigned unannounced_next;
};
