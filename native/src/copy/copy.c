/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: the choice in force, how it begins and how it is changed. The public entries are in entry.c
 * and entry_x86.S.
 */
#include "copy/route.h"
#include "copy/rows.h"
#include "copy/select.h"

#include <errno.h>
#include <pthread.h>
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

/* Two plans, one in force and one to prepare the next; a walk that is under way in the one while it
 * is replaced twice may meet a mixture, all of whose parts are right. */
static struct okosu_copy_plan plans[2];
static struct okosu_copy_plan *plan = &plans[0];
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static bool begun;
static int environment_state;
static struct okosu_copy_reason environment_reason;

#define WRITE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELEASE)

static const struct okosu_copy_variant *walk(enum okosu_copy_use use, size_t n)
{
    const struct okosu_copy_plan *now = __atomic_load_n(&plan, __ATOMIC_ACQUIRE);
    size_t k = 0;
    while (k + 1 < now->count[use] && n > now->classes[use][k].up_to)
        k++;
    return now->classes[use][k].variant;
}

static void *rest_any(void *dst, const void *src, size_t n)
{
    return walk(OKOSU_COPY_ANY, n)->copy(dst, src, n);
}

static void *rest_near(void *dst, const void *src, size_t n)
{
    return walk(OKOSU_COPY_NEAR, n)->copy(dst, src, n);
}

static void *rest_far(void *dst, const void *src, size_t n)
{
    return walk(OKOSU_COPY_FAR, n)->copy(dst, src, n);
}

static void *rest_move(void *dst, const void *src, size_t n)
{
    return walk(OKOSU_COPY_ANY, n)->move(dst, src, n);
}

/* With `changing` held: make this plan the one in force. */
static void adopt(const struct okosu_copy_plan *next)
{
    static okosu_copy_function *const rest[OKOSU_COPY_ROUTES] = {
        [OKOSU_COPY_ANY] = rest_any,
        [OKOSU_COPY_NEAR] = rest_near,
        [OKOSU_COPY_FAR] = rest_far,
        [OKOSU_COPY_ROUTE_MOVE] = rest_move,
    };
    const struct okosu_copy_own *own = okosu_copy_own();
    struct okosu_copy_plan *spare = plan == &plans[0] ? &plans[1] : &plans[0];
    *spare = *next;
    __atomic_store_n(&plan, spare, __ATOMIC_RELEASE);
    for (size_t r = 0; r < OKOSU_COPY_ROUTES; r++) {
        struct okosu_copy_route *route = &okosu_copy_routes[r];
        size_t use = r == OKOSU_COPY_ROUTE_MOVE ? OKOSU_COPY_ANY : r;
        const struct okosu_copy_class *first = &next->classes[use][0];
        bool starts = first->variant == own->variant && first->up_to >= own->up_to_short;
        WRITE(route->rest, rest[r]);
        WRITE(route->up_to_own, starts ? first->up_to : 0);
        WRITE(route->up_to_short, starts ? own->up_to_short : 0);
        WRITE(route->entry, starts ? own->entries[r] : rest[r]);
    }
}

static void plan_automatic(struct okosu_copy_plan *next)
{
    struct okosu_caches caches = okosu_caches_read();
    okosu_copy_plan_automatic(next, okosu_cpu_features(), &caches);
}

static int plan_forced(struct okosu_copy_plan *next, const char *name,
                       struct okosu_copy_reason *reason)
{
    const struct okosu_copy_variant *variant;
    int status = okosu_copy_named(name, strlen(name), okosu_cpu_features(), &variant, reason);
    if (!status)
        okosu_copy_plan_one(next, variant);
    return status;
}

static int plan_profile(struct okosu_copy_plan *next, const char *path,
                        struct okosu_copy_reason *reason)
{
    plan_automatic(next);
    return path ? okosu_copy_plan_read(next, path, okosu_cpu_features(), reason) : 0;
}

/* With `changing` held. */
static void begin(void)
{
    struct okosu_copy_plan next;
    int saved = errno, status = 0;
    const char *name = secure_getenv("OKOSU_COPY"), *path = secure_getenv("OKOSU_COPY_PROFILE");
    if (begun)
        return;
    if (name && *name)
        status = plan_forced(&next, name, &environment_reason);
    else if (path && *path)
        status = plan_profile(&next, path, &environment_reason);
    if (status || ((!name || !*name) && (!path || !*path)))
        plan_automatic(&next);
    environment_state = status;
    adopt(&next);
    __atomic_store_n(&begun, true, __ATOMIC_RELEASE);
    errno = saved;
}

static void begin_first(void)
{
    if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
        return;
    pthread_mutex_lock(&changing);
    begin();
    pthread_mutex_unlock(&changing);
}

/*
 * The first copies. Never wait: the choosing itself may copy, where this library stands in for
 * memcpy, and so may a signal handler in its midst.
 */
static void *first_copy(size_t r, void *dst, const void *src, size_t n)
{
    if (pthread_mutex_trylock(&changing))
        return okosu_copy_always->move(dst, src, n);
    begin();
    pthread_mutex_unlock(&changing);
    return okosu_copy_routes[r].rest(dst, src, n);
}

static void *begin_any(void *dst, const void *src, size_t n)
{
    return first_copy(OKOSU_COPY_ANY, dst, src, n);
}

static void *begin_near(void *dst, const void *src, size_t n)
{
    return first_copy(OKOSU_COPY_NEAR, dst, src, n);
}

static void *begin_far(void *dst, const void *src, size_t n)
{
    return first_copy(OKOSU_COPY_FAR, dst, src, n);
}

static void *begin_move(void *dst, const void *src, size_t n)
{
    return first_copy(OKOSU_COPY_ROUTE_MOVE, dst, src, n);
}

static int change(int (*fill)(struct okosu_copy_plan *, const char *, struct okosu_copy_reason *),
                  const char *text, struct okosu_copy_reason *reason)
{
    struct okosu_copy_plan next;
    begin_first();
    int status = fill(&next, text, reason);
    if (status)
        return status;
    pthread_mutex_lock(&changing);
    adopt(&next);
    pthread_mutex_unlock(&changing);
    return 0;
}

int okosu_copy_force(const char *name)
{
    return change(name ? plan_forced : plan_profile, name, NULL);
}

int okosu_copy_profile_explained(const char *path, struct okosu_copy_reason *reason)
{
    return change(plan_profile, path, reason);
}

int okosu_copy_profile(const char *path)
{
    return change(plan_profile, path, NULL);
}

const struct okosu_copy_variant *okosu_copy_chosen(enum okosu_copy_use use, size_t n)
{
    begin_first();
    return walk(use, n);
}

size_t okosu_copy_choice(enum okosu_copy_use use,
                         struct okosu_copy_class classes[OKOSU_COPY_CLASSES])
{
    begin_first();
    const struct okosu_copy_plan *now = __atomic_load_n(&plan, __ATOMIC_ACQUIRE);
    size_t count = now->count[use];
    for (size_t k = 0; k < count; k++)
        classes[k] = now->classes[use][k];
    return count;
}

int okosu_copy_state(struct okosu_copy_reason *reason)
{
    begin_first();
    if (reason)
        *reason = environment_reason;
    return environment_state;
}
