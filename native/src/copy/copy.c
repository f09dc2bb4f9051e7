/* SPDX-License-Identifier: Apache-2.0 */
/* copy: the chooser's copies, and what lies between it and the public entries, which are in entry.c
 * and entry_x86.S. */
#include "choose/choose.h"
#include "copy/lately.h"
#include "copy/route.h"
#include "copy/rows.h"

_Static_assert(offsetof(struct okosu_copy_variant, about) == 0, "a row is found by its about");

static void publish_routes(const struct okosu_sizeclasses *choices);
static const struct okosu_variant *always(size_t use, size_t *up_to);

static const char *const sections[] = {"", "near", "far", NULL};
static struct okosu_choose choose = {
    .table = okosu_copy_row_names,
    .sections = sections,
    .uses = OKOSU_COPY_USES,
    .variable = "OKOSU_COPY",
    .profile_variable = "OKOSU_COPY_PROFILE",
    .automatic = okosu_copy_automatic,
    .published = publish_routes,
    .always = always,
    .changing = ATOMIC_FLAG_INIT,
};

OKOSU_CHOOSE_FUNCTIONS(copy)

static inline const struct okosu_copy_variant *find(enum okosu_copy_use use, size_t n)
{
    return row(okosu_sizeclass_find(&choose.live[use], n));
}

/* Each route has two functions: rest_ makes the copies that the entry leaves to the choice; begin_
 * stands in its place until the first copy has made a choice. A thread that copies while another
 * makes the choice does not wait, but takes the plainest variant. */
#define ROUTE(name, route, use, member)                                                            \
    static void *rest_##name(void *dst, const void *src, size_t n)                                 \
    {                                                                                              \
        return find(use, n)->member(dst, src, n);                                                  \
    }                                                                                              \
    static void *begin_##name(void *dst, const void *src, size_t n)                                \
    {                                                                                              \
        if (!okosu_choose_begin(&choose))                                                          \
            return OKOSU_COPY_PLAINEST.move(dst, src, n);                                          \
        return okosu_copy_route_rest(route)(dst, src, n);                                          \
    }

ROUTE(any, OKOSU_COPY_ANY, OKOSU_COPY_ANY, copy)
ROUTE(near, OKOSU_COPY_NEAR, OKOSU_COPY_NEAR, copy)
ROUTE(far, OKOSU_COPY_FAR, OKOSU_COPY_FAR, copy)
ROUTE(move, OKOSU_COPY_ROUTE_MOVE, OKOSU_COPY_ANY, move)

struct okosu_copy_route okosu_copy_routes[OKOSU_COPY_ROUTES] = {
    [OKOSU_COPY_ANY] = {.rest = begin_any, .entry = begin_any},
    [OKOSU_COPY_NEAR] = {.rest = begin_near, .entry = begin_near},
    [OKOSU_COPY_FAR] = {.rest = begin_far, .entry = begin_far},
    [OKOSU_COPY_ROUTE_MOVE] = {.rest = begin_move, .entry = begin_move},
};

#define WRITE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)

/* What the entry of route `r` does by itself of this choice: sizes of its own variant, and then of its
 * second one. */
static uint64_t limits(size_t r, const struct okosu_sizeclasses *choice,
                       const struct okosu_copy_own *own)
{
    const struct okosu_sizeclass *first = &choice->at[0];
    const struct okosu_variant *second = choice->count > 1 ? first[1].variant : NULL;
    size_t up_to = first->up_to > own->always ? first->up_to : own->always;

    if (first->variant != &own->variant->about)
        return okosu_copy_limits(own->always, 0);
    if (r == OKOSU_COPY_ANY && own->lately && second == &own->lately->about) {
        size_t most = okosu_copy_lately_most();

        return okosu_copy_limits(up_to, first[1].up_to < most ? first[1].up_to : most);
    }
    if (r != OKOSU_COPY_ROUTE_MOVE && own->string && second == &own->string->about)
        return okosu_copy_limits(up_to, first[1].up_to);
    return okosu_copy_limits(up_to, 0);
}

/* What makes all copies above both limits: the last variant where it is the only one, for which no class
 * has to be searched; else `search`. */
static okosu_copy_function *alone(const struct okosu_sizeclasses *choice, uint64_t limits,
                                  bool move, okosu_copy_function *search)
{
    size_t own = okosu_copy_own_limit(limits), second = okosu_copy_second_limit(limits);
    size_t limit = own > second ? own : second;
    const struct okosu_copy_variant *last = row(choice->at[choice->count - 1].variant);

    if (choice->count > 1 && choice->at[choice->count - 2].up_to > limit)
        return search;
    return move ? last->move : last->copy;
}

static void publish_routes(const struct okosu_sizeclasses *choices)
{
    static okosu_copy_function *const rest[OKOSU_COPY_ROUTES] = {rest_any, rest_near, rest_far,
                                                                 rest_move};

    for (size_t r = 0; r < OKOSU_COPY_ROUTES; r++) {
        size_t use = r == OKOSU_COPY_ROUTE_MOVE ? OKOSU_COPY_ANY : r;
        const struct okosu_copy_own *own = okosu_copy_own(r);
        struct okosu_copy_route *route = &okosu_copy_routes[r];
        uint64_t here = limits(r, &choices[use], own);

        WRITE(route->rest, alone(&choices[use], here, r == OKOSU_COPY_ROUTE_MOVE, rest[r]));
        WRITE(route->limits, here);
        WRITE(route->entry, own->entries[r]);
    }
}

static const struct okosu_variant *always(size_t use, size_t *up_to)
{
    const struct okosu_copy_own *own = okosu_copy_own(use);

    *up_to = own->always;
    return &own->variant->about;
}
