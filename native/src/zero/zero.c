/* SPDX-License-Identifier: Apache-2.0 */
/* zero: the chooser's sets, and what lies between it and the public entries, which are in entry.c
 * and entry_x86.S. */
#include "choose/choose.h"
#include "zero/route.h"
#include "zero/rows.h"

_Static_assert(offsetof(struct okosu_zero_variant, about) == 0, "a row is found by its about");

static void publish_routes(const struct okosu_sizeclasses *choices);

static const char *const sections[] = {"", "near", "far", "page", NULL};
static struct okosu_choose choose = {
    .table = okosu_zero_row_names,
    .sections = sections,
    .uses = OKOSU_ZERO_USES,
    .variable = "OKOSU_ZERO",
    .profile_variable = "OKOSU_ZERO_PROFILE",
    .automatic = okosu_zero_automatic,
    .published = publish_routes,
    .always = okosu_zero_always,
    .changing = ATOMIC_FLAG_INIT,
};

OKOSU_CHOOSE_FUNCTIONS(zero)

static inline void *walk(enum okosu_zero_use use, void *p, int byte, size_t n)
{
    return row(okosu_sizeclass_find(&choose.live[use], n))->set(p, byte, n);
}

/* Each use has two functions: walk_ finds the class of a size; begin_ stands in its place until the
 * first set has made a choice. A thread that sets while another makes the choice does not wait, but
 * takes the plainest variant. */
#define USE(name, use)                                                                             \
    static void *walk_##name(void *p, int byte, size_t n)                                          \
    {                                                                                              \
        return walk(use, p, byte, n);                                                              \
    }                                                                                              \
    static void *begin_##name(void *p, int byte, size_t n)                                         \
    {                                                                                              \
        if (!okosu_choose_begin(&choose))                                                          \
            return okosu_zero_row_loop8.set(p, byte, n);                                           \
        return walk(use, p, byte, n);                                                              \
    }

USE(any, OKOSU_ZERO_ANY)
USE(near, OKOSU_ZERO_NEAR)
USE(far, OKOSU_ZERO_FAR)
USE(page, OKOSU_ZERO_PAGE)

struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES] = {
    [OKOSU_ZERO_ANY] = {.rest = begin_any},
    [OKOSU_ZERO_NEAR] = {.rest = begin_near},
    [OKOSU_ZERO_FAR] = {.rest = begin_far},
    [OKOSU_ZERO_PAGE] = {.rest = begin_page},
};

static void publish_routes(const struct okosu_sizeclasses *choices)
{
    static void *(*const walks[OKOSU_ZERO_USES])(void *, int, size_t) = {walk_any, walk_near,
                                                                         walk_far, walk_page};

    for (size_t use = 0; use < OKOSU_ZERO_USES; use++) {
        const struct okosu_sizeclasses *choice = &choices[use];
        struct okosu_zero_route *route = &okosu_zero_routes[use];
        size_t below = 0, classes = choice->count, always = 0;
        const struct okosu_variant *own = okosu_zero_always(use, &always);

        if (own && choice->at[0].variant == own) {
            below = choice->at[0].up_to;
            below += below < SIZE_MAX;
            classes -= classes > 1;
        }
        if (own && below <= always)
            below = always + 1;
        /* The rest is often one class, which needs no search. */
        atomic_store_explicit(&route->rest,
                              classes == 1 ? row(choice->at[choice->count - 1].variant)->set
                                           : walks[use],
                              memory_order_release);
        atomic_store_explicit(&route->below, below, memory_order_release);
    }
}
