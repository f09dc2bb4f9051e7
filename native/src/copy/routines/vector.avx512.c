/* SPDX-License-Identifier: Apache-2.0 */
/* avx512: vectors of 64 bytes, a whole line each. */
#include <immintrin.h>

#define OKOSU_COPY_WIDTH 64
#define OKOSU_COPY_NAME(x) x##_avx512
#define OKOSU_COPY_BEYOND(r) okosu_copy_beyond_avx512_##r
#define OKOSU_COPY_STREAM(p, v) _mm512_stream_si512((__m512i *)(p), (__m512i)(v))
#define OKOSU_COPY_FENCE() _mm_sfence()
#define OKOSU_COPY_AHEAD 1024
#include "copy/vector.h"

OKOSU_ROUTINE(copy, 80, avx512) = {
    .about = {.name = "avx512",
              .needs = OKOSU_CPU_AVX512,
              .doc = "64-byte moves, 256 bytes a turn"},
    .copy = okosu_copy_avx512,
    .move = okosu_copy_avx512,
};

OKOSU_ROUTINE(copy, 85, avx512_intel) = {
    .about = {.name = "avx512-intel",
              .needs = OKOSU_CPU_AVX512,
              .doc = "as avx512, in the order that suits Intel's cores"},
    .copy = okosu_copy_avx512_intel,
    .move = okosu_copy_avx512_intel,
};

OKOSU_ROUTINE(copy, 110, nt_avx512) = {
    .about = {.name = "nt-avx512",
              .needs = OKOSU_CPU_AVX512,
              .doc = "avx512 to 2 KiB, then non-temporal stores of whole lines"},
    .copy = okosu_copy_nt_avx512,
    .move = okosu_copy_nt_avx512,
    .streams = true,
};

OKOSU_ROUTINE(copy, 115, nt_avx512_intel) = {
    .about = {.name = "nt-avx512-intel",
              .needs = OKOSU_CPU_AVX512,
              .doc =
                  "as nt-avx512, its source fetched into L2 far ahead, which suits Intel's cores"},
    .copy = okosu_copy_nt_intel_avx512,
    .move = okosu_copy_nt_intel_avx512,
    .streams = true,
};

OKOSU_ROUTINE(copy, 55, lately_avx512) = {
    .about = {.name = "lately-avx512",
              .needs = OKOSU_CPU_AVX512 | OKOSU_CPU_ERMS,
              .doc = "avx512 where it copied to lately, else rep-line"},
    .copy = okosu_copy_lately_avx512,
    .move = okosu_copy_lately_move_avx512,
};
