/* SPDX-License-Identifier: Apache-2.0 */
/* route: what the entries look at. */
#pragma once

#include "choose/choose.h"

#include <okosu/zero.h>

/* What the public functions are. */
typedef void *okosu_zero_set(void *p, int byte, size_t n);
typedef void *okosu_zero_clear(void *p, size_t n);

struct okosu_zero_route {
    /* An entry sets sizes below this by itself, and those of up to eight vectors always, as the
     * variant of the machine's widest vectors does. It is the bound of the first class of the choice
     * if that class is this variant's, and 0 otherwise. */
    _Atomic size_t below;
    /* Sets all other sizes. */
    _Atomic(void *(*)(void *p, int byte, size_t n)) rest;
};

/* entry_x86.S relies on this layout. */
_Static_assert(sizeof(struct okosu_zero_route) == 2 * sizeof(size_t) &&
                   offsetof(struct okosu_zero_route, rest) == sizeof(size_t),
               "a route is two words");

/* In the order of enum okosu_zero_use, whose numbers the names of the entries end with. */
extern struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES]
    __attribute__((visibility("hidden")));

static inline size_t okosu_zero_route_below(size_t use)
{
    return atomic_load_explicit(&okosu_zero_routes[use].below, memory_order_relaxed);
}

static inline void *(*okosu_zero_route_rest(size_t use))(void *p, int byte, size_t n)
{
    return atomic_load_explicit(&okosu_zero_routes[use].rest, memory_order_relaxed);
}

/* The variant that this use's entry is, always for sizes of at most *up_to bytes, whatever is chosen; NULL:
 * the public function looks at the choice for every size. */
const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to);

/* The automatic choice on a machine with these features and caches: appends to each use's classes. */
void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices);
