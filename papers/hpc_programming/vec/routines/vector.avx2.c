/* SPDX-License-Identifier: Apache-2.0 */
/* avx2: 256-bit vectors with fused multiply-add. */
#include <immintrin.h>
#include <okosu/cpu.h>

#include "vec/common.h"

#define TYPE double
#define VEC __m256d
#define LANES 4
#define INT long long
#define MASKS 0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0
#define HALF __m256d
#define QUARTER __m128d
#define OP(name) _mm256_##name##_pd
#define OP256 OP
#define OP128(name) _mm_##name##_pd
#define ROUTINE(name) d##name
#define ENTRY(name) okosu_vec_avx2_entry_d##name
#define ELSEWHERE(name) okosu_vec_any_d##name
#define MULADD_ONE(a, b, c) __builtin_fma(a, b, c)
#define ABS_ONE(a) __builtin_fabs(a)

VEC_INLINE double dtotal_of(__m128d low, __m128d high)
{
    __m128d two = _mm_add_pd(low, high);

    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

/* The lower half waits for the upper one to move down, so that adding +0 to it costs nothing. */
VEC_INLINE double dtotal(__m256d v)
{
    return dtotal_of(_mm256_castpd256_pd128(v) + _mm_setzero_pd(), _mm256_extractf128_pd(v, 1));
}

VEC_INLINE double dquarter_total(__m128d v)
{
    return dtotal_of(v, _mm_setzero_pd());
}

#include "vec/avx2_type.h"

#include "vec/routines.h"
#undef INT
#undef MASKS
#undef ABS_ONE
#undef ABS128
#undef HALF
#undef QUARTER
#undef OP256
#undef OP128

#define TYPE float
#define VEC __m256
#define LANES 8
#define INT int
#define MASKS 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0
#define HALF __m256
#define QUARTER __m128
#define OP(name) _mm256_##name##_ps
#define OP256 OP
#define OP128(name) _mm_##name##_ps
#define ROUTINE(name) s##name
#define ENTRY(name) okosu_vec_avx2_entry_s##name
#define ELSEWHERE(name) okosu_vec_any_s##name
#define MULADD_ONE(a, b, c) __builtin_fmaf(a, b, c)
#define ABS_ONE(a) __builtin_fabsf(a)

VEC_INLINE float stotal_of(__m128 low, __m128 high)
{
    __m128 four = _mm_add_ps(low, high);
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));

    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

VEC_INLINE float stotal(__m256 v)
{
    return stotal_of(_mm256_castps256_ps128(v) + _mm_setzero_ps(), _mm256_extractf128_ps(v, 1));
}

VEC_INLINE float squarter_total(__m128 v)
{
    return stotal_of(v, _mm_setzero_ps());
}

#include "vec/avx2_type.h"

#include "vec/routines.h"

#include "vec/nrm2.h"

#define ALIAS(result, give, name, parameters, arguments)                                           \
    result okosu_vec_avx2_##name parameters __attribute__((alias(#name)));

VEC_ROUTINES(ALIAS)

OKOSU_ROUTINE(vec, 20, avx2) = {
    .about = {.name = "avx2",
              .needs = OKOSU_CPU_AVX2,
              .doc = "256-bit vectors with fused multiply-add, 8 running vectors"},
    .dpartials = 8 * 4,
    .spartials = 8 * 8,
    VEC_MEMBERS};
