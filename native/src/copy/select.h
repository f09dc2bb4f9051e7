/* SPDX-License-Identifier: Apache-2.0 */
/* select: the choice of a variant for each size class of each use. */
#ifndef OKOSU_COPY_SELECT_H
#define OKOSU_COPY_SELECT_H

#include "copy/geometry.h"

#include <okosu/copy.h>

#include <stdint.h>

struct okosu_copy_plan {
    size_t count[OKOSU_COPY_USES];
    struct okosu_copy_class classes[OKOSU_COPY_USES][OKOSU_COPY_CLASSES];
};

/* What any machine of this build can run, for overlapping ranges too. */
extern const struct okosu_copy_variant *const okosu_copy_always;
/* Whether up to OKOSU_COPY_SMALL bytes it does what okosu_copy_small() does. */
bool okosu_copy_is_vector(const struct okosu_copy_variant *variant);
bool okosu_copy_possible(const struct okosu_copy_variant *variant, uint64_t features);
/* The variant whose name these bytes are. 0, -ENOENT, or -ENOTSUP with these features; then
 * `reason` is filled. */
int okosu_copy_named(const char *name, size_t length, uint64_t features,
                     const struct okosu_copy_variant **variant, struct okosu_copy_reason *reason);

/* The automatic choice on a machine with these features and caches. */
void okosu_copy_plan_automatic(struct okosu_copy_plan *plan, uint64_t features,
                               const struct okosu_caches *caches);
/* One variant for all. */
void okosu_copy_plan_one(struct okosu_copy_plan *plan, const struct okosu_copy_variant *variant);
/*
 * What the text of a profile says, over the automatic choice that *plan holds. 0 or -errno with
 * `reason` filled and *plan in disorder. `path` is named in the reason only.
 */
int okosu_copy_plan_parse(struct okosu_copy_plan *plan, const char *path, const char *text,
                          size_t length, uint64_t features, struct okosu_copy_reason *reason);
/* The same from a file. */
int okosu_copy_plan_read(struct okosu_copy_plan *plan, const char *path, uint64_t features,
                         struct okosu_copy_reason *reason);

/* Fill the reason where it is not NULL; `what` is a format. Returns status. */
int okosu_copy_refuse(struct okosu_copy_reason *reason, int status, const char *why,
                      const char *fix, const char *what, ...) __attribute__((format(printf, 5, 6)));

#endif
