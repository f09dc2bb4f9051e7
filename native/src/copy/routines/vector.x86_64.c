/* SPDX-License-Identifier: Apache-2.0 */
/* sse2: the baseline of x86-64: vectors of 16 bytes. */
#include <immintrin.h>

#define OKOSU_COPY_WIDTH 16
#define OKOSU_COPY_NAME(x) x##_sse2
#define OKOSU_COPY_BEYOND(r) okosu_copy_beyond_sse2_##r
#define OKOSU_COPY_STREAM(p, v) _mm_stream_si128((__m128i *)(p), (__m128i)(v))
#define OKOSU_COPY_FENCE() _mm_sfence()
#define OKOSU_COPY_AHEAD 1024
#define OKOSU_COPY_LONG 2048
#include "copy/vector.h"

OKOSU_ROUTINE(copy, 60, sse2) = {
    .about = {.name = "sse2", .needs = OKOSU_CPU_SSE2, .doc = "16-byte moves, 64 bytes a turn"},
    .copy = okosu_copy_sse2,
    .move = okosu_copy_sse2,
};

OKOSU_ROUTINE(copy, 90, nt_sse2) = {
    .about = {.name = "nt-sse2",
              .needs = OKOSU_CPU_SSE2,
              .doc = "sse2 to 2 KiB, then non-temporal stores of whole lines"},
    .copy = okosu_copy_nt_sse2,
    .move = okosu_copy_nt_sse2,
    .streams = true,
};

OKOSU_ROUTINE(copy, 95, nt_sse2_intel) = {
    .about = {.name = "nt-sse2-intel",
              .needs = OKOSU_CPU_SSE2,
              .doc = "as nt-sse2, its source fetched into L2 far ahead, which suits Intel's cores"},
    .copy = okosu_copy_nt_intel_sse2,
    .move = okosu_copy_nt_intel_sse2,
    .streams = true,
};

OKOSU_ROUTINE(copy, 53, lately_sse2) = {
    .about = {.name = "lately-sse2",
              .needs = OKOSU_CPU_SSE2 | OKOSU_CPU_ERMS,
              .doc = "sse2 where it copied to lately, else rep-line"},
    .copy = okosu_copy_lately_sse2,
    .move = okosu_copy_lately_move_sse2,
};
