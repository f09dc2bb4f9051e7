/* SPDX-License-Identifier: Apache-2.0 */
/* avx2: vectors of 32 bytes. */
#include <immintrin.h>

#define OKOSU_COPY_WIDTH 32
#define OKOSU_COPY_NAME(x) x##_avx2
#define OKOSU_COPY_BEYOND(r) okosu_copy_beyond_avx2_##r
#define OKOSU_COPY_STREAM(p, v) _mm256_stream_si256((__m256i *)(p), (__m256i)(v))
#define OKOSU_COPY_FENCE() _mm_sfence()
#define OKOSU_COPY_AHEAD 1024
#include "copy/vector.h"

OKOSU_ROUTINE(copy, 70, avx2) = {
    .about = {.name = "avx2", .needs = OKOSU_CPU_AVX2, .doc = "32-byte moves, 128 bytes a turn"},
    .copy = okosu_copy_avx2,
    .move = okosu_copy_avx2,
};

OKOSU_ROUTINE(copy, 75, avx2_intel) = {
    .about = {.name = "avx2-intel",
              .needs = OKOSU_CPU_AVX2,
              .doc = "as avx2, in the order that suits Intel's cores"},
    .copy = okosu_copy_avx2_intel,
    .move = okosu_copy_avx2_intel,
};

OKOSU_ROUTINE(copy, 100, nt_avx2) = {
    .about = {.name = "nt-avx2",
              .needs = OKOSU_CPU_AVX2,
              .doc = "avx2 to 2 KiB, then non-temporal stores of whole lines"},
    .copy = okosu_copy_nt_avx2,
    .move = okosu_copy_nt_avx2,
    .streams = true,
};

OKOSU_ROUTINE(copy, 105, nt_avx2_intel) = {
    .about = {.name = "nt-avx2-intel",
              .needs = OKOSU_CPU_AVX2,
              .doc = "as nt-avx2, its source fetched into L2 far ahead, which suits Intel's cores"},
    .copy = okosu_copy_nt_intel_avx2,
    .move = okosu_copy_nt_intel_avx2,
    .streams = true,
};

OKOSU_ROUTINE(copy, 54, lately_avx2) = {
    .about = {.name = "lately-avx2",
              .needs = OKOSU_CPU_AVX2 | OKOSU_CPU_ERMS,
              .doc = "avx2 where it copied to lately or lines do not match, else rep-line"},
    .copy = okosu_copy_lately_avx2,
    .move = okosu_copy_lately_move_avx2,
};
