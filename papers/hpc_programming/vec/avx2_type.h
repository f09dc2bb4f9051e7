/* SPDX-License-Identifier: Apache-2.0 */
/* What routines.h needs of AVX2 and FMA beside intrinsics of one name, included by vector.avx2.c
 * for each type; INT is an integer of the type's size. */

#define MULADD(a, b, c) OP(fmadd)(a, b, c)
#define ABS(a) OP(andnot)(OP(set1)(-0.0f), a)
/* Eight running sums are two more than twice the latency of an addition; 16 registers leave no room
 * for more. */
#define SUMS 8
#define SMALL 0

/* Masks for loads: any LANES neighbours of these are one mask. */
static const INT ROUTINE(masks)[3 * LANES] = {MASKS};

VEC_INLINE VEC ROUTINE(masked)(const TYPE *p, size_t place)
{
    return OP(maskload)(p, _mm256_loadu_si256((const __m256i *)&ROUTINE(masks)[place]));
}

VEC_INLINE VEC ROUTINE(first)(const TYPE *p, size_t skip)
{
    return ROUTINE(masked)(p, LANES - skip);
}

VEC_INLINE VEC ROUTINE(last)(const TYPE *p, size_t left)
{
    return ROUTINE(masked)(p, 2 * LANES - left);
}

#include "vec/avx_edge.h"
