/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows nothing of okosu: each subcommand exercises one thing that the preload
 * library changes, checks the results itself and prints what a test compares. */
#pragma once

#include "check.h"
#include "pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
};

extern const struct command memory_commands[], process_commands[], legal_commands[];

/* A field of /proc/self/smaps_rollup or /proc/self/status in kB, read without allocating. */
long proc_kb(const char *file, const char *field);

void run_checked(void *(*routine)(void *), int threads);
