/* SPDX-License-Identifier: Apache-2.0 */
/* choose: which variant of a routine serves which use and size: by the name that a program or its
 * user forces, by a measured profile, or else by CPU features and cache sizes.
 *
 * It knows no routine and no variant. An area (copy, zero) defines one struct okosu_choose, calls
 * okosu_choose_begin() at its first call, and finds what serves n bytes in `live`. An area without
 * size classes (vec) takes from here the look-up by name and by features. */
#pragma once

#include "choose/caches.h"
#include "choose/routine.h"
#include "choose/sizeclass.h"

#include <okosu/variant.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most uses of one area: any, near, far, page. */
enum { OKOSU_CHOOSE_USES = 4 };

struct okosu_choose {
    /* The choice in force, for the area to read once okosu_choose_begin() has returned true. */
    _Alignas(64) struct okosu_sizeclass_live live[OKOSU_CHOOSE_USES];

    /* What the area says of itself. */
    const struct okosu_variant *const *table; /* NULL-ended */
    const char *const *sections;              /* of a profile, one for each use, NULL-ended */
    size_t uses;
    const char *variable, *profile_variable; /* of the environment: OKOSU_COPY=NAME */
    /* Append to each use's classes the automatic choice of a machine with these features and
     * caches. */
    void (*automatic)(uint64_t features, const struct okosu_caches *caches,
                      struct okosu_sizeclasses *choices);
    /* Called when the choice is in `live`: bring the routes of the area's entries in line with
     * it. */
    void (*published)(const struct okosu_sizeclasses *choices);
    /* The variant that the entry of this use takes for sizes of at most *up_to bytes, whatever is
     * chosen; NULL: there is no such size. */
    const struct okosu_variant *(*always)(size_t use, size_t *up_to);

    /* Held while the choice is made or changed; what follows belongs to its holder. */
    atomic_flag changing;
    bool decided;
    int state; /* whether the environment's name or profile was taken: 0, or -errno with the reason */
    struct okosu_reason reason;
};

/* Make the choice unless there is one. False: another thread, or this one further up its stack, is
 * making it. Never waits, allocates nothing and leaves errno alone, for a program's first memcpy or
 * memset may come from anywhere: malloc with its lock held, a signal handler, the choosing itself.
 */
bool okosu_choose_begin(struct okosu_choose *choose);

/* These do what okosu/copy.h and okosu/zero.h say of okosu_copy_force() and its like. They wait
 * while another thread makes or changes the choice. */
int okosu_choose_force(struct okosu_choose *choose, const char *name);
int okosu_choose_profile(struct okosu_choose *choose, const char *path,
                         struct okosu_reason *reason);
int okosu_choose_state(struct okosu_choose *choose, struct okosu_reason *reason);
const struct okosu_variant *okosu_choose_chosen(struct okosu_choose *choose, size_t use, size_t n);
/* Fills `classes`, that of the `always` sizes included, and returns how many there are. */
enum { OKOSU_CHOOSE_CLASSES = OKOSU_SIZECLASS_MOST + 1 };
size_t okosu_choose_classes(struct okosu_choose *choose, size_t use,
                            struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES]);

/* The public functions of an area, whose chooser is `choose` and whose tables were generated. */
#define OKOSU_CHOOSE_FUNCTIONS(area)                                                               \
    static inline const struct okosu_##area##_variant *row(const struct okosu_variant *about)      \
    {                                                                                              \
        return (const struct okosu_##area##_variant *)about;                                       \
    }                                                                                              \
    const struct okosu_##area##_variant *const *okosu_##area##_table(void)                         \
    {                                                                                              \
        return okosu_##area##_rows;                                                                \
    }                                                                                              \
    int okosu_##area##_force(const char *name)                                                     \
    {                                                                                              \
        return okosu_choose_force(&choose, name);                                                  \
    }                                                                                              \
    int okosu_##area##_profile_explained(const char *path, struct okosu_reason *reason)            \
    {                                                                                              \
        return okosu_choose_profile(&choose, path, reason);                                        \
    }                                                                                              \
    int okosu_##area##_profile(const char *path)                                                   \
    {                                                                                              \
        return okosu_choose_profile(&choose, path, NULL);                                          \
    }                                                                                              \
    int okosu_##area##_state(struct okosu_reason *reason)                                          \
    {                                                                                              \
        return okosu_choose_state(&choose, reason);                                                \
    }                                                                                              \
    const struct okosu_##area##_variant *okosu_##area##_chosen(enum okosu_##area##_use use,        \
                                                               size_t n)                           \
    {                                                                                              \
        return row(okosu_choose_chosen(&choose, use, n));                                          \
    }                                                                                              \
    size_t okosu_##area##_choice(enum okosu_##area##_use use,                                      \
                                 struct okosu_##area##_class classes[OKOSU_CHOOSE_CLASSES])        \
    {                                                                                              \
        struct okosu_sizeclass found[OKOSU_CHOOSE_CLASSES];                                        \
        size_t count = okosu_choose_classes(&choose, use, found);                                  \
        for (size_t i = 0; i < count; i++)                                                         \
            classes[i] = (struct okosu_##area##_class){found[i].up_to, row(found[i].variant)};     \
        return count;                                                                              \
    }
