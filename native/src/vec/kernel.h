/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel: what the files that implement variants share, whatever the type. */
#ifndef OKOSU_VEC_KERNEL_H
#define OKOSU_VEC_KERNEL_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "vec/variant.h"

#define VEC_INLINE static inline __attribute__((always_inline))

/* Laid out of the way, so that other cases have no jump there: a taken jump is a cycle, and short
 * calls take 8. */
#define VEC_RARE(condition) __builtin_expect(condition, 0)

/* Keeps the compiler from moving loads and stores across; no instruction. */
#ifndef VEC_IN_ORDER
#define VEC_IN_ORDER __asm__ volatile("" : : : "memory")
#endif

#include "vec/terms.h"

/*
 * Beyond so many bytes of operands the kernels prefetch. It is what leaves L2: prefetching costs 25
 * % in L1 and up to 12 % in L2 (Zen 5, 1 MiB of L2: loses up to 1.2 MiB, wins from 1.5 MiB on), but
 * holds 30-31 B/cycle from L3, where without it the rate drifts between 24 and 31.
 */
extern size_t okosu_vec_far;

VEC_INLINE bool vec_is_far(size_t bytes)
{
    return bytes > __atomic_load_n(&okosu_vec_far, __ATOMIC_RELAXED);
}

/* Of 0.5, 1, 2 and 4 KiB, 1 and 2 are best in L3, for one array and for two; none matters in
 * memory. */
VEC_INLINE void vec_ahead(const void *p)
{
    __builtin_prefetch((const char *)((uintptr_t)p + 1024));
}

/* The members of a row, under the names that every file that implements one gives them. */
#define VEC_MEMBER(result, give, name, parameters, arguments) .name = name,
#define VEC_MEMBERS VEC_ROUTINES(VEC_MEMBER)

#endif
