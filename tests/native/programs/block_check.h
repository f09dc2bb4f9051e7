/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that check pools of blocks share: a check that ends the program, random numbers,
 * and blocks that are looked through and soiled. */
#pragma once

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NO_SAN __attribute__((no_sanitize("thread", "address", "undefined")))

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Not instrumented: it reads every byte of every block. */
NO_SAN static inline bool all_zero(const void *at, size_t bytes)
{
    const uint64_t *word = at;
    uint64_t any = 0;

    for (size_t i = 0; i < bytes / 8; i++)
        any |= word[i];
    return !any;
}

NO_SAN static inline void soil(unsigned char *at, size_t bytes, uint64_t *state)
{
    for (size_t page = 0; page < bytes; page += 4096)
        at[page + next_random(state) % (bytes - page < 4096 ? bytes - page : 4096)] = 0xa5;
    at[bytes - 1] = 1;
}
