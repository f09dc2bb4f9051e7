/* SPDX-License-Identifier: Apache-2.0 */
/* automatic: which variant serves which sizes, by features and cache sizes. */
#include "copy/lately.h"
#include "copy/route.h"
#include "copy/rows.h"

#if defined(__x86_64__)

/* The caches where the machine does not tell: any processor of the last ten years has them. */
enum { L2_AT_LEAST = 256 << 10, L3_AT_LEAST = 4 << 20 };

/* Above this size moves of 16 bytes win no more over wider ones where the bytes are in no cache. */
enum { FAR_BY_16_TO = 1024 };

/* From these sizes up stores past the caches win on Intel's cores (Emerald Rapids), by 1.1 to 1.8: if the bytes are
 * in no cache, wherever they are, and with a sum over what was copied (which below takes up to a fifteenth longer then). */
enum { INTEL_STREAM_FAR = 7168, INTEL_STREAM_ANY = 3 << 20, INTEL_STREAM_NEAR = 16 << 20 };

/* Intel's cores (Granite Rapids, Emerald Rapids). No place of the operands in their lines or pages makes the string
 * instruction slow here. In L1d it loses to vectors of AVX-512 up to 20 KiB, by up to a tenth, and to those of AVX2
 * up to 3 KiB; it wins over those of SSE2 from 1.5 KiB up. In no cache it wins from 4 KiB up, over those of SSE2
 * from 3. Where it is not said to be fast for short copies, how it does was not measured, nor how stores past
 * the caches do, and the C library knows. */
static void intel(uint64_t features, size_t l1d, struct okosu_sizeclasses *choices)
{
    const struct okosu_variant *vector = &okosu_copy_row_sse2.about;
    const struct okosu_variant *largest = &okosu_copy_row_nt_sse2_intel.about;
    size_t near_to = l1d / 48, any_to = l1d / 24, far_to = any_to;

    if (features & OKOSU_CPU_AVX2) {
        vector = &okosu_copy_row_avx2_intel.about;
        largest = &okosu_copy_row_nt_avx2_intel.about;
        near_to = any_to = far_to = l1d / 15;
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], FAR_BY_16_TO, &okosu_copy_row_sse2.about);
    }
    if (features & OKOSU_CPU_AVX512) {
        vector = &okosu_copy_row_avx512_intel.about;
        largest = &okosu_copy_row_nt_avx512_intel.about;
        near_to = l1d / 12 * 5;
        any_to = l1d / 13;
    }
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], any_to, vector);
    okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], near_to, vector);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], far_to, vector);
    if (features & OKOSU_CPU_FSRM) {
        const struct okosu_variant *string = &okosu_copy_row_rep_movsb.about;

        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], INTEL_STREAM_ANY, string);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], INTEL_STREAM_NEAR, string);
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], INTEL_STREAM_FAR, string);
    } else {
        largest = &okosu_copy_row_libc.about;
    }
    for (size_t use = 0; use < OKOSU_COPY_USES; use++)
        okosu_sizeclass_add(&choices[use], SIZE_MAX, largest);
}

/* Processors of AMD with AVX2, fast string instructions and no AVX-512 (Zen 3: L1d 32 KiB, L2 512 KiB, L3 32 MiB).
 * Vectors win while both operands are in L1d, by 1.1 to 1.7, and to 3.5 KiB are not slower in no cache, either;
 * from there to L1d they are up to a seventh slower than the string instruction if both operands lie alike in their
 * lines, and up to a fifth faster if not. From half of L2 on vectors of 16 bytes are as fast as the string
 * instruction where the bytes are in a cache (which is 3 to 9 % slower than glibc's vectors there) and up to 1.2
 * times as fast where they are not, up to 5 MiB; those of 32 bytes are not. Stores past the caches win by 1.2 to 1.7 from 2 KiB
 * up where the bytes are in no cache. Wherever they are, they win from 6 MiB up if nothing is read afterwards, and
 * with a sum over what was copied from 12 MiB up. */
static void zen_3(size_t l1d, size_t l2, size_t l3, struct okosu_sizeclasses *choices)
{
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l1d / 9, &okosu_copy_row_avx2.about);
    okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], l1d / 8 * 5, &okosu_copy_row_avx2.about);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], l1d / 18, &okosu_copy_row_avx2.about);
    for (size_t use = OKOSU_COPY_ANY; use <= OKOSU_COPY_NEAR; use++) {
        okosu_sizeclass_add(&choices[use], l2 / 2, &okosu_copy_row_lately_avx2.about);
        okosu_sizeclass_add(&choices[use], l3 / 6, &okosu_copy_row_sse2.about);
        okosu_sizeclass_add(&choices[use], l3 / 3, &okosu_copy_row_rep_line.about);
        okosu_sizeclass_add(&choices[use], SIZE_MAX, &okosu_copy_row_nt_avx2.about);
    }
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], SIZE_MAX, &okosu_copy_row_nt_avx2.about);
}

