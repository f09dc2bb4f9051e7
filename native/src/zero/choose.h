/* SPDX-License-Identifier: Apache-2.0 */
/* choose: the choice that the entries look at. */
#ifndef OKOSU_ZERO_CHOOSE_H
#define OKOSU_ZERO_CHOOSE_H

#include "base/sizeclass.h"
#include "copy/geometry.h"

#include <okosu/zero.h>

/* How an entry goes about it. */
struct okosu_zero_route {
    /*
     * n below this: an entry of entry_x86.S sets it by itself, as the avx512 variant does. It is
     * the first class of the choice where that is avx512's, and 0 elsewhere.
     */
    _Atomic size_t below;
    /* All other sizes that the entries do not always set by themselves. */
    _Atomic(void *(*)(void *p, int byte, size_t n)) rest;
};

/* As entry_x86.S has it. */
_Static_assert(sizeof(struct okosu_zero_route) == 2 * sizeof(size_t) &&
                   offsetof(struct okosu_zero_route, rest) == sizeof(size_t),
               "a route is two words");

extern struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES]
    __attribute__((visibility("hidden")));

/* Bytes up to which this use's entry always sets by itself, as the avx512 variant does. */
size_t okosu_zero_always(enum okosu_zero_use use);

/* The automatic choice for such a machine. */
void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses choices[OKOSU_ZERO_USES]);

#endif
