/* SPDX-License-Identifier: Apache-2.0 */
/* sse2, nt-sse2: 16-byte stores. The first is in entry_x86.S. */
#include "zero/rows.h"

#define WIDTH 16
#define SPLAT(v, byte) const __m128i v = _mm_set1_epi8((char)(byte))
#define PUT(p, v) _mm_storeu_si128((__m128i_u *)(p), v)
#define STREAM(p, v) _mm_stream_si128((__m128i *)(p), v)
#define SET okosu_zero_set_sse2
#include "zero/vector.h"

OKOSU_ROUTINE(zero, 30, sse2) = {
    .about = {"sse2", OKOSU_CPU_SSE2, "16-byte stores"},
    .set = okosu_zero_set_sse2,
};

OKOSU_ROUTINE(zero, 60, nt_sse2) = {
    .about = {"nt-sse2", OKOSU_CPU_SSE2, "16-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
