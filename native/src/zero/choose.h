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
     * n below this: the entry's own inline code, which is the avx512 variant, serves it. It is the
     * first class of the choice where that is avx512's, and 0 elsewhere, so that this one
     * comparison is also the test whether this CPU has the instructions.
     */
    _Atomic size_t below;
    /* All other sizes, and until the choice is made every size. */
    _Atomic(void *(*)(void *p, int byte, size_t n)) rest;
};

extern struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES]
    __attribute__((visibility("hidden")));

/* The automatic choice for such a machine. */
void okosu_zero_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses choices[OKOSU_ZERO_USES]);

#endif
