/* SPDX-License-Identifier: Apache-2.0 */
/* automatic: which variant serves which sizes, by features and cache geometry. */
#include "zero/route.h"
#include "zero/rows.h"

#if defined(__x86_64__)

/* Above this size string stores win where the memory is in no cache, for they do not read it first.
 * glibc 2.36 and Linux switch at the same size, so a caller that does not know where its memory lies
 * is no worse off here than there. */
enum { STRING_FROM = 2048 };
/* On Intel's cores (Granite Rapids) vectors take up to a fifth less, hot and cold, until they end on another
 * page than they began: a store across two pages takes 25 cycles, of which the string store has none. */
enum { INTEL_STRING_FROM = 4095 };
/* There stores of 16 bytes win up to here where the memory is in no cache: 1.03 to 1.7 times. */
enum { INTEL_FAR_BY_16_TO = 512 };
/* On Intel's cores vectors win in no cache up to 5 KiB, by up to 1.3, also for a page, and stores past the caches from
 * there up (Emerald Rapids; Granite Rapids from 6 KiB up); those of 16 bytes over the string store from 6 KiB. */
enum { INTEL_STREAM_FROM = 5120, INTEL_SSE2_STREAM_FROM = 6144 };
/* Above these sizes stores past the caches win over string stores where the memory is in no cache
 * (Zen 5: lose 10 % at 6 KiB, win as much at 12), and for pages. */
enum { STREAM_FROM = 8192, CLEAR_FROM = 4096 };
/* Zen 3: at 2 KiB they lose a tenth to vectors if the memory lies on a line, at 2.5 KiB they win as much, at 6 KiB
 * they take half the time. */
enum { ZEN3_STREAM_FROM = 2304 };
/* On Zen 5 where AVX-512 is hidden the string store is as good as with it, and stores past the caches of 16 bytes are slower than it up to 16 KiB, vectors of 16 bytes from 768 bytes up. */
enum { SSE2_STREAM_FROM = 16384, SSE2_FAR_STRING_FROM = 767 };
/* The caches of a machine that does not tell their sizes. */
enum { USUAL_L2 = 256 << 10, USUAL_L3 = 8 << 20 };

/* Where the string store is used: Intel's cores, those with AVX-512 or whose like have it, and where vectors have no
 * more than 16 bytes. On Zen 3 vectors of 32 bytes are as fast as it is in no cache, 1.25 to 2.5 times as fast in L1d
 * and 1.05 to 1.1 times up to L3; and from half of L3 up stores past the caches are three times as fast as either, and with a sum over
 * what was set a fifth faster. */
void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    const struct okosu_variant *widest = &okosu_zero_row_sse2.about;
    const struct okosu_variant *streams = &okosu_zero_row_nt_sse2.about;
    const struct okosu_variant *string = NULL, *clear;
    bool erms = features & OKOSU_CPU_ERMS;
    bool intel = features & OKOSU_CPU_INTEL;
    bool avx512 = features & OKOSU_CPU_AVX512;
    bool sse2 = !(features & OKOSU_CPU_AVX2);
    size_t l2 = caches->l2 ? caches->l2 : USUAL_L2;
    bool zen4 = erms && !intel && l2 >= OKOSU_L2_OF_ZEN_4;
    bool late_streams = erms && (intel || avx512 || zen4);
    size_t string_from = intel && !sse2 ? INTEL_STRING_FROM : STRING_FROM;
    size_t far_string_from = intel && !sse2 ? INTEL_STREAM_FROM
                             : zen4 && sse2 ? SSE2_FAR_STRING_FROM
                                            : string_from;
    size_t stream_from = intel          ? (sse2 ? INTEL_SSE2_STREAM_FROM : INTEL_STREAM_FROM)
                         : zen4 && sse2 ? SSE2_STREAM_FROM
                         : late_streams ? STREAM_FROM
                                        : ZEN3_STREAM_FROM;
    size_t l3 = caches->l3 ? caches->l3 : USUAL_L3;
    size_t cached = erms ? l3 / 2 - 1 : l3;

    if (!sse2) {
        widest = intel ? &okosu_zero_row_avx2_intel.about : &okosu_zero_row_avx2.about;
        streams = &okosu_zero_row_nt_avx2.about;
    }
    if (avx512) {
        widest = intel ? &okosu_zero_row_avx512_intel.about : &okosu_zero_row_avx512.about;
        streams = &okosu_zero_row_nt_avx512.about;
    }
    if (erms && (intel || avx512 || sse2 || zen4))
        string = &okosu_zero_row_rep_stosb.about;
    clear = features & OKOSU_CPU_CLZERO ? &okosu_zero_row_clzero.about : streams;

    okosu_sizeclass_add(&choices[OKOSU_ZERO_ANY], string ? string_from : cached, widest);
    /* Vectors do not store faster to what lies beyond the second-level cache, a quarter of which is
     * left to other data; those of 16 bytes nowhere. */
    okosu_sizeclass_add(&choices[OKOSU_ZERO_NEAR],
                        string ? (intel || sse2 ? string_from : l2 / 4 * 3) : cached, widest);
    for (size_t use = OKOSU_ZERO_ANY; use <= OKOSU_ZERO_NEAR; use++) {
        if (string)
            okosu_sizeclass_add(&choices[use], late_streams ? SIZE_MAX : cached, string);
        /* What no cache can hold is not left in one. */
        if (!late_streams)
            okosu_sizeclass_add(&choices[use], SIZE_MAX, streams);
    }

    if (intel && !sse2)
        okosu_sizeclass_add(&choices[OKOSU_ZERO_FAR], INTEL_FAR_BY_16_TO,
                            &okosu_zero_row_sse2.about);
    if (avx512 && !intel)
        widest = &okosu_zero_row_avx512_once.about;
    okosu_sizeclass_add(&choices[OKOSU_ZERO_FAR], string ? far_string_from : stream_from, widest);
    if (string)
        okosu_sizeclass_add(&choices[OKOSU_ZERO_FAR], stream_from, string);
    okosu_sizeclass_add(&choices[OKOSU_ZERO_FAR], SIZE_MAX, streams);

    if (late_streams)
        okosu_sizeclass_add(&choices[OKOSU_ZERO_PAGE], CLEAR_FROM,
                            intel && !sse2 ? widest : string);
    okosu_sizeclass_add(&choices[OKOSU_ZERO_PAGE], SIZE_MAX, clear);
}

#elif defined(__aarch64__)

/* Not measured; below this size the ordinary stores to part blocks are most of the work. */
enum { BLOCKS_FROM = 255 };

void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    for (size_t use = 0; use < OKOSU_ZERO_USES; use++) {
        if (features & OKOSU_CPU_DCZVA) {
            okosu_sizeclass_add(&choices[use], BLOCKS_FROM, &okosu_zero_row_neon.about);
            okosu_sizeclass_add(&choices[use], SIZE_MAX, &okosu_zero_row_dc_zva.about);
        } else {
            okosu_sizeclass_add(&choices[use], SIZE_MAX, &okosu_zero_row_neon.about);
        }
    }
}

#else

void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices)
{
    for (size_t use = 0; use < OKOSU_ZERO_USES; use++)
        okosu_sizeclass_add(&choices[use], SIZE_MAX, &okosu_zero_row_loop8.about);
}

#endif
