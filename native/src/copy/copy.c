/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: the choice in force, how it begins and how it is changed. The public entries are in entry.c
 * and entry_x86.S.
 */
#include "copy/route.h"
#include "copy/rows.h"
#include "copy/select.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static okosu_copy_function begin_any, begin_near, begin_far, begin_move;
static okosu_copy_function rest_any, rest_near, rest_far, rest_move;

struct okosu_copy_route okosu_copy_routes[OKOSU_COPY_ROUTES] = {
    [OKOSU_COPY_ANY] = {.rest = begin_any, .entry = begin_any},
    [OKOSU_COPY_NEAR] = {.rest = begin_near, .entry = begin_near},
    [OKOSU_COPY_FAR] = {.rest = begin_far, .entry = begin_far},
    [OKOSU_COPY_ROUTE_MOVE] = {.rest = begin_move, .entry = begin_move},
};

static struct okosu_sizeclass_live live[OKOSU_COPY_USES];

/* Held while the choice is made or changed; what follows belongs to its holder. */
static atomic_flag changing = ATOMIC_FLAG_INIT;
static bool begun;
static int state;
static struct okosu_reason state_reason;

static inline const struct okosu_copy_variant *find(enum okosu_copy_use use, size_t n)
{
    return okosu_copy_row(okosu_sizeclass_find(&live[use], n));
}

static void *rest_any(void *dst, const void *src, size_t n)
{
    return find(OKOSU_COPY_ANY, n)->copy(dst, src, n);
}

static void *rest_near(void *dst, const void *src, size_t n)
{
    return find(OKOSU_COPY_NEAR, n)->copy(dst, src, n);
}

static void *rest_far(void *dst, const void *src, size_t n)
{
    return find(OKOSU_COPY_FAR, n)->copy(dst, src, n);
}

static void *rest_move(void *dst, const void *src, size_t n)
{
    return find(OKOSU_COPY_ANY, n)->move(dst, src, n);
}

#define WRITE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)

/* The functions down to begin() are called with the flag held. */
static void publish(const struct okosu_sizeclasses choices[OKOSU_COPY_USES])
{
    static okosu_copy_function *const rest[OKOSU_COPY_ROUTES] = {
        [OKOSU_COPY_ANY] = rest_any,
        [OKOSU_COPY_NEAR] = rest_near,
        [OKOSU_COPY_FAR] = rest_far,
        [OKOSU_COPY_ROUTE_MOVE] = rest_move,
    };
    const struct okosu_copy_own *own = okosu_copy_own();

    for (size_t r = 0; r < OKOSU_COPY_ROUTES; r++) {
        size_t use = r == OKOSU_COPY_ROUTE_MOVE ? OKOSU_COPY_ANY : r;
        const struct okosu_sizeclass *first = &choices[use].at[0];
        struct okosu_copy_route *route = &okosu_copy_routes[r];

        okosu_sizeclass_publish(&live[use], &choices[use]);
        WRITE(route->rest, rest[r]);
        WRITE(route->up_to_own, first->variant == &own->variant->about ? first->up_to : 0);
        WRITE(route->entry, own->entries[r]);
    }
    begun = true;
}

static void automatic(struct okosu_sizeclasses choices[OKOSU_COPY_USES])
{
    struct okosu_caches caches = okosu_caches_read();

    okosu_copy_automatic(okosu_cpu_features(), &caches, choices);
}

/* NULL: the automatic choice. */
static int force(const char *name, struct okosu_reason *reason)
{
    struct okosu_sizeclass_routine routine = okosu_copy_routine(okosu_cpu_features());
    struct okosu_sizeclasses choices[OKOSU_COPY_USES];
    const struct okosu_variant *found;
    int error = 0;

    if (!name)
        automatic(choices);
    else
        error = okosu_sizeclass_named(&routine, name, &found, reason);
    if (error)
        return error;
    for (size_t use = 0; name && use < OKOSU_COPY_USES; use++) {
        choices[use].count = 0;
        okosu_sizeclass_add(&choices[use], SIZE_MAX, found);
    }
    publish(choices);
    return 0;
}

