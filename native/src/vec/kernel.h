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

#include "vec/terms.h"

/* Arrays of vectors stay in registers only if every loop over them disappears. */
#define UNROLLED _Pragma("GCC unroll 16")

/* Beyond so many bytes of operands the kernels prefetch: what lies in L1 or L2 only loses by it. */
extern size_t okosu_vec_far;

/* 1 KiB ahead holds 31-32 B/cycle from L3 on Zen 5, where without it the rate drifts between 24
 * and 31. */
VEC_INLINE void vec_ahead(const void *p)
{
    __builtin_prefetch((const char *)((uintptr_t)p + 1024));
}

/* The members of a row, under the names that every file that implements one gives them. */
#define VEC_ROUTINES                                                                               \
    .dsum = dsum, .dsumsq = dsumsq, .dasum = dasum, .ddot = ddot, .dnrm2 = dnrm2, .daxpy = daxpy,  \
    .dscal = dscal, .dtriad = dtriad, .ddot_strided = ddot_strided,                                \
    .daxpy_strided = daxpy_strided, .ssum = ssum, .ssumsq = ssumsq, .sasum = sasum, .sdot = sdot,  \
    .snrm2 = snrm2, .saxpy = saxpy, .sscal = sscal, .striad = striad,                              \
    .sdot_strided = sdot_strided, .saxpy_strided = saxpy_strided

#endif
