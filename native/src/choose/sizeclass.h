/* SPDX-License-Identifier: Apache-2.0 */
/* sizeclass: which variant of a routine serves which sizes, and the files that say so. */
#pragma once

#include <okosu/variant.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { OKOSU_SIZECLASS_MOST = 16 };

/* Sizes above the class before and of at most up_to bytes are `variant`'s. */
struct okosu_sizeclass {
    size_t up_to;
    const struct okosu_variant *variant;
};

/* In rising order; the last one's up_to is SIZE_MAX. */
struct okosu_sizeclasses {
    size_t count;
    struct okosu_sizeclass at[OKOSU_SIZECLASS_MOST];
};

/* Classes that are read while another thread writes them. Every variant is right for every size, so
 * a reader that sees some classes of the old choice and some of the new still gets a right result,
 * and no lock or allocation is needed. */
struct okosu_sizeclass_live {
    struct okosu_sizeclass_atomic {
        _Atomic size_t up_to;
        _Atomic(const struct okosu_variant *) variant;
    } at[OKOSU_SIZECLASS_MOST];
};

/* To be called only after the first okosu_sizeclass_publish(). */
static inline const struct okosu_variant *
okosu_sizeclass_find(const struct okosu_sizeclass_live *live, size_t n)
{
    const struct okosu_sizeclass_atomic *class = live->at;

    while (n > atomic_load_explicit(&class->up_to, memory_order_acquire))
        class ++;
    return atomic_load_explicit(&class->variant, memory_order_acquire);
}

/* `classes` has at least one, and its last one's up_to is SIZE_MAX. */
void okosu_sizeclass_publish(struct okosu_sizeclass_live *live,
                             const struct okosu_sizeclasses *classes);

/* Append a class; one that would be empty is left out. */
void okosu_sizeclass_add(struct okosu_sizeclasses *classes, size_t up_to,
                         const struct okosu_variant *variant);

/* What the parser must know of a routine. */
struct okosu_sizeclass_routine {
    const struct okosu_variant *const *table; /* NULL-ended */
    uint64_t features;                        /* OKOSU_CPU_... that this machine has */
    const char *const *sections; /* names of [section] lines, NULL-ended; the first is "" */
};

/* Read a profile: lines `UP-TO VARIANT`, UP-TO in bytes and rising, the last of each section
 * `max VARIANT`; `[SECTION]` begins another, # a comment. Fills choices[i] for section i and leaves
 * count 0 for one without lines. 0, or -errno of open and read, -EINVAL, -ENOENT, -ENOTSUP.
 * Allocates nothing, for it may run inside the first memset of a program. */
int okosu_sizeclass_profile(const struct okosu_sizeclass_routine *routine, const char *path,
                            struct okosu_sizeclasses *choices, struct okosu_reason *reason);
/* The same from text, which it modifies. */
int okosu_sizeclass_parse(const struct okosu_sizeclass_routine *routine, const char *path,
                          char *text, struct okosu_sizeclasses *choices,
                          struct okosu_reason *reason);
