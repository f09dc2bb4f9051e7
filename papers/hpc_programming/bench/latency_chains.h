/* SPDX-License-Identifier: Apache-2.0 */
/* latency_chains: chains of one floating-point operation in double, each waiting for the last. */
#ifndef OKOSU_BENCH_LATENCY_CHAINS_H
#define OKOSU_BENCH_LATENCY_CHAINS_H

#include <okosu/variant.h>

#include <stddef.h>

/* Operations in one call. */
#define LATENCY_CHAIN 1600

struct latency_chain {
    struct okosu_variant about;
    void (*run)(void *arg, size_t calls);
};

/* Ends with a NULL name. */
extern const struct latency_chain latency_chains[];

#endif