/* Zen 5 where AVX-512 is hidden, with AVX2 and without. There the string instruction is
 * up to 1.75 times as fast as vectors from 24 KiB up, and in no cache 6 % faster at 3 KiB; vectors win from 3 to 16 KiB
 * in L1d, by 1.1 to 1.5. Those of SSE2 lose by 1.1 to 1.6 in no cache from 768 bytes up, and by 1.2 to 1.6 in L1d from
 * 2 KiB up. The stores past the caches of either win from 3 KiB (AVX2) and 48 KiB (SSE2) up in no cache. */
static void zen_5_without_avx512(bool avx2, size_t l1d, size_t l3,
                                 struct okosu_sizeclasses *choices)
{
    const struct okosu_variant *vector =
        avx2 ? &okosu_copy_row_avx2.about : &okosu_copy_row_sse2.about;
    const struct okosu_variant *stream =
        avx2 ? &okosu_copy_row_nt_avx2.about : &okosu_copy_row_nt_sse2.about;
    /* rep-line took two to four times as long off a line in no cache with AVX2, with SSE2 not; the reason was not found. */
    const struct okosu_variant *string =
        avx2 ? &okosu_copy_row_rep_movsb.about : &okosu_copy_row_rep_line.about;

    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], avx2 ? l1d / 24 : l1d / 32, vector);
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l3 / 2, string);
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], SIZE_MAX, stream);
    okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], avx2 ? l1d / 3 : l1d / 32, vector);
    okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], SIZE_MAX, string);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], avx2 ? l1d / 24 : l1d / 96, vector);
    if (!avx2)
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], l1d / 3 * 2, string);
    okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], SIZE_MAX, stream);
}

/* The thresholds of all others, measured on Zen 5 (L1d 48 KiB, L2 1 MiB, L3 32 MiB) and given as shares of the
 * caches: `okosu bench copy` shows what they cost elsewhere, and a profile replaces them.
 *
 * Vectors win by 1.6 to 1.8 while both operands are in L1d, and lose to the string instruction,
 * which takes whole lines without reading those that it will overwrite, where they lie beyond it: by
 * half in L2, and from 3 KiB up by up to 15 % in no cache. (Without fast short string copies it
 * begins later, as glibc has it.) So vectors serve up to half of L1d where the data is known to be
 * near, or is guessed to be. Those of SSE2 move half as much in a cycle as the string instruction does (Zen 3), and
 * lose to memory by a third.
 *
 * Stores past the caches win by 1.1 to 1.5 from 6 KiB up where the destination is in no cache, and
 * lose up to five times where it is: they serve callers that said so, and copies whose two operands
 * cannot both be in L3. */
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    const struct okosu_variant *vector = &okosu_copy_row_sse2.about;
    const struct okosu_variant *stream = &okosu_copy_row_nt_sse2.about;
    const struct okosu_variant *string = &okosu_copy_row_rep_line.about;
    size_t l1d = caches->l1d ? caches->l1d : OKOSU_COPY_L1D_AT_LEAST;
    size_t l2 = caches->l2 > L2_AT_LEAST ? caches->l2 : L2_AT_LEAST;
    size_t l3 = caches->l3 > L3_AT_LEAST ? caches->l3 : L3_AT_LEAST;
    bool widest = features & OKOSU_CPU_AVX512;
    bool avx2 = features & OKOSU_CPU_AVX2 && !(features & OKOSU_CPU_FP128);
    size_t vectors_to = l1d / 16;

    if (features & OKOSU_CPU_INTEL) {
        intel(features, l1d, choices);
        return;
    }
    if (!widest && features & OKOSU_CPU_FSRM && l2 >= OKOSU_L2_OF_ZEN_4) {
        zen_5_without_avx512(avx2, l1d, l3, choices);
        return;
    }
    if (avx2 && !widest && features & OKOSU_CPU_ERMS) {
        zen_3(l1d, l2, l3, choices);
        return;
    }
    if (avx2) {
        vector = &okosu_copy_row_avx2.about;
        stream = &okosu_copy_row_nt_avx2.about;
    }
    if (widest) {
        vector = &okosu_copy_row_avx512.about;
        stream = &okosu_copy_row_nt_avx512.about;
        vectors_to = features & OKOSU_CPU_FSRM ? l1d / 15 : l1d / 4;
    }
    if (features & OKOSU_CPU_ERMS) {
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], vectors_to, vector);
        if (widest)
            okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l1d / 2,
                                &okosu_copy_row_lately_avx512.about);
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l3 / 2, string);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], widest ? l1d / 2 : vectors_to, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], SIZE_MAX, string);
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], widest ? vectors_to : l1d / 24, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], l1d / 9, string);
    } else {
        okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], l3 / 2, vector);
        /* What no cache can hold is not left in one. */
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], l3, vector);
        okosu_sizeclass_add(&choices[OKOSU_COPY_NEAR], SIZE_MAX, stream);
        okosu_sizeclass_add(&choices[OKOSU_COPY_FAR], l1d / 9, vector);
    }
    okosu_sizeclass_add(&choices[OKOSU_COPY_ANY], SIZE_MAX, stream);
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
