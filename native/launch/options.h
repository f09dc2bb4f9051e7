/* SPDX-License-Identifier: Apache-2.0 */
/* Options: the command line of okosu-run. Levers are options too, named after their rows. */
#pragma once

#include "lever.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OKOSU_LEVER_LIMIT 64

struct okosu_options {
    const char *values[OKOSU_LEVER_LIMIT]; /* of each row of the table; NULL: not asked for */
    bool skipped[OKOSU_LEVER_LIMIT];
    char *const *program; /* PROGRAM and its arguments */
    char **variables;     /* NAME=VALUE of --env; room for every argument */
    size_t variable_count;
    const char *proof;
    const char *proof_signal; /* its number, as given */
    uint64_t pad_env;
    double delay; /* seconds */
    int children; /* 0, 1, or -1: not given */
    bool pad;
    bool placebo, no_fork, strict, rebind, verbose;
    bool dry_run, json, describe, inspect, version, help;
};

/* Read the arguments; memory comes from the arena. 0, or -EINVAL after a message. */
int okosu_options_read(struct okosu_options *options, struct okosu_arena *arena, int argc,
                       char **argv);
/* Print the help text, which is generated from the tables of levers and options, on stdout. */
void okosu_options_help(void);
