/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the preload library from the environment (docs/ARCHITECTURE.md, "The native
 * contract").
 *
 * 1. They are read once, by the constructor (or by the first slow path before it), so that a
 * program that clears or rewrites its environment changes nothing.
 *
 * 2. A malformed value is recorded as a reason and counts as absent. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum okosu_tier {
    OKOSU_TIER_NONE,
    OKOSU_TIER_THP,
    OKOSU_TIER_SMALL,
    OKOSU_TIER_SHARED,
    OKOSU_TIER_HUGETLB
};

#define OKOSU_PIN_LIST_MAX 1024 /* threads beyond the list start again at its head */
#define OKOSU_CPU_LIMIT 8192    /* CONFIG_NR_CPUS of the largest distribution kernels */
#define OKOSU_DEFAULT_DENSITY 75

struct okosu_config {
    enum okosu_tier tier;
    bool retain;
    bool is_root; /* the launcher started this process; known with pins and without children only */
    bool children; /* children inherit the levers */
    bool verbose;
    bool filtered;     /* the program filters system calls: ours may end it */
    bool openmp_binds; /* OpenMP runtimes have been told to place their threads themselves */
    bool budget_given;
    size_t budget;    /* bytes; meaningful if budget_given */
    unsigned density; /* per cent, 1..100 */
    unsigned pin_count;
    uint16_t pin_list[OKOSU_PIN_LIST_MAX];
    int proof_signal;     /* the evidence is written when this signal ends the process; 0: none */
    char proof[PATH_MAX]; /* absolute path, or "" */
};

extern struct okosu_config okosu_config;

void okosu_config_read(char **env);

/* The value of NAME in ENV or NULL: getenv without the lock that some libcs put around it. */
char *okosu_config_get(char **env, const char *name);
