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

const struct okosu_variant *okosu_zero_own(void)
{
    enum okosu_isa isa = okosu_isa_sets();

    return isa == OKOSU_ISA_AVX512_INTEL ? &okosu_zero_row_avx512_intel.about
           : isa == OKOSU_ISA_AVX512     ? &okosu_zero_row_avx512.about
           : isa == OKOSU_ISA_AVX2_INTEL ? &okosu_zero_row_avx2_intel.about
           : isa == OKOSU_ISA_AVX2       ? &okosu_zero_row_avx2.about
                                         : &okosu_zero_row_sse2.about;
}

const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to)
{
    static const size_t eight_vectors[] = {[OKOSU_ISA_SSE2] = 128,
                                           [OKOSU_ISA_AVX2] = 256,
                                           [OKOSU_ISA_AVX2_INTEL] = 256,
                                           [OKOSU_ISA_AVX512_INTEL] = 512,
                                           [OKOSU_ISA_AVX512] = 512};

    if (use == OKOSU_ZERO_PAGE)
        return NULL;
    *up_to = eight_vectors[okosu_isa_sets()];
    return okosu_zero_own();
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

const struct okosu_variant *okosu_zero_own(void)
{
    return NULL;
}

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
