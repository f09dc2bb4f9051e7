/* SPDX-License-Identifier: Apache-2.0 */
/* A program that knows nothing of okosu: each subcommand exercises one thing that the preload
 * library changes, checks the results itself and prints what a test compares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
};

extern const struct command memory_commands[], process_commands[], legal_commands[];

/* A pattern over a block: one word in each `STEP` bytes and the last byte. */
void fill(void *p, size_t size, unsigned tag);
bool is_filled(const void *p, size_t size, unsigned tag);

/* A field of /proc/self/smaps_rollup or /proc/self/status in kB, read without allocating. */
long proc_kb(const char *file, const char *field);

void run_checked(void *(*routine)(void *), int threads);
