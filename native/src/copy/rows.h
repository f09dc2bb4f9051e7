/* SPDX-License-Identifier: Apache-2.0 */
/* rows: the variants, as their files define them and the table lists them. */
#ifndef OKOSU_COPY_ROWS_H
#define OKOSU_COPY_ROWS_H

#include <okosu/copy.h>
#include <okosu/cpu.h>

#if defined(__x86_64__)
extern const struct okosu_copy_variant okosu_copy_row_rep_movsb, okosu_copy_row_rep_line,
    okosu_copy_row_block512, okosu_copy_row_sse2, okosu_copy_row_nt_sse2, okosu_copy_row_avx2,
    okosu_copy_row_nt_avx2, okosu_copy_row_avx512, okosu_copy_row_nt_avx512;
#endif
#if defined(__aarch64__)
extern const struct okosu_copy_variant okosu_copy_row_neon;
#endif
/* The vector variants themselves, of any n, and their part of more than eight vectors. */
#if defined(__x86_64__)
okosu_copy_function okosu_copy_sse2, okosu_copy_avx2, okosu_copy_avx512;
okosu_copy_function okosu_copy_large_sse2, okosu_copy_large_avx2, okosu_copy_large_avx512;
#endif
#if defined(__aarch64__)
okosu_copy_function okosu_copy_neon, okosu_copy_large_neon;
#endif

extern const struct okosu_copy_variant okosu_copy_row_ref, okosu_copy_row_loop8;

#endif
