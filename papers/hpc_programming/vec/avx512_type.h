/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of AVX-512 for one type, included by vector.avx512.c for each: VEC, MASK,
 * OP(name). */

#define MULADD(a, b, c) OP(fmadd)(a, b, c)
#define UPDATED(OPS, a, u, v) OPS(fmadd)(a, u, v)
#define UPDATED_ONE MULADD_ONE
#define ABS(a) OP(abs)(a)
#define ABS256(a) OP256(andnot)(OP256(set1)(-0.0f), a)
#define ABS128(a) OP128(andnot)(OP128(set1)(-0.0f), a)
/* 8 sums hide the latency of 3 to 4 cycles where two loads and two additions begin in each cycle.
 * sumsq waits for nothing else, and 16 sums bring it from 15.3 to 15.7 of 16 elements a cycle. */
#define SUMS 8
#define SQUARE_SUMS 16
#define SQUARE_FROM 512
/* From L2 two loads of half a line are up to a fifth faster than one of a line (Zen 5, dot products of
 * aligned arrays; sums gain 2 to 7 %). In L1 they take twice the time. */
#define HALVES
#define SMALL (8 * LANES)
#define SMALL_FILE "vec/avx512_small.h"

VEC_TERMS(ROUTINE(half_term), ROUTINE(half_start), HALF, OP256(fmadd), ABS256)
VEC_TERMS(ROUTINE(quarter_term), ROUTINE(quarter_start), QUARTER, OP128(fmadd), ABS128)
VEC_TERMS(ROUTINE(one_term), ROUTINE(one_start), TYPE, MULADD_ONE, ABS_ONE)

/* The lowest n <= LANES lanes. */
VEC_INLINE MASK ROUTINE(lanes)(size_t n)
{
    return (MASK)((1u << n) - 1);
}

VEC_INLINE VEC ROUTINE(first)(const TYPE *p, size_t skip)
{
    return OP(maskz_loadu)((MASK)(~0u << skip), p);
}

VEC_INLINE VEC ROUTINE(last)(const TYPE *p, size_t left)
{
    return OP(maskz_loadu)(ROUTINE(lanes)(left), p);
}

#include "vec/avx_edge.h"
