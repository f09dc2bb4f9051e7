/* SPDX-License-Identifier: Apache-2.0 */
/* avx2, nt-avx2: 32-byte stores. */
#include "zero/rows.h"
#include "zero/small.h"

#define WIDTH 32
#define SPLAT(v, byte) const __m256i v = _mm256_set1_epi8((char)(byte))
#define PUT(p, v) _mm256_storeu_si256((__m256i_u *)(p), v)
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#define SMALL(p, byte, n, v)                                                                       \
    do {                                                                                           \
        if ((n) <= 16) {                                                                           \
            okosu_zero_upto16(p, byte, n);                                                         \
        } else {                                                                                   \
            _mm_storeu_si128((__m128i_u *)(p), _mm256_castsi256_si128(v));                         \
            _mm_storeu_si128((__m128i_u *)((p) + (n)-16), _mm256_castsi256_si128(v));              \
        }                                                                                          \
    } while (0)
#define ENTRY(name, r) name##_avx2_##r
#include "zero/vector.h"

OKOSU_ROUTINE(zero, 40, avx2) = {
    .about = {"avx2", OKOSU_CPU_AVX2, "32-byte stores"},
    .set = set,
};

OKOSU_ROUTINE(zero, 70, nt_avx2) = {
    .about = {"nt-avx2", OKOSU_CPU_AVX2, "32-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
