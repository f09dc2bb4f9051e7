/* SPDX-License-Identifier: Apache-2.0 */
/* Table: which variant the public routines use. They jump through one pointer, which at first
 * points to a row whose routines choose and then jump on, so that a later call pays for no test. */
#include <okosu/cpu.h>
#include <okosu/vec.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
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

ptrdiff_t okosu_vec_shift = PTRDIFF_MIN;

/* Until it is that of the row in use, whatever other threads make that meanwhile. */
static void shift(void)
{
    const struct okosu_vec_variant *row;

    do {
        row = atomic_load(&current);
#if defined(__x86_64__)
        __atomic_store_n(&okosu_vec_shift, row == &okosu_vec_avx512 ? -1 : PTRDIFF_MIN,
                         __ATOMIC_SEQ_CST);
#endif
    } while (row != atomic_load(&current));
}

static const struct okosu_vec_variant *resolve(void)
{
    const struct okosu_vec_variant *expected = &unresolved, *row = choose();

    measure_far();
    if (!atomic_compare_exchange_strong(&current, &expected, row))
        row = expected;
    shift();
    return row;
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
    atomic_store(&current, row);
    shift();
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
#define DISPATCH(result, give, public, name, parameters, arguments)                                \
    result public parameters                                                                       \
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
#define DISPATCH(result, give, public, name, parameters, arguments)                                \
    result public parameters                                                                       \
    {                                                                                              \
        give atomic_load_explicit(&current, memory_order_relaxed)->name arguments;                 \
    }
#endif

VEC_ROUTINES(FIRST_CALL)

static const struct okosu_vec_variant unresolved = {VEC_ROUTINES(MEMBER)};

#define PUBLIC(result, give, name, parameters, arguments)                                          \
    DISPATCH(result, give, okosu_vec_##name, name, parameters, arguments)

#if defined(__x86_64__) && OKOSU_VEC_IFUNC
/*
 * A resolver runs while the dynamic linker still binds this library, so it may call nothing that
 * is bound, okosu_cpu_features() among it. What the compiler has in its place asks the same bits.
 * It only says which instructions may be used; which variant serves is the table's to say.
 */
static inline __attribute__((always_inline)) bool has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

#define PICKED(result, give, name, parameters, arguments)                                          \
    DISPATCH(result, give, okosu_vec_any_##name, name, parameters, arguments)                      \
    typedef result name##_function parameters;                                                     \
    __attribute__((used)) static name##_function *pick_##name(void)                                \
    {                                                                                              \
        return has_avx512() ? okosu_vec_entry_##name : okosu_vec_any_##name;                       \
    }                                                                                              \
    result okosu_vec_##name parameters __attribute__((ifunc("pick_" #name)));

VEC_REDUCTIONS(PICKED)
#else
#define ANY(result, give, name, parameters, arguments)                                             \
    DISPATCH(result, give, okosu_vec_any_##name, name, parameters, arguments)

VEC_REDUCTIONS(ANY)
VEC_REDUCTIONS(PUBLIC)
#endif
VEC_OTHERS(PUBLIC)
