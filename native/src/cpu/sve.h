/* SPDX-License-Identifier: Apache-2.0 */
/* sve: routines for one length of SVE's vectors, which is SVE_BITS (GCC's -msve-vector-bits).
 *
 * A thread may change the length of its own vectors at any time (prctl, PR_SVE_SET_VL), and what was
 * found at the first call need not be so any more. So each routine looks first, and leaves a call with
 * vectors of another length to that of NEON. */
#pragma once

#include <stdbool.h>

enum { SVE_BITS = __ARM_FEATURE_SVE_BITS };

/* The compiler's own intrinsic would be the constant that it was told. */
static inline __attribute__((always_inline)) bool okosu_sve_as_compiled(void)
{
    long bytes;

    __asm__ volatile("rdvl %0, #1" : "=r"(bytes));
    return __builtin_expect(bytes == SVE_BITS / 8, 1);
}
