/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#ifndef OKOSU_MODEL_SEED_H
#define OKOSU_MODEL_SEED_H

#include <stdint.h>

/* The first state of the random generator of array `number`: never 0, which would stay 0. */
static inline uint64_t seed_of(uint64_t seed, uint64_t number)
{
    uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15u + number;

    return state ? state : 1;
}

#endif
