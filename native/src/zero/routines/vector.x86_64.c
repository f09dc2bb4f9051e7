/* SPDX-License-Identifier: Apache-2.0 */
/* sse2, nt-sse2: 16-byte stores. */
#include "zero/rows.h"
#include "zero/small.h"

#define WIDTH 16
#define SPLAT(v, byte) const __m128i v = _mm_set1_epi8((char)(byte))
#define PUT(p, v) _mm_storeu_si128((__m128i_u *)(p), v)
#define STREAM(p, v) _mm_stream_si128((__m128i *)(p), v)
#define SMALL(p, byte, n, v) okosu_zero_upto16(p, byte, n)
#define ENTRY(name, r) name##_sse2_##r
#include "zero/vector.h"

OKOSU_ROUTINE(zero, 30, sse2) = {
    .about = {"sse2", OKOSU_CPU_SSE2, "16-byte stores"},
    .set = set,
};

OKOSU_ROUTINE(zero, 60, nt_sse2) = {
    .about = {"nt-sse2", OKOSU_CPU_SSE2, "16-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
