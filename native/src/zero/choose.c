/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose: makes the choice at the first call, and changes it when asked to.
 *
 * A program's first memset may come from anywhere (malloc with its lock held, a signal handler), so
 * the choice is made without allocation, leaves errno as it was, and whoever comes while it is
 * being made does not wait but takes the plainest variant.
 */
#include "choose.h"
#include "rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct okosu_zero_variant *const rows[] = {
    &okosu_zero_loop8,
#if defined(__x86_64__)
    &okosu_zero_rep_stosb,
    &okosu_zero_sse2,
    &okosu_zero_avx2,
    &okosu_zero_avx512,
    &okosu_zero_nt_sse2,
    &okosu_zero_nt_avx2,
    &okosu_zero_nt_avx512,
    &okosu_zero_clzero,
#elif defined(__aarch64__)
    &okosu_zero_neon,
    &okosu_zero_dc_zva,
#endif
    NULL,
};

_Static_assert(offsetof(struct okosu_zero_variant, about) == 0, "a row is found by its about");

const struct okosu_zero_variant *const *okosu_zero_table(void)
{
    return rows;
}

static struct okosu_sizeclass_live live[OKOSU_ZERO_USES];

static void *begin_any(void *p, int byte, size_t n);
static void *begin_near(void *p, int byte, size_t n);
static void *begin_far(void *p, int byte, size_t n);
static void *begin_page(void *p, int byte, size_t n);

struct okosu_zero_route okosu_zero_routes[OKOSU_ZERO_USES] = {
    [OKOSU_ZERO_ANY] = {.rest = begin_any},
    [OKOSU_ZERO_NEAR] = {.rest = begin_near},
    [OKOSU_ZERO_FAR] = {.rest = begin_far},
    [OKOSU_ZERO_PAGE] = {.rest = begin_page},
};

/* Held while the choice is made or changed; what follows belongs to its holder. */
static atomic_flag changing = ATOMIC_FLAG_INIT;
static bool decided;
static int state;
static struct okosu_reason state_reason;

static const char *const sections[] = {"", "near", "far", "page", NULL};

static struct okosu_sizeclass_routine routine(void)
{
    static const struct okosu_variant *table[sizeof(rows) / sizeof(rows[0])];

    for (size_t i = 0; rows[i]; i++)
        table[i] = &rows[i]->about;
    return (struct okosu_sizeclass_routine){table, okosu_cpu_features(), sections};
}

static const struct okosu_zero_variant *row_of(const struct okosu_variant *about)
{
    return (const struct okosu_zero_variant *)about;
}

static inline void *walk(enum okosu_zero_use use, void *p, int byte, size_t n)
{
    return row_of(okosu_sizeclass_find(&live[use], n))->set(p, byte, n);
}

static void *walk_any(void *p, int byte, size_t n)
{
    return walk(OKOSU_ZERO_ANY, p, byte, n);
}

static void *walk_near(void *p, int byte, size_t n)
{
    return walk(OKOSU_ZERO_NEAR, p, byte, n);
}

static void *walk_far(void *p, int byte, size_t n)
{
    return walk(OKOSU_ZERO_FAR, p, byte, n);
}

static void *walk_page(void *p, int byte, size_t n)
{
    return walk(OKOSU_ZERO_PAGE, p, byte, n);
}

static void publish(const struct okosu_sizeclasses choices[OKOSU_ZERO_USES])
{
    static void *(*const walks[OKOSU_ZERO_USES])(void *, int, size_t) = {walk_any, walk_near,
                                                                         walk_far, walk_page};

    for (size_t use = 0; use < OKOSU_ZERO_USES; use++) {
        const struct okosu_sizeclasses *choice = &choices[use];
        struct okosu_zero_route *route = &okosu_zero_routes[use];
        size_t below = 0, classes = choice->count;

#if defined(__x86_64__)
        if (use != OKOSU_ZERO_PAGE && choice->at[0].variant == &okosu_zero_avx512.about) {
            below = choice->at[0].up_to;
            below += below < SIZE_MAX;
            classes -= classes > 1;
        }
#endif
        okosu_sizeclass_publish(&live[use], choice);
        /* What is left is often one class: it needs no search. */
        atomic_store_explicit(&route->rest,
                              classes == 1 ? row_of(choice->at[choice->count - 1].variant)->set
                                           : walks[use],
                              memory_order_release);
        atomic_store_explicit(&route->below, below, memory_order_release);
    }
    decided = true;
}

static void automatic(struct okosu_sizeclasses choices[OKOSU_ZERO_USES])
{
    struct okosu_caches caches = okosu_caches_read();

    memset(choices, 0, OKOSU_ZERO_USES * sizeof(choices[0]));
    okosu_zero_automatic(okosu_cpu_features(), &caches, choices);
}

