/* SPDX-License-Identifier: Apache-2.0 */
/* route: what the public entries read at each call. */
#pragma once

#include "choose/choose.h"

#include <okosu/copy.h>

/* okosu_copy_move has a route of its own, after those of enum okosu_copy_use. */
enum { OKOSU_COPY_ROUTE_MOVE = OKOSU_COPY_USES, OKOSU_COPY_ROUTES };

/* An entry always makes copies of at most eight of its vectors itself, and larger ones of up to
 * `up_to_own` bytes; it leaves the others to `rest`. The members may change one by one while other
 * threads copy, because every function that they can name copies any size. */
struct okosu_copy_route {
    size_t up_to_own; /* bytes; 0 until the choice is made */
    okosu_copy_function *rest;
    okosu_copy_function *entry; /* where there is no IFUNC: what the public function jumps to */
};

extern struct okosu_copy_route okosu_copy_routes[OKOSU_COPY_ROUTES];

static inline size_t okosu_copy_route_up_to_own(size_t r)
{
    return __atomic_load_n(&okosu_copy_routes[r].up_to_own, __ATOMIC_RELAXED);
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

/* The entries of this machine: those of its widest vectors. */
struct okosu_copy_own {
    const struct okosu_copy_variant *variant; /* what they do by themselves */
    size_t always;                            /* bytes of eight vectors */
    okosu_copy_function *entries[OKOSU_COPY_ROUTES];
};
const struct okosu_copy_own *okosu_copy_own(void);

/* The automatic choice on a machine with these features and caches: appends to each use's classes. */
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices);
