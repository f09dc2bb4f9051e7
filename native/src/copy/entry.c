/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the public functions. On x86-64 each is one of a few (entry_x86.S), bound by an IFUNC
 * where the C library has them, so that a call reaches the vectors directly. Without IFUNCs the
 * public function jumps through the route's `entry`. */
#include "copy/route.h"
#include "copy/rows.h"

#if defined(__x86_64__)
#include "choose/isa.h"

#define DECLARE(isa)                                                                               \
    okosu_copy_function okosu_copy_entry_##isa##_0, okosu_copy_entry_##isa##_1,                    \
        okosu_copy_entry_##isa##_2, okosu_copy_entry_##isa##_3
#define ENTRIES(isa)                                                                               \
    {                                                                                              \
        okosu_copy_entry_##isa##_0, okosu_copy_entry_##isa##_1, okosu_copy_entry_##isa##_2,        \
            okosu_copy_entry_##isa##_3                                                             \
    }
DECLARE(sse2);
DECLARE(avx2);
DECLARE(avx512);
DECLARE(avx2_intel);
DECLARE(avx512_intel);

const struct okosu_copy_own *okosu_copy_own(size_t r)
{
    static const struct okosu_copy_own owns[] = {
        [OKOSU_ISA_SSE2] = {&okosu_copy_row_sse2, &okosu_copy_row_lately_sse2, NULL, 8 * 16,
                            ENTRIES(sse2)},
        [OKOSU_ISA_AVX2] = {&okosu_copy_row_avx2, &okosu_copy_row_lately_avx2, NULL, 16 * 32,
                            ENTRIES(avx2)},
        [OKOSU_ISA_AVX512] = {&okosu_copy_row_avx512, &okosu_copy_row_lately_avx512, NULL, 16 * 64,
                              ENTRIES(avx512)},
        [OKOSU_ISA_AVX2_INTEL] = {&okosu_copy_row_avx2_intel, NULL, &okosu_copy_row_rep_movsb,
                                  8 * 32, ENTRIES(avx2_intel)},
        [OKOSU_ISA_AVX512_INTEL] = {&okosu_copy_row_avx512_intel, NULL, &okosu_copy_row_rep_movsb,
                                    8 * 64, ENTRIES(avx512_intel)},
    };
    enum okosu_isa isa = okosu_isa_copies();

    return &owns[r == OKOSU_COPY_FAR ? okosu_isa_far(isa) : isa];
}

#if OKOSU_IFUNC
#define ENTRY(name, route)                                                                         \
    __attribute__((used)) static okosu_copy_function *resolve_##route(void)                        \
    {                                                                                              \
        enum okosu_isa isa = okosu_isa_copies();                                                   \
        return isa == OKOSU_ISA_AVX512_INTEL ? okosu_copy_entry_avx512_intel_##route               \
               : isa == OKOSU_ISA_AVX512     ? okosu_copy_entry_avx512_##route                     \
               : isa == OKOSU_ISA_AVX2_INTEL ? okosu_copy_entry_avx2_intel_##route                 \
               : isa == OKOSU_ISA_AVX2       ? okosu_copy_entry_avx2_##route                       \
                                             : okosu_copy_entry_sse2_##route;                            \
    }                                                                                              \
    void *name(void *dst, const void *src, size_t n) __attribute__((ifunc("resolve_" #route)))
#else
#define ENTRY(name, route)                                                                         \
    void *name(void *dst, const void *src, size_t n)                                               \
    {                                                                                              \
        return __atomic_load_n(&okosu_copy_routes[route].entry, __ATOMIC_ACQUIRE)(dst, src, n);    \
    }                                                                                              \
    _Static_assert(1, "")
#endif

ENTRY(okosu_copy, 0);
ENTRY(okosu_copy_near, 1);
ENTRY(okosu_copy_far, 2);
ENTRY(okosu_copy_move, 3);

#else

#define OWN OKOSU_COPY_PLAINEST
enum { ALWAYS = 8 * 16 };

static inline __attribute__((always_inline)) void *go(size_t r, void *dst, const void *src,
                                                      size_t n)
{
    if (n <= ALWAYS || n <= okosu_copy_own_limit(okosu_copy_route_limits(r)))
        return OWN.move(dst, src, n);
    return okosu_copy_route_rest(r)(dst, src, n);
}

void *okosu_copy(void *dst, const void *src, size_t n)
{
    return go(OKOSU_COPY_ANY, dst, src, n);
}

void *okosu_copy_near(void *dst, const void *src, size_t n)
{
    return go(OKOSU_COPY_NEAR, dst, src, n);
}

void *okosu_copy_far(void *dst, const void *src, size_t n)
{
    return go(OKOSU_COPY_FAR, dst, src, n);
}

void *okosu_copy_move(void *dst, const void *src, size_t n)
{
    return go(OKOSU_COPY_ROUTE_MOVE, dst, src, n);
}

const struct okosu_copy_own *okosu_copy_own(size_t r)
{
    static const struct okosu_copy_own own = {
        &OWN, NULL, NULL, ALWAYS, {okosu_copy, okosu_copy_near, okosu_copy_far, okosu_copy_move},
    };
    return &own;
}

#endif
