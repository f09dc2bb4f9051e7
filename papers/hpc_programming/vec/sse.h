/* SPDX-License-Identifier: Apache-2.0 */
/* sse: 128-bit vectors, for vector.x86_64.c and, compiled with SSE3's instructions (movddup to
 * spread a factor, movshdup to add the lanes of a vector of floats), for vector.sse3.c.
 * SSE_ENTRY(name) is what variant.h says of an entry. */
#include <immintrin.h>
#include <okosu/cpu.h>

#include "vec/common.h"

#define SSE_SUMS 8

#define TYPE double
#define VEC __m128d
#define LANES 2
#define OP(name) _mm_##name##_pd
#define ROUTINE(name) d##name
#define MULADD(a, b, c) _mm_add_pd(_mm_mul_pd(a, b), c)
#define MULADD_ONE(a, b, c) ((a) * (b) + (c))
#define UPDATED(OPS, a, u, v) OPS(add)(OPS(mul)(a, u), v)
#define UPDATED_ONE MULADD_ONE
#define ABS(a) _mm_and_pd(_mm_castsi128_pd(_mm_set1_epi64x(INT64_MAX)), a)
#define ABS_ONE(a) __builtin_fabs(a)
#define SUMS SSE_SUMS
#define ALIGNED_OPERANDS
#define SMALL (8 * LANES)
#define SMALL_FILE "vec/small.h"
#define ENTRY(name) SSE_ENTRY(d##name)
#define ELSEWHERE(name) okosu_vec_any_d##name

VEC_TERMS(done_term, done_start, double, MULADD_ONE, ABS_ONE)

/* The last `place` lanes of v. */
VEC_INLINE __m128d dfresh(__m128d v, size_t place)
{
    static const int64_t masks[] = {0, 0, -1, -1};

    return _mm_and_pd(v, (__m128d)_mm_loadu_si128((const __m128i *)&masks[place]));
}

VEC_INLINE __m128d dfirst(const double *p, size_t skip)
{
    return skip ? _mm_loadh_pd(_mm_setzero_pd(), p + 1) : _mm_loadu_pd(p);
}

VEC_INLINE __m128d dlast(const double *p, size_t left)
{
    return left == 1 ? _mm_load_sd(p) : _mm_loadu_pd(p);
}

/* haddpd takes longer than a shuffle and an addition. The lower lane waits for the upper one to move down,
 * so that adding +0 to it costs little. */
VEC_INLINE double dtotal(__m128d v)
{
    return _mm_cvtsd_f64(_mm_add_sd(_mm_add_sd(v, _mm_setzero_pd()), _mm_unpackhi_pd(v, v)));
}

VEC_INLINE void dedge(bool scale, bool up, double a, const double *u, const double *v, double *out,
                      size_t n)
{
    (void)up;
    for (size_t i = 0; i < n; i++)
        out[i] = scale ? a * u[i] : UPDATED_ONE(a, u[i], v[i]);
}

#include "vec/routines.h"
#undef ABS_ONE

#define TYPE float
#define VEC __m128
#define LANES 4
#define OP(name) _mm_##name##_ps
#define ROUTINE(name) s##name
#define MULADD(a, b, c) _mm_add_ps(_mm_mul_ps(a, b), c)
#define MULADD_ONE(a, b, c) ((a) * (b) + (c))
#define UPDATED(OPS, a, u, v) OPS(add)(OPS(mul)(a, u), v)
#define UPDATED_ONE MULADD_ONE
#define ABS(a) _mm_and_ps(_mm_castsi128_ps(_mm_set1_epi32(INT32_MAX)), a)
#define ABS_ONE(a) __builtin_fabsf(a)
#define SUMS SSE_SUMS
#define ALIGNED_OPERANDS
#define SMALL (8 * LANES)
#define SMALL_FILE "vec/small.h"
#define ENTRY(name) SSE_ENTRY(s##name)
#define ELSEWHERE(name) okosu_vec_any_s##name

VEC_TERMS(sone_term, sone_start, float, MULADD_ONE, ABS_ONE)

VEC_INLINE __m128 sfresh(__m128 v, size_t place)
{
    static const int masks[] = {0, 0, 0, 0, -1, -1, -1, -1};

    return _mm_and_ps(v, (__m128)_mm_loadu_si128((const __m128i *)&masks[place]));
}

VEC_INLINE __m128 sfirst(const float *p, size_t skip)
{
    switch (skip) {
    case 0:
        return _mm_loadu_ps(p);
    case 1:
        return _mm_setr_ps(0, p[1], p[2], p[3]);
    case 2:
        return _mm_setr_ps(0, 0, p[2], p[3]);
    default:
        return _mm_setr_ps(0, 0, 0, p[3]);
    }
}

VEC_INLINE __m128 slast(const float *p, size_t left)
{
    switch (left) {
    case 1:
        return _mm_load_ss(p);
    case 2:
        return _mm_setr_ps(p[0], p[1], 0, 0);
    case 3:
        return _mm_setr_ps(p[0], p[1], p[2], 0);
    default:
        return _mm_loadu_ps(p);
    }
}

VEC_INLINE float stotal(__m128 v)
{
    __m128 two = _mm_add_ps(_mm_add_ps(v, _mm_setzero_ps()), _mm_movehl_ps(v, v));

#ifdef __SSE3__
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
#else
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
#endif
}

VEC_INLINE void sedge(bool scale, bool up, float a, const float *u, const float *v, float *out,
                      size_t n)
{
    (void)up;
    for (size_t i = 0; i < n; i++)
        out[i] = scale ? a * u[i] : UPDATED_ONE(a, u[i], v[i]);
}

#include "vec/routines.h"

#include "vec/nrm2.h"
