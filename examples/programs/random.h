/* SPDX-License-Identifier: Apache-2.0 */
/* The two generators of the examples: same numbers on every machine. */
#ifndef EXAMPLES_RANDOM_H
#define EXAMPLES_RANDOM_H

#include <stdint.h>

/* Multiplier and increment of Knuth's MMIX generator: full period modulo every power of two. */
#define LCG_MUL UINT64_C(6364136223846793005)
#define LCG_ADD UINT64_C(1442695040888963407)

static inline uint64_t lcg_step(uint64_t x)
{
    return x * LCG_MUL + LCG_ADD;
}

/* The state `steps` steps after x, by doubling: what a loop of lcg_step() must arrive at. */
static inline uint64_t lcg_jump(uint64_t x, uint64_t steps)
{
    uint64_t mul = LCG_MUL, add = LCG_ADD;

    for (; steps != 0; steps >>= 1) {
        if (steps & 1)
            x = x * mul + add;
        add *= mul + 1;
        mul *= mul;
    }
    return x;
}

/* The n-th number of the stream `seed` (splitmix64): independent of the ones before it. */
static inline uint64_t random_at(uint64_t seed, uint64_t n)
{
    uint64_t z = seed + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Scale a 64-bit random number to 0 .. bound - 1. */
static inline uint64_t random_below(uint64_t random, uint64_t bound)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)(((wide)random * bound) >> 64);
#else
    /* 32-bit machines: the upper half of the product from four of half the width. */
    uint64_t low = random & UINT32_MAX, high = random >> 32;
    uint64_t middle = high * (bound & UINT32_MAX) + ((low * (bound & UINT32_MAX)) >> 32);

    return high * (bound >> 32) + (middle >> 32) +
           ((low * (bound >> 32) + (middle & UINT32_MAX)) >> 32);
#endif
}

#endif
