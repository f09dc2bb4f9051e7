/* SPDX-License-Identifier: Apache-2.0 */
/* Variant: the rows of the table, each made by a file that is compiled for its instructions. */
#ifndef OKOSU_VEC_VARIANT_H
#define OKOSU_VEC_VARIANT_H

#include <okosu/vec.h>

extern const struct okosu_vec_variant okosu_vec_ref;
extern const struct okosu_vec_variant okosu_vec_sse2;
extern const struct okosu_vec_variant okosu_vec_sse3;
extern const struct okosu_vec_variant okosu_vec_avx2;
extern const struct okosu_vec_variant okosu_vec_avx512;
extern const struct okosu_vec_variant okosu_vec_neon;

#endif
