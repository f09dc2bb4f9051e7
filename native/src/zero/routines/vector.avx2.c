/* SPDX-License-Identifier: Apache-2.0 */
/* avx2, avx2-intel, nt-avx2: 32-byte stores. The first two are in entry_x86.S. */
#include "zero/rows.h"

#define WIDTH 32
#define SPLAT(v, byte) const __m256i v = _mm256_set1_epi8((char)(byte))
#define PUT(p, v) _mm256_storeu_si256((__m256i_u *)(p), v)
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(p), v)
#define SET okosu_zero_set_avx2
#include "zero/vector.h"

OKOSU_ROUTINE(zero, 40, avx2) = {
    .about = {"avx2", OKOSU_CPU_AVX2, "32-byte stores"},
    .set = okosu_zero_set_avx2,
};

OKOSU_ROUTINE(zero, 45, avx2_intel) = {
    .about = {"avx2-intel", OKOSU_CPU_AVX2, "32-byte stores, fewer branches taken"},
    .set = okosu_zero_set_avx2_intel,
};

OKOSU_ROUTINE(zero, 70, nt_avx2) = {
    .about = {"nt-avx2", OKOSU_CPU_AVX2, "32-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
