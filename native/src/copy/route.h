/* SPDX-License-Identifier: Apache-2.0 */
/* route: what the entries go by, in C and in assembly (entry_x86.S has these offsets as numbers).
 */
#ifndef OKOSU_COPY_ROUTE_H
#define OKOSU_COPY_ROUTE_H

#include <okosu/copy.h>

/* okosu_copy_move has a route of its own, after those of enum okosu_copy_use. */
enum { OKOSU_COPY_ROUTE_MOVE = OKOSU_COPY_USES, OKOSU_COPY_ROUTES };

/*
 * Up to `up_to_short` bytes (which is what four vectors of the entry's hold, or 0) and up to
 * `up_to_own` the entry copies on its own; beyond, `rest` does. Both are 0 until the choice is
 * made, and while the smallest sizes are another variant's. The members change one by one while
 * other threads copy, which does no harm: every function here copies anything.
 */
struct okosu_copy_route {
    size_t up_to_short, up_to_own;
    okosu_copy_function *rest;
    okosu_copy_function *entry; /* where there is no IFUNC: what the public function jumps to */
};

/* The entries of this machine: those of its widest vectors. */
struct okosu_copy_own {
    const struct okosu_copy_variant *variant; /* what they do up to up_to_own */
    size_t up_to_short;
    okosu_copy_function *entries[OKOSU_COPY_ROUTES];
};
const struct okosu_copy_own *okosu_copy_own(void);

extern struct okosu_copy_route okosu_copy_routes[OKOSU_COPY_ROUTES];

#endif
