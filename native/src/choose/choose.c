/* SPDX-License-Identifier: Apache-2.0 */
/* choose: how a choice is made at the first call, and changed when it is asked to. */
#include "choose/choose.h"

#include "choose/isa.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <stdlib.h>

/* The functions down to decide() are called with the flag held. */
static void publish(struct okosu_choose *choose, const struct okosu_sizeclasses *choices)
{
    for (size_t use = 0; use < choose->uses; use++)
        okosu_sizeclass_publish(&choose->live[use], &choices[use]);
    choose->published(choices);
    choose->decided = true;
}

/* Without the features that only a caller who asks for them gets. */
static uint64_t features_unasked(void)
{
    uint64_t features = okosu_cpu_features();

#if defined(__x86_64__)
    if (okosu_isa_here() < OKOSU_ISA_AVX512)
        features &= ~OKOSU_CPU_AVX512;
#endif
    return features;
}

static void automatic(const struct okosu_choose *choose, struct okosu_sizeclasses *choices)
{
    struct okosu_caches caches = okosu_caches_read(0);

    for (size_t use = 0; use < choose->uses; use++)
        choices[use].count = 0;
    choose->automatic(features_unasked(), &caches, choices);
}

/* NULL: the automatic choice. */
static int force(struct okosu_choose *choose, const char *name, struct okosu_reason *reason)
{
    struct okosu_sizeclasses choices[OKOSU_CHOOSE_USES];
    const struct okosu_variant *found;

    if (!name) {
        automatic(choose, choices);
    } else {
        int error = okosu_variant_named(choose->table, okosu_cpu_features(), name, &found, reason);

        if (error)
            return error;
        for (size_t use = 0; use < choose->uses; use++) {
            choices[use].count = 0;
            okosu_sizeclass_add(&choices[use], SIZE_MAX, found);
        }
    }
    publish(choose, choices);
    return 0;
}

static int load(struct okosu_choose *choose, const char *path, struct okosu_reason *reason)
{
    struct okosu_sizeclass_routine routine = {
        .table = choose->table, .features = okosu_cpu_features(), .sections = choose->sections};
    struct okosu_sizeclasses read[OKOSU_CHOOSE_USES], choices[OKOSU_CHOOSE_USES];
    int error = okosu_sizeclass_profile(&routine, path, read, reason);

    if (error)
        return error;
    automatic(choose, choices);
    for (size_t use = 0; use < choose->uses; use++)
        if (read[use].count)
            choices[use] = read[use];
    publish(choose, choices);
    return 0;
}

static void decide(struct okosu_choose *choose)
{
    const char *name = secure_getenv(choose->variable);
    const char *path = secure_getenv(choose->profile_variable);

    if (name && *name)
        choose->state = force(choose, name, &choose->reason);
    else if (path && *path)
        choose->state = load(choose, path, &choose->reason);
    if (!choose->decided)
        force(choose, NULL, NULL);
}

bool okosu_choose_begin(struct okosu_choose *choose)
{
    int saved = errno;

    if (atomic_flag_test_and_set_explicit(&choose->changing, memory_order_acquire))
        return false;
    if (!choose->decided)
        decide(choose);
    atomic_flag_clear_explicit(&choose->changing, memory_order_release);
    errno = saved;
    return true;
}

/* Takes the flag and makes the choice if there is none. It spins, so only the calls that read or
 * change the choice use it, not the copies and sets. */
static void hold(struct okosu_choose *choose)
{
    while (atomic_flag_test_and_set_explicit(&choose->changing, memory_order_acquire))
        ;
    if (!choose->decided)
        decide(choose);
}

static int release(struct okosu_choose *choose, int result)
{
    atomic_flag_clear_explicit(&choose->changing, memory_order_release);
    return result;
}

int okosu_choose_force(struct okosu_choose *choose, const char *name)
{
    hold(choose);
    return release(choose, force(choose, name, NULL));
}

int okosu_choose_profile(struct okosu_choose *choose, const char *path, struct okosu_reason *reason)
{
    struct okosu_reason found = {{0}, {0}, {0}};
    int error;

    hold(choose);
    error = release(choose, path ? load(choose, path, &found) : force(choose, NULL, NULL));
    if (error && reason)
        *reason = found;
    return error;
}

int okosu_choose_state(struct okosu_choose *choose, struct okosu_reason *reason)
{
    hold(choose);
    if (choose->state && reason)
        *reason = choose->reason;
    return release(choose, choose->state);
}

const struct okosu_variant *okosu_choose_chosen(struct okosu_choose *choose, size_t use, size_t n)
{
    size_t up_to = 0;
    const struct okosu_variant *always = choose->always(use, &up_to);

    hold(choose);
    release(choose, 0);
    return always && n <= up_to ? always : okosu_sizeclass_find(&choose->live[use], n);
}

size_t okosu_choose_classes(struct okosu_choose *choose, size_t use,
                            struct okosu_sizeclass classes[OKOSU_CHOOSE_CLASSES])
{
    size_t count = 0, up_to = 0, least = 0;
    const struct okosu_variant *always = choose->always(use, &least);

    hold(choose);
    for (size_t k = 0; up_to != SIZE_MAX; k++) {
        const struct okosu_variant *variant = atomic_load(&choose->live[use].at[k].variant);

        up_to = atomic_load(&choose->live[use].at[k].up_to);
        if (always && up_to <= least)
            continue;
        if (always && !count && variant != always)
            classes[count++] = (struct okosu_sizeclass){least, always};
        classes[count++] = (struct okosu_sizeclass){up_to, variant};
    }
    release(choose, 0);
    return count;
}
