/* SPDX-License-Identifier: Apache-2.0 */
/* paper: the experiment of section 2 of the paper, compiled many ways. */
#ifndef OKOSU_BENCH_LATENCY_PAPER_H
#define OKOSU_BENCH_LATENCY_PAPER_H

/* Passes of the loop in one call, as in the paper's program. */
#define LATENCY_PASSES 10000

struct latency_paper {
    const char *variant; /* "gcc-O2" */
    const char *config;  /* "gcc 12.2.0 -O2" */
    double (*add)(double a);
    double (*mul)(double a);
};

#endif
