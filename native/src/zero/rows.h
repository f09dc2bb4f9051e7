/* SPDX-License-Identifier: Apache-2.0 */
/* rows: the variants of zero, one file each, as the table lists them. */
#ifndef OKOSU_ZERO_ROWS_H
#define OKOSU_ZERO_ROWS_H

#include <okosu/cpu.h>
#include <okosu/zero.h>

extern const struct okosu_zero_variant okosu_zero_loop8;
#ifdef __x86_64__
extern const struct okosu_zero_variant okosu_zero_rep_stosb;
extern const struct okosu_zero_variant okosu_zero_sse2;
extern const struct okosu_zero_variant okosu_zero_avx2;
extern const struct okosu_zero_variant okosu_zero_avx512;
extern const struct okosu_zero_variant okosu_zero_nt_sse2;
extern const struct okosu_zero_variant okosu_zero_nt_avx2;
extern const struct okosu_zero_variant okosu_zero_nt_avx512;
extern const struct okosu_zero_variant okosu_zero_clzero;
/* The avx512 variant itself. */
void *okosu_zero_set_avx512(void *p, int byte, size_t n);
#endif
#ifdef __aarch64__
extern const struct okosu_zero_variant okosu_zero_neon;
extern const struct okosu_zero_variant okosu_zero_dc_zva;
#endif

#endif
