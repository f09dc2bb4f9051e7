/* SPDX-License-Identifier: Apache-2.0 */
/* What routines.h needs of AVX2 and FMA beside intrinsics of one name, included by vector.avx2.c
 * for each type; INT is an integer of the type's size. */

#define MULADD(a, b, c) OP(fmadd)(a, b, c)
#define UPDATED(OPS, a, u, v) OPS(add)(OPS(mul)(a, u), v)
#define UPDATED_ONE(a, u, v) ((a) * (u) + (v))
#define ABS(a) OP(andnot)(OP(set1)(-0.0f), a)
#define ABS128(a) OP128(andnot)(OP128(set1)(-0.0f), a)
/* Eight running sums are two more than twice the latency of an addition. sumsq waits for nothing but
 * multiply-adds, of which two begin in a cycle and each takes four (Zen, Skylake) or five (Haswell):
 * twelve sums are the most that sixteen registers leave room for. */
#define SUMS 8
#define SQUARE_SUMS 12
#define SQUARE_FROM 256
#define LONG_DOT (16 * SUMS * LANES)
#define THIRDS
#define SMALL (8 * LANES)
#define SMALL_FILE "vec/small.h"

VEC_TERMS(ROUTINE(quarter_term), ROUTINE(quarter_start), QUARTER, OP128(fmadd), ABS128)
VEC_TERMS(ROUTINE(one_term), ROUTINE(one_start), TYPE, MULADD_ONE, ABS_ONE)

/* Masks for loads: any LANES neighbours of these are one mask. */
static const INT ROUTINE(masks)[3 * LANES] = {MASKS};

/* The last `place` lanes of v. */
VEC_INLINE VEC ROUTINE(fresh)(VEC v, size_t place)
{
    return OP(and)(v, (VEC)_mm256_loadu_si256((const __m256i *)&ROUTINE(masks)[place]));
}

#if LANES > 4
VEC_INLINE QUARTER ROUTINE(quarter_fresh)(QUARTER v, size_t place)
{
    return OP128(and)(v, (QUARTER)_mm_loadu_si128((const __m128i *)&ROUTINE(masks)[place]));
}
#endif

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

/* The lanes of `low` from the lane `skip` < LANES on, and behind them the first of `high`. */
VEC_INLINE VEC ROUTINE(behind)(VEC low, VEC high, size_t skip)
{
    static const int eight[] = {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7};
    __m256i from = _mm256_loadu_si256((const __m256i *)&eight[skip * (8 / LANES)]);
    __m256i mask = _mm256_loadu_si256((const __m256i *)&ROUTINE(masks)[skip]);

    return OP(blendv)((VEC)_mm256_permutevar8x32_ps((__m256)low, from),
                      (VEC)_mm256_permutevar8x32_ps((__m256)high, from), (VEC)mask);
}

#include "vec/avx_edge.h"
