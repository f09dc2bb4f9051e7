/* SPDX-License-Identifier: Apache-2.0 */
/* automatic: which variant serves which sizes, by features and cache sizes. */
#include "copy/route.h"
#include "copy/rows.h"

#if defined(__x86_64__)

/* The caches where the machine does not tell: any processor of the last ten years has these. */
enum { L1D_AT_LEAST = 32 << 10, L3_AT_LEAST = 4 << 20 };

/* The thresholds, measured on Zen 5 (L1d 48 KiB, L2 1 MiB, L3 32 MiB) and given as shares of the
 * caches: `okosu bench copy` shows what they cost elsewhere, and a profile replaces them.
 *
 * Vectors win by 1.5 to 1.8 while both operands stay in L1d, and lose from there on to the string
 * instruction, which takes whole lines without reading those that it will overwrite. Where nothing
 * is in a cache it wins earlier, by a tenth from 12 KiB up; so vectors serve up to half of L1d where
 * the data is known to be near, and up to a third where nothing is known.
 *
 * Stores past the caches win by 1.2 to 1.5 where the destination is in no cache, and lose up to
 * five times where it is: they serve callers that said so, and copies whose two operands cannot
 * both be in L3. */
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    const struct okosu_variant *vector = &okosu_copy_row_sse2.about;
    const struct okosu_variant *stream = &okosu_copy_row_nt_sse2.about;
    const struct okosu_variant *string = &okosu_copy_row_rep_line.about;
    size_t l1d = caches->l1d ? caches->l1d : L1D_AT_LEAST;
    size_t l3 = caches->l3 > L3_AT_LEAST ? caches->l3 : L3_AT_LEAST;

    if (features & OKOSU_CPU_AVX2) {
        vector = &okosu_copy_row_avx2.about;
        stream = &okosu_copy_row_nt_avx2.about;
    }
    if (features & OKOSU_CPU_AVX512) {
        vector = &okosu_copy_row_avx512.about;
        stream = &okosu_copy_row_nt_avx512.about;
    }
    if (features & OKOSU_CPU_ERMS) {
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l1d / 3, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l3 / 2, string);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], l1d / 2, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], SIZE_MAX, string);
    } else {
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l3 / 2, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], SIZE_MAX, vector);
    }
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], SIZE_MAX, stream);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], l1d / 4, vector);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], SIZE_MAX, stream);
}

#else

void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    for (size_t use = 0; use < OKOSU_COPY_USES; use++)
        okosu_sizeclass_add(&choices[use], SIZE_MAX, &OKOSU_COPY_PLAINEST.about);
}

#endif
