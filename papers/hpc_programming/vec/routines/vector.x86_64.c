/* SPDX-License-Identifier: Apache-2.0 */
/* sse2: vectors of every x86-64. */
#define SSE_ENTRY(name) okosu_vec_sse2_entry_##name
#include "vec/sse.h"

OKOSU_ROUTINE(vec, 40, sse2) = {
    .about = {.name = "sse2", .needs = OKOSU_CPU_SSE2, .doc = "128-bit vectors, 8 running vectors"},
    .dpartials = SSE_SUMS * 2,
    .spartials = SSE_SUMS * 4,
    VEC_MEMBERS};
