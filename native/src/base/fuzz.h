/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz: what the fuzzers share: their options [COUNT [SEED]], random numbers that depend only on
 * the seed, and an abort at the first property that does not hold. Each fuzzer is one file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    const char *name;
    uint64_t state;
} fuzz;

/* `count` is the default amount of work; if OKOSU_CHECK_STEP is set, it is divided by that number,
 * for a short run of all checks. Returns how much is to be done. */
static inline size_t fuzz_begin(const char *name, int argc, char **argv, size_t count)
{
    const char *step = getenv("OKOSU_CHECK_STEP");

    fuzz.name = name;
    if (step)
        count = count / (strtoul(step, NULL, 10) + 1) + 1;
    fuzz.state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    /* The generator never leaves 0. */
    fuzz.state += fuzz.state == 0;
    return argc > 1 ? strtoul(argv[1], NULL, 10) : count;
}

/* xorshift64*. */
static inline uint32_t next_random(size_t below)
{
    fuzz.state ^= fuzz.state >> 12;
    fuzz.state ^= fuzz.state << 25;
    fuzz.state ^= fuzz.state >> 27;
    return (uint32_t)(((fuzz.state * UINT64_C(2685821657736338717)) >> 32) % below);
}

static inline void require(bool holds, const char *what)
{
    if (!holds) {
        printf("%s: %s\n", fuzz.name, what);
        fflush(stdout);
        abort();
    }
}
