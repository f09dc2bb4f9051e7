/* SPDX-License-Identifier: Apache-2.0 */
/* route: what the public entries read at each call. */
#pragma once

#include "choose/choose.h"

#include <okosu/copy.h>

/* okosu_copy_move has a route of its own, after those of enum okosu_copy_use. */
enum { OKOSU_COPY_ROUTE_MOVE = OKOSU_COPY_USES, OKOSU_COPY_ROUTES };

/* An entry always makes copies of up to `always` bytes (below) itself, and larger ones of up to
 * okosu_copy_own_limit(limits) bytes; those of up to okosu_copy_second_limit(limits) it makes as its
 * second variant does (below), and it leaves the others to `rest`. The members may change one by one
 * while other threads copy, because every function that they can name copies any size.
 *
 * Both limits are one word, because a load waits for earlier stores with the same low bits of their
 * addresses, of which a long copy leaves many: each further load took a copy of 4 KiB ten cycles. */
struct okosu_copy_route {
    /* 0 until the choice is made, then at least `always`. No route lies across two lines. */
    _Alignas(32) uint64_t limits;
    okosu_copy_function *rest;
    okosu_copy_function *entry; /* where there is no IFUNC: what the public function jumps to */
};

/* entry_x86.S relies on this layout. */
_Static_assert(sizeof(void *) != 8 || (sizeof(struct okosu_copy_route) == 32 &&
                                       offsetof(struct okosu_copy_route, limits) == 0),
               "a route is four words, the limits first");

static inline uint64_t okosu_copy_limits(size_t own, size_t second)
{
    return (own < UINT32_MAX ? own : UINT32_MAX) |
           (uint64_t)(second < UINT32_MAX ? second : UINT32_MAX) << 32;
}

static inline size_t okosu_copy_own_limit(uint64_t limits)
{
    return (uint32_t)limits;
}

static inline size_t okosu_copy_second_limit(uint64_t limits)
{
    return (size_t)(limits >> 32);
}

extern struct okosu_copy_route okosu_copy_routes[OKOSU_COPY_ROUTES]
    __attribute__((visibility("hidden")));

static inline uint64_t okosu_copy_route_limits(size_t r)
{
    return __atomic_load_n(&okosu_copy_routes[r].limits, __ATOMIC_RELAXED);
}

static inline okosu_copy_function *okosu_copy_route_rest(size_t r)
{
    return __atomic_load_n(&okosu_copy_routes[r].rest, __ATOMIC_ACQUIRE);
}

#if defined(__x86_64__)
#define OKOSU_COPY_DECLARE(isa)                                                                    \
    extern okosu_copy_function okosu_copy_beyond_##isa##_0, okosu_copy_beyond_##isa##_1,           \
        okosu_copy_beyond_##isa##_2, okosu_copy_beyond_##isa##_3
OKOSU_COPY_DECLARE(sse2);
OKOSU_COPY_DECLARE(avx2);
OKOSU_COPY_DECLARE(avx512);
#undef OKOSU_COPY_DECLARE
#endif

/* The entries of this machine: those of its widest vectors, or the ones that suit the route better. */
struct okosu_copy_own {
    const struct okosu_copy_variant *variant; /* what they do by themselves */
    const struct okosu_copy_variant *lately;  /* okosu_copy's second variant, or NULL */
    const struct okosu_copy_variant *string;  /* that of all entries but okosu_copy_move, or NULL */
    size_t always;                            /* bytes: the variant's, whatever is chosen */
    okosu_copy_function *entries[OKOSU_COPY_ROUTES];
};
const struct okosu_copy_own *okosu_copy_own(size_t r);

/* The automatic choice on a machine with these features and caches: appends to each use's classes. */
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices);
