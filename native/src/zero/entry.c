/* SPDX-License-Identifier: Apache-2.0 */
/* entry: the public functions. On x86-64 with AVX-512 they are those of entry_x86.S, bound by an
 * IFUNC where the C library has them; otherwise each jumps to what was chosen. */
#include "zero/route.h"

#if defined(__x86_64__) && OKOSU_IFUNC
#include "choose/isa.h"
#include "zero/rows.h"

#define PLAIN(name) plain_##name
#define PUBLIC(name, type, wide)                                                                   \
    __attribute__((visibility("hidden"))) type wide;                                               \
    __attribute__((used)) static type *resolve_##name(void)                                        \
    {                                                                                              \
        return okosu_isa_here() == OKOSU_ISA_AVX512 ? wide : plain_##name;                         \
    }                                                                                              \
    __attribute__((ifunc("resolve_" #name))) type name
#define SCOPE static

const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to)
{
    if (use == OKOSU_ZERO_PAGE || okosu_isa_here() != OKOSU_ISA_AVX512)
        return NULL;
    *up_to = 512;
    return &okosu_zero_row_avx512.about;
}

#else
#define PLAIN(name) name
#define PUBLIC(name, type, wide) _Static_assert(1, "")
#define SCOPE

const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to)
{
    return NULL;
}
#endif

typedef void *set_function(void *p, int byte, size_t n);
typedef void *zero_function(void *p, size_t n);

static inline __attribute__((always_inline)) void *enter(enum okosu_zero_use use, void *p, int byte,
                                                         size_t n)
{
    return atomic_load_explicit(&okosu_zero_routes[use].rest, memory_order_relaxed)(p, byte, n);
}

#define SET(name, use, wide)                                                                       \
    SCOPE void *PLAIN(name)(void *p, int byte, size_t n)                                           \
    {                                                                                              \
        return enter(use, p, byte, n);                                                             \
    }                                                                                              \
    PUBLIC(name, set_function, wide)
#define ZERO(name, use, wide)                                                                      \
    SCOPE void *PLAIN(name)(void *p, size_t n)                                                     \
    {                                                                                              \
        return enter(use, p, 0, n);                                                                \
    }                                                                                              \
    PUBLIC(name, zero_function, wide)

SET(okosu_set, OKOSU_ZERO_ANY, okosu_set_avx512_0);
SET(okosu_set_near, OKOSU_ZERO_NEAR, okosu_set_avx512_1);
SET(okosu_set_far, OKOSU_ZERO_FAR, okosu_set_avx512_2);
ZERO(okosu_zero, OKOSU_ZERO_ANY, okosu_zero_avx512_0);
ZERO(okosu_zero_near, OKOSU_ZERO_NEAR, okosu_zero_avx512_1);
ZERO(okosu_zero_far, OKOSU_ZERO_FAR, okosu_zero_avx512_2);

void okosu_zero_page(void *page, size_t bytes)
{
    enter(OKOSU_ZERO_PAGE, page, 0, bytes);
}
