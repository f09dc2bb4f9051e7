/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entry: the routines that programs call. On x86-64 what is most often wanted is in them, for a
 * jump to a variant costs a cycle of the seven that a small memset takes.
 */
#include "choose.h"

#ifdef __AVX512BW__
#include "avx512.h"
#define VECTOR_SET_ONLY
#include "vector.h"

#endif

static inline __attribute__((always_inline)) void *enter(enum okosu_zero_use use, void *p, int byte,
                                                         size_t n)
{
    struct okosu_zero_route *route = &okosu_zero_routes[use];

#ifdef __AVX512BW__
    if (__builtin_expect(n < atomic_load_explicit(&route->below, memory_order_relaxed), 1))
        return vector_set(p, byte, n);
#endif
    return atomic_load_explicit(&route->rest, memory_order_relaxed)(p, byte, n);
}

#define ALIGNED __attribute__((aligned(64)))

ALIGNED void *okosu_set(void *p, int byte, size_t n)
{
    return enter(OKOSU_ZERO_ANY, p, byte, n);
}

ALIGNED void *okosu_set_near(void *p, int byte, size_t n)
{
    return enter(OKOSU_ZERO_NEAR, p, byte, n);
}

ALIGNED void *okosu_set_far(void *p, int byte, size_t n)
{
    return enter(OKOSU_ZERO_FAR, p, byte, n);
}

ALIGNED void *okosu_zero(void *p, size_t n)
{
    return enter(OKOSU_ZERO_ANY, p, 0, n);
}

ALIGNED void *okosu_zero_near(void *p, size_t n)
{
    return enter(OKOSU_ZERO_NEAR, p, 0, n);
}

ALIGNED void *okosu_zero_far(void *p, size_t n)
{
    return enter(OKOSU_ZERO_FAR, p, 0, n);
}

void okosu_zero_page(void *page, size_t bytes)
{
    atomic_load_explicit(&okosu_zero_routes[OKOSU_ZERO_PAGE].rest, memory_order_relaxed)(page, 0,
                                                                                         bytes);
}
