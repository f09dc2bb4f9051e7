/* SPDX-License-Identifier: Apache-2.0 */
/* sse3: sse2 with the instructions of SSE3 where they save a shuffle; results are the same. */
#define SSE_ENTRY(name) okosu_vec_sse3_entry_##name
#include "vec/sse.h"

OKOSU_ROUTINE(vec, 30, sse3) = {.about = {.name = "sse3",
                                          .needs = OKOSU_CPU_SSE2 | OKOSU_CPU_SSE3,
                                          .doc = "sse2 with horizontal adds and duplicating loads"},
                                .dpartials = SSE_SUMS * 2,
                                .spartials = SSE_SUMS * 4,
                                VEC_MEMBERS};
