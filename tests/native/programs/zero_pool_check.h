/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of zero-pool-check share. */
#ifndef ZERO_POOL_CHECK_H
#define ZERO_POOL_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            printf("WRONG: %s:%d: %s\n", __func__, __LINE__, #x);                                  \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* The states of units against a slow model; and by four threads, so many turns each. */
void zero_pool_check_units(uint64_t seed);
void zero_pool_check_contention(uint64_t turns);

#endif