/* The functions below are called with the flag held. */
static int force(const char *name, struct okosu_reason *reason)
{
    struct okosu_sizeclass_routine self = routine();
    struct okosu_sizeclasses choices[OKOSU_ZERO_USES];
    const struct okosu_variant *found;
    int error = okosu_sizeclass_named(&self, name, &found, reason);

    if (error)
        return error;
    for (size_t use = 0; use < OKOSU_ZERO_USES; use++)
        choices[use] = (struct okosu_sizeclasses){1, {{SIZE_MAX, found}}};
    publish(choices);
    return 0;
}

static int load(const char *path, struct okosu_reason *reason)
{
    struct okosu_sizeclass_routine self = routine();
    struct okosu_sizeclasses read[OKOSU_ZERO_USES], choices[OKOSU_ZERO_USES];
    int error = okosu_sizeclass_profile(&self, path, read, reason);

    if (error)
        return error;
    automatic(choices);
    for (size_t use = 0; use < OKOSU_ZERO_USES; use++)
        if (read[use].count)
            choices[use] = read[use];
    publish(choices);
    return 0;
}

static void fall_back(void)
{
    struct okosu_sizeclasses choices[OKOSU_ZERO_USES];

    automatic(choices);
    publish(choices);
}

static void decide(void)
{
    const char *name = secure_getenv("OKOSU_ZERO"), *path = secure_getenv("OKOSU_ZERO_PROFILE");

    if (name && *name)
        state = force(name, &state_reason);
    else if (path && *path)
        state = load(path, &state_reason);
    if (!decided)
        fall_back();
}

/* Whether there is a choice now; false: another thread, or this one further up its stack, is making
 * it. */
static bool ensure_decided(void)
{
    int saved = errno;

    if (atomic_flag_test_and_set_explicit(&changing, memory_order_acquire))
        return false;
    if (!decided)
        decide();
    atomic_flag_clear_explicit(&changing, memory_order_release);
    errno = saved;
    return true;
}

static void *begin(enum okosu_zero_use use, void *p, int byte, size_t n)
{
    if (!ensure_decided())
        return okosu_zero_loop8.set(p, byte, n);
    return walk(use, p, byte, n);
}

static void *begin_any(void *p, int byte, size_t n)
{
    return begin(OKOSU_ZERO_ANY, p, byte, n);
}

static void *begin_near(void *p, int byte, size_t n)
{
    return begin(OKOSU_ZERO_NEAR, p, byte, n);
}

static void *begin_far(void *p, int byte, size_t n)
{
    return begin(OKOSU_ZERO_FAR, p, byte, n);
}

static void *begin_page(void *p, int byte, size_t n)
{
    return begin(OKOSU_ZERO_PAGE, p, byte, n);
}

/* Take the flag, with a choice made. For calls that are not on anyone's critical path. */
static void begin_change(void)
{
    while (atomic_flag_test_and_set_explicit(&changing, memory_order_acquire))
        ;
    if (!decided)
        decide();
}

static int end_change(int result)
{
    atomic_flag_clear_explicit(&changing, memory_order_release);
    return result;
}

const struct okosu_zero_variant *okosu_zero_chosen(enum okosu_zero_use use, size_t n)
{
    begin_change();
    end_change(0);
#if defined(__x86_64__)
    if (n <= okosu_zero_always(use))
        return &okosu_zero_avx512;
#endif
    return row_of(okosu_sizeclass_find(&live[use], n));
}

size_t okosu_zero_choice(enum okosu_zero_use use,
                         struct okosu_zero_class classes[OKOSU_ZERO_CLASSES])
{
    size_t count = 0, up_to = 0, always = okosu_zero_always(use);

    begin_change();
    for (size_t k = 0; up_to != SIZE_MAX; k++) {
        const struct okosu_zero_variant *variant = row_of(atomic_load(&live[use].at[k].variant));

        up_to = atomic_load(&live[use].at[k].up_to);
        if (up_to <= always)
            continue;
#if defined(__x86_64__)
        if (always && !count && variant != &okosu_zero_avx512)
            classes[count++] = (struct okosu_zero_class){always, &okosu_zero_avx512};
#endif
        classes[count++] = (struct okosu_zero_class){up_to, variant};
    }
    end_change(0);
    return count;
}

int okosu_zero_force(const char *name)
{
    int error = 0;

    begin_change();
    if (name)
        error = force(name, NULL);
    else
        fall_back();
    return end_change(error);
}

int okosu_zero_profile_explained(const char *path, struct okosu_reason *reason)
{
    struct okosu_reason found;
    int error = 0;

    memset(&found, 0, sizeof(found));
    begin_change();
    if (path)
        error = load(path, &found);
    else
        fall_back();
    end_change(0);
    if (error && reason)
        *reason = found;
    return error;
}

int okosu_zero_profile(const char *path)
{
    return okosu_zero_profile_explained(path, NULL);
}

int okosu_zero_state(struct okosu_reason *reason)
{
    begin_change();
    if (state && reason)
        *reason = state_reason;
    return end_change(state);
}
