/* SPDX-License-Identifier: Apache-2.0 */
/* route: what the entries look at. */
#pragma once

#include "choose/choose.h"

#include <okosu/zero.h>

struct okosu_zero_route {
    /* An entry of entry_x86.S sets sizes below this by itself, as the avx512 variant does. It is
     * the bound of the first class of the choice if that class is avx512's, and 0 otherwise. */
    _Atomic size_t below;
    /* Sets all other sizes. */
    _Atomic(void *(*)(void *p, int byte, size_t n)) rest;
};

/* entry_x86.S relies on this layout. */
_Static_assert(sizeof(struct okosu_zero_route) == 2 * sizeof(size_t) &&
                   offsetof(struct okosu_zero_route, rest) == sizeof(size_t),
               "a route is two words");

extern struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES]
    __attribute__((visibility("hidden")));

/* The variant that this use's entry always takes for sizes of at most *up_to bytes, whatever is
 * chosen; NULL: there is no such size. */
const struct okosu_variant *okosu_zero_always(size_t use, size_t *up_to);

/* The automatic choice on a machine with these features and caches: appends to each use's classes. */
void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses *choices);
