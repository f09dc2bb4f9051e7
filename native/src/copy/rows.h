/* SPDX-License-Identifier: Apache-2.0 */
/* rows: what copy's own code names of its routines; the table finds all others by itself. */
#pragma once

#include "choose/routine.h"

#include <okosu/copy.h>
#include <okosu/cpu.h>

/* Generated: all rows of copy/routines in the order of their ranks, and what they say of
 * themselves; both end with NULL. */
extern const struct okosu_copy_variant *const okosu_copy_rows[];
extern const struct okosu_variant *const okosu_copy_row_names[];

#pragma GCC visibility push(hidden)
extern const struct okosu_copy_variant okosu_copy_row_loop8, okosu_copy_row_libc;
/* The vector variants themselves, of any n, and their part of more than eight vectors. */
#if defined(__x86_64__)
extern const struct okosu_copy_variant okosu_copy_row_rep_movsb, okosu_copy_row_rep_line,
    okosu_copy_row_sse2, okosu_copy_row_nt_sse2, okosu_copy_row_avx2, okosu_copy_row_nt_avx2,
    okosu_copy_row_avx512, okosu_copy_row_nt_avx512, okosu_copy_row_lately_sse2,
    okosu_copy_row_lately_avx2, okosu_copy_row_lately_avx512, okosu_copy_row_avx2_intel,
    okosu_copy_row_avx512_intel, okosu_copy_row_nt_sse2_intel, okosu_copy_row_nt_avx2_intel,
    okosu_copy_row_nt_avx512_intel;
okosu_copy_function okosu_copy_sse2, okosu_copy_avx2, okosu_copy_avx512, okosu_copy_avx2_intel,
    okosu_copy_avx512_intel;
okosu_copy_function okosu_copy_large_sse2, okosu_copy_large_avx2, okosu_copy_large_avx512;
#elif defined(__aarch64__)
extern const struct okosu_copy_variant okosu_copy_row_neon;
okosu_copy_function okosu_copy_neon, okosu_copy_large_neon;
okosu_copy_function okosu_copy_sve256, okosu_copy_large_sve256;
okosu_copy_function okosu_copy_sve512, okosu_copy_large_sve512;
#endif
#pragma GCC visibility pop

/* What any machine of this build can run. */
#if defined(__x86_64__)
#define OKOSU_COPY_PLAINEST okosu_copy_row_sse2
#elif defined(__aarch64__)
#define OKOSU_COPY_PLAINEST okosu_copy_row_neon
#else
#define OKOSU_COPY_PLAINEST okosu_copy_row_loop8
#endif
