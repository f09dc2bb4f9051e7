/* SPDX-License-Identifier: Apache-2.0 */
/* select: the variants that there are, and which serves which sizes on a given machine. */
#ifndef OKOSU_COPY_SELECT_H
#define OKOSU_COPY_SELECT_H

#include "base/sizeclass.h"
#include "copy/geometry.h"

#include <okosu/copy.h>

#include <stdint.h>

/* What any machine of this build can run. */
extern const struct okosu_copy_variant *const okosu_copy_plainest;

static inline const struct okosu_copy_variant *okosu_copy_row(const struct okosu_variant *about)
{
    return (const struct okosu_copy_variant *)about;
}

/* What a parser of names and profiles must know. */
struct okosu_sizeclass_routine okosu_copy_routine(uint64_t features);
/* The automatic choice on a machine with these features and caches. */
void okosu_copy_automatic(uint64_t features, const struct okosu_caches *caches,
                          struct okosu_sizeclasses choices[OKOSU_COPY_USES]);

#endif
