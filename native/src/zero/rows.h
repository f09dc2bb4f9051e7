/* SPDX-License-Identifier: Apache-2.0 */
/* rows: what zero's own code names of its routines; the table finds all others by itself. */
#pragma once

#include "choose/routine.h"

#include <okosu/cpu.h>
#include <okosu/zero.h>

/* Generated: all rows of zero/routines in the order of their ranks, and what they say of
 * themselves; both end with NULL. */
extern const struct okosu_zero_variant *const okosu_zero_rows[];
extern const struct okosu_variant *const okosu_zero_row_names[];

extern const struct okosu_zero_variant okosu_zero_row_loop8;
#if defined(__x86_64__)
extern const struct okosu_zero_variant okosu_zero_row_rep_stosb, okosu_zero_row_sse2,
    okosu_zero_row_avx2, okosu_zero_row_avx2_intel, okosu_zero_row_avx512,
    okosu_zero_row_avx512_once, okosu_zero_row_avx512_intel, okosu_zero_row_nt_sse2,
    okosu_zero_row_nt_avx2, okosu_zero_row_nt_avx512, okosu_zero_row_clzero;
/* The variants themselves. */
void *okosu_zero_set_sse2(void *p, int byte, size_t n);
void *okosu_zero_set_avx2(void *p, int byte, size_t n);
void *okosu_zero_set_avx512(void *p, int byte, size_t n);
void *okosu_zero_set_avx512_once(void *p, int byte, size_t n);
void *okosu_zero_set_avx2_intel(void *p, int byte, size_t n);
void *okosu_zero_set_avx512_intel(void *p, int byte, size_t n);
#elif defined(__aarch64__)
extern const struct okosu_zero_variant okosu_zero_row_neon, okosu_zero_row_dc_zva;
#endif
