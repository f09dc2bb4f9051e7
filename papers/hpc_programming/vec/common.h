/* SPDX-License-Identifier: Apache-2.0 */
/* common: what the files that implement variants share, whatever the type. */
#ifndef OKOSU_VEC_COMMON_H
#define OKOSU_VEC_COMMON_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "vec/variant.h"

#define VEC_INLINE static inline __attribute__((always_inline))

/* Code for a rare condition is laid out of the way, so that the other cases take no jump: a taken
 * jump is a cycle, and short calls take 8. */
#define VEC_RARE(condition) __builtin_expect(condition, 0)

/* Keeps the compiler from moving loads and stores across; costs no instruction. */
#define VEC_IN_ORDER __asm__ volatile("" : : : "memory")

#include "vec/terms.h"

/* Beyond so many bytes of operands, which no longer fit L2, the routines prefetch: prefetching
 * costs 25 % in L1 and up to 12 % in L2 (Zen 5, 1 MiB of L2: loses up to 1.2 MiB, wins from 1.5 MiB
 * on), but holds 30-31 B/cycle from L3, where without it the rate drifts between 24 and 31. They do
 * not beyond three quarters of L3: from memory prefetching costs 10 to 24 % (Zen 3). */
extern size_t okosu_vec_far, okosu_vec_memory;

VEC_INLINE bool vec_is_far(size_t bytes)
{
    return VEC_RARE(bytes > __atomic_load_n(&okosu_vec_far, __ATOMIC_RELAXED)) &&
           bytes <= __atomic_load_n(&okosu_vec_memory, __ATOMIC_RELAXED);
}

/* Bytes of the first-level cache; SIZE_MAX on Intel's cores, which load whole vectors from L2 as fast as the
 * lines come: by halves a sum takes a quarter more there, and loads that cross lines two thirds (Granite
 * Rapids). */
extern size_t okosu_vec_l1;

VEC_INLINE bool vec_is_on_intel(void)
{
#if defined(__x86_64__)
    return __atomic_load_n(&okosu_vec_l1, __ATOMIC_RELAXED) == SIZE_MAX;
#else
    return false;
#endif
}

/* Operands that no longer fit L1 and take at most a third of L2, where the order and the width of
 * loads matter (Zen 5: from 384 KiB of 1 MiB on, two arrays come faster by whole lines again). */
VEC_INLINE bool vec_is_in_l2(size_t bytes)
{
    return bytes > __atomic_load_n(&okosu_vec_l1, __ATOMIC_RELAXED) &&
           bytes <= __atomic_load_n(&okosu_vec_far, __ATOMIC_RELAXED) / 4;
}

/* How far ahead they prefetch, as measured in L3 (Zen 5, five processes each, 2 to 16 MiB). One
 * array: 4 KiB brings sumsq from 29.2 to 30.9 B/cycle and sum from 30.9 to 31.3 against 1 KiB, 2,
 * 3, 6 and 8 KiB are as good or a little worse. Two: 1 and 2 KiB are best, 0.5 and 4 KiB up to 4
 * B/cycle worse. */
#define VEC_AHEAD_ONE 4096
#define VEC_AHEAD_TWO 1024

VEC_INLINE void vec_ahead(const void *p, size_t bytes)
{
    __builtin_prefetch((const char *)((uintptr_t)p + bytes));
}

/* The members of a row, under the names that every file that implements one gives them. */
#define VEC_MEMBER(result, give, name, parameters, arguments) .name = name,
#define VEC_MEMBERS VEC_ROUTINES(VEC_MEMBER)

#endif
