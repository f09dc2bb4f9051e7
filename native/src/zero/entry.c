/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the public functions. On x86-64 they are those of the machine's widest vectors (entry_x86.S
 * and vector.h), bound by an IFUNC where the C library has them; otherwise each jumps to what was
 * chosen. */
#include "zero/route.h"

#if defined(__x86_64__) && OKOSU_IFUNC
#include "choose/isa.h"
#include "zero/rows.h"

#define PUBLIC(name, type, stem, r)                                                                \
    __attribute__((visibility("hidden"))) type stem##_avx512_##r, stem##_avx512_intel_##r,         \
        stem##_avx2_intel_##r, stem##_avx2_##r, stem##_sse2_##r;                                   \
    __attribute__((used)) static type *resolve_##name(void)                                        \
    {                                                                                              \
        enum okosu_isa isa = okosu_isa_sets();                                                     \
        return isa == OKOSU_ISA_AVX512_INTEL ? stem##_avx512_intel_##r                             \
               : isa == OKOSU_ISA_AVX512     ? stem##_avx512_##r                                   \
               : isa == OKOSU_ISA_AVX2_INTEL ? stem##_avx2_intel_##r                               \
               : isa == OKOSU_ISA_AVX2       ? stem##_avx2_##r                                     \
                                             : stem##_sse2_##r;                                          \
    }                                                                                              \
    __attribute__((ifunc("resolve_" #name))) type name
#define SET(name, r) PUBLIC(name, okosu_zero_set, okosu_set, r)
#define ZERO(name, r) PUBLIC(name, okosu_zero_clear, okosu_zero, r)

const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to)
{
    static const struct {
        const struct okosu_zero_variant *variant;
        size_t eight_vectors;
    } owns[] = {
        [OKOSU_ISA_SSE2] = {&okosu_zero_row_sse2, 128},
        [OKOSU_ISA_AVX2] = {&okosu_zero_row_avx2, 256},
        [OKOSU_ISA_AVX512] = {&okosu_zero_row_avx512, 512},
        [OKOSU_ISA_AVX2_INTEL] = {&okosu_zero_row_avx2_intel, 256},
        [OKOSU_ISA_AVX512_INTEL] = {&okosu_zero_row_avx512_intel, 512},
    };
    enum okosu_isa isa = okosu_isa_sets();

    if (use == OKOSU_ZERO_PAGE)
        return NULL;
    if (use == OKOSU_ZERO_FAR)
        isa = okosu_isa_far(isa);
    *up_to = owns[isa].eight_vectors;
    if (use == OKOSU_ZERO_FAR && isa == OKOSU_ISA_AVX512)
        return &okosu_zero_row_avx512_once.about;
    return &owns[isa].variant->about;
}

#else
#define SET(name, r)                                                                               \
    void *name(void *p, int byte, size_t n)                                                        \
    {                                                                                              \
        return okosu_zero_route_rest(r)(p, byte, n);                                               \
    }                                                                                              \
    _Static_assert(1, "")
#define ZERO(name, r)                                                                              \
    void *name(void *p, size_t n)                                                                  \
    {                                                                                              \
        return okosu_zero_route_rest(r)(p, 0, n);                                                  \
    }                                                                                              \
    _Static_assert(1, "")

const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to)
{
    return NULL;
}
#endif

SET(okosu_set, 0);
SET(okosu_set_near, 1);
SET(okosu_set_far, 2);
ZERO(okosu_zero, 0);
ZERO(okosu_zero_near, 1);
ZERO(okosu_zero_far, 2);

void okosu_zero_page(void *page, size_t bytes)
{
    okosu_zero_route_rest(OKOSU_ZERO_PAGE)(page, 0, bytes);
}