static int load(const char *path, struct okosu_reason *reason)
{
    struct okosu_sizeclass_routine routine = okosu_copy_routine(okosu_cpu_features());
    struct okosu_sizeclasses read[OKOSU_COPY_USES], choices[OKOSU_COPY_USES];
    int error = okosu_sizeclass_profile(&routine, path, read, reason);

    if (error)
        return error;
    automatic(choices);
    for (size_t use = 0; use < OKOSU_COPY_USES; use++)
        if (read[use].count)
            choices[use] = read[use];
    publish(choices);
    return 0;
}

static void begin(void)
{
    const char *name = secure_getenv("OKOSU_COPY"), *path = secure_getenv("OKOSU_COPY_PROFILE");

    if (name && *name)
        state = force(name, &state_reason);
    else if (path && *path)
        state = load(path, &state_reason);
    if (!begun)
        force(NULL, NULL);
}

/*
 * The first copy. It never waits: the choosing itself may copy, where this library stands in for
 * memcpy, and so may a signal handler in its midst.
 */
static void *begin_and_copy(size_t r, void *dst, const void *src, size_t n)
{
    int saved = errno;

    if (atomic_flag_test_and_set_explicit(&changing, memory_order_acquire))
        return okosu_copy_plainest->move(dst, src, n);
    if (!begun)
        begin();
    atomic_flag_clear_explicit(&changing, memory_order_release);
    errno = saved;
    return okosu_copy_route_rest(r)(dst, src, n);
}

static void *begin_any(void *dst, const void *src, size_t n)
{
    return begin_and_copy(OKOSU_COPY_ANY, dst, src, n);
}

static void *begin_near(void *dst, const void *src, size_t n)
{
    return begin_and_copy(OKOSU_COPY_NEAR, dst, src, n);
}

static void *begin_far(void *dst, const void *src, size_t n)
{
    return begin_and_copy(OKOSU_COPY_FAR, dst, src, n);
}

static void *begin_move(void *dst, const void *src, size_t n)
{
    return begin_and_copy(OKOSU_COPY_ROUTE_MOVE, dst, src, n);
}

/* Take the flag, with a choice made. For calls that are on nobody's critical path. */
static void begin_change(void)
{
    while (atomic_flag_test_and_set_explicit(&changing, memory_order_acquire))
        ;
    if (!begun)
        begin();
}

static int end_change(int result)
{
    atomic_flag_clear_explicit(&changing, memory_order_release);
    return result;
}

int okosu_copy_force(const char *name)
{
    begin_change();
    return end_change(force(name, NULL));
}

int okosu_copy_profile_explained(const char *path, struct okosu_reason *reason)
{
    struct okosu_reason found;
    int error;

    memset(&found, 0, sizeof(found));
    begin_change();
    error = end_change(path ? load(path, &found) : force(NULL, NULL));
    if (error && reason)
        *reason = found;
    return error;
}

int okosu_copy_profile(const char *path)
{
    return okosu_copy_profile_explained(path, NULL);
}

const struct okosu_copy_variant *okosu_copy_chosen(enum okosu_copy_use use, size_t n)
{
    const struct okosu_copy_own *own = okosu_copy_own();

    begin_change();
    end_change(0);
    return n <= own->always ? own->variant : find(use, n);
}

size_t okosu_copy_choice(enum okosu_copy_use use,
                         struct okosu_copy_class classes[OKOSU_COPY_CLASSES])
{
    const struct okosu_copy_own *own = okosu_copy_own();
    size_t count = 0, up_to = 0;

    begin_change();
    for (size_t k = 0; up_to != SIZE_MAX; k++) {
        const struct okosu_copy_variant *variant =
            okosu_copy_row(atomic_load(&live[use].at[k].variant));

        up_to = atomic_load(&live[use].at[k].up_to);
        if (up_to <= own->always)
            continue;
        if (!count && variant != own->variant)
            classes[count++] = (struct okosu_copy_class){own->always, own->variant};
        classes[count++] = (struct okosu_copy_class){up_to, variant};
    }
    end_change(0);
    return count;
}

int okosu_copy_state(struct okosu_reason *reason)
{
    begin_change();
    if (state && reason)
        *reason = state_reason;
    return end_change(state);
}
