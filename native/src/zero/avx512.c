/* SPDX-License-Identifier: Apache-2.0 */
/* avx512, nt-avx512: 64-byte stores. */
#include "rows.h"

#include "avx512.h"
#include "vector.h"

const struct okosu_zero_variant okosu_zero_avx512 = {
    .about = {"avx512", OKOSU_CPU_AVX512, "64-byte stores"},
    .set = set,
};

const struct okosu_zero_variant okosu_zero_nt_avx512 = {
    .about = {"nt-avx512", OKOSU_CPU_AVX512, "64-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
