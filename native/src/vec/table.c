/* SPDX-License-Identifier: Apache-2.0 */
/* Table: which variant the public routines use. They jump through one pointer, which at first
 * points to a row whose routines choose and then jump on, so that a later call pays for no test. */
#include <okosu/cpu.h>
#include <okosu/vec.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vec/kernel.h"

size_t okosu_vec_far = (4 << 20) / 3;

/* No bit of any result depends on it. */
static void measure_far(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

    if (l2 > 0)
        __atomic_store_n(&okosu_vec_far, (size_t)l2 / 3 * 4, __ATOMIC_RELAXED);
#endif
}

static const struct okosu_vec_variant *const table[] = {
#if defined(__x86_64__)
    &okosu_vec_avx512, &okosu_vec_avx2,
    &okosu_vec_sse3,   &okosu_vec_sse2,
#elif defined(__aarch64__)
    &okosu_vec_neon,
#endif
    &okosu_vec_ref,    NULL,
};

const struct okosu_vec_variant *const *okosu_vec_table(void)
{
    measure_far();
    return table;
}

static bool runs_here(const struct okosu_vec_variant *row)
{
    return (row->about.needs & ~okosu_cpu_features()) == 0;
}

static const struct okosu_vec_variant *find(const char *name)
{
    for (size_t i = 0; table[i]; i++)
        if (strcmp(table[i]->about.name, name) == 0)
            return table[i];
    return NULL;
}

static const struct okosu_vec_variant *choose(void)
{
    const char *name = getenv("OKOSU_VEC");
    const struct okosu_vec_variant *named = name ? find(name) : NULL;
    size_t i = 0;

    if (named && runs_here(named))
        return named;
    while (!runs_here(table[i]))
        i++;
    return table[i];
}

static const struct okosu_vec_variant unresolved;

/* Rows are constants, so that the order in which threads see the pointer change does not matter. */
static const struct okosu_vec_variant *_Atomic current = &unresolved;

static const struct okosu_vec_variant *resolve(void)
{
    const struct okosu_vec_variant *expected = &unresolved, *row = choose();

    measure_far();
    if (atomic_compare_exchange_strong(&current, &expected, row))
        return row;
    return expected;
}

const struct okosu_vec_variant *okosu_vec_chosen(void)
{
    const struct okosu_vec_variant *row = atomic_load_explicit(&current, memory_order_relaxed);

    return row == &unresolved ? resolve() : row;
}

int okosu_vec_force(const char *name)
{
    const struct okosu_vec_variant *row = name ? find(name) : choose();

    if (!row)
        return -ENOENT;
    if (!runs_here(row))
        return -ENOTSUP;
    atomic_store_explicit(&current, row, memory_order_relaxed);
    return 0;
}

#define FIRST_CALL(result, give, name, parameters, arguments)                                      \
    static result first_##name parameters                                                          \
    {                                                                                              \
        give resolve()->name arguments;                                                            \
    }

#define MEMBER(result, give, name, parameters, arguments) .name = first_##name,

/*
 * An indirect jump is 1 to 3 of the 8 cycles of a short call (Zen 5), a comparison and a direct one
 * nothing; so the usual variants are compared with.
 */
#if defined(__x86_64__)
#define PUBLIC(result, give, name, parameters, arguments)                                          \
    result okosu_vec_##name parameters                                                             \
    {                                                                                              \
        const struct okosu_vec_variant *row =                                                      \
            atomic_load_explicit(&current, memory_order_relaxed);                                  \
                                                                                                   \
        if (VEC_RARE(row != &okosu_vec_avx512)) {                                                  \
            if (VEC_RARE(row != &okosu_vec_avx2))                                                  \
                give row->name arguments;                                                          \
            else                                                                                   \
                give okosu_vec_avx2_##name arguments;                                              \
        } else {                                                                                   \
            give okosu_vec_avx512_##name arguments;                                                \
        }                                                                                          \
    }
#else
#define PUBLIC(result, give, name, parameters, arguments)                                          \
    result okosu_vec_##name parameters                                                             \
    {                                                                                              \
        give atomic_load_explicit(&current, memory_order_relaxed)->name arguments;                 \
    }
#endif

VEC_ROUTINES(FIRST_CALL)

static const struct okosu_vec_variant unresolved = {VEC_ROUTINES(MEMBER)};

VEC_ROUTINES(PUBLIC)
