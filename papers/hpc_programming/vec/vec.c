/* SPDX-License-Identifier: Apache-2.0 */
/* vec: which variant the public routines use. They jump through one pointer, which at first points
 * to a row whose routines choose and then jump on, so that a later call pays for no test. */
#include "choose/caches.h"
#include "choose/isa.h"
#include "vec/common.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

size_t okosu_vec_far = (4 << 20) / 3, okosu_vec_memory = SIZE_MAX, okosu_vec_l1 = 48 << 10;

/* No bit of any result depends on these. */
static void measure_caches(void)
{
    struct okosu_caches caches = okosu_caches_read(0);

    if (okosu_cpu_features() & OKOSU_CPU_INTEL)
        __atomic_store_n(&okosu_vec_l1, SIZE_MAX, __ATOMIC_RELAXED);
    else if (caches.l1d)
        __atomic_store_n(&okosu_vec_l1, caches.l1d, __ATOMIC_RELAXED);
    if (caches.l2)
        __atomic_store_n(&okosu_vec_far, caches.l2 / 3 * 4, __ATOMIC_RELAXED);
    if (caches.l3)
        __atomic_store_n(&okosu_vec_memory, caches.l3 / 4 * 3, __ATOMIC_RELAXED);
}

_Static_assert(offsetof(struct okosu_vec_variant, about) == 0, "a row is found by its about");

const struct okosu_vec_variant *const *okosu_vec_table(void)
{
    measure_caches();
    return okosu_vec_rows;
}

static int find(const char *name, const struct okosu_vec_variant **row)
{
    const struct okosu_variant *found = NULL;
    int error = okosu_variant_named(okosu_vec_row_names, okosu_cpu_features(), name, &found, NULL);

    *row = (const struct okosu_vec_variant *)found;
    return error;
}

static const struct okosu_vec_variant *choose(void)
{
    const char *name = getenv("OKOSU_VEC");
    const struct okosu_vec_variant *named;
    size_t i = 0;

    if (name && find(name, &named) == 0)
        return named;
    while (!okosu_variant_runs(&okosu_vec_rows[i]->about, okosu_cpu_features()))
        i++;
    return okosu_vec_rows[i];
}

static const struct okosu_vec_variant unresolved;

/* Rows are constants, so that the order in which threads see the pointer change does not matter. */
static const struct okosu_vec_variant *_Atomic current = &unresolved;

ptrdiff_t okosu_vec_shift = PTRDIFF_MIN;

#if defined(__x86_64__)
/* The row whose entries the dynamic linker picks. */
static const struct okosu_vec_variant *picked(void)
{
    static const struct okosu_vec_variant *const rows[] = {
        [OKOSU_ISA_AVX2] = &okosu_vec_row_avx2, [OKOSU_ISA_AVX512] = &okosu_vec_row_avx512};
    enum okosu_isa isa = okosu_isa_here();

    if (isa == OKOSU_ISA_SSE2)
        return __builtin_cpu_supports("sse3") ? &okosu_vec_row_sse3 : &okosu_vec_row_sse2;
    return rows[isa];
}
#endif

/* Repeats until okosu_vec_shift is that of the row in use, for other threads may change the row
 * meanwhile. */
static void shift(void)
{
    const struct okosu_vec_variant *row;

    do {
        row = atomic_load(&current);
#if defined(__x86_64__)
        __atomic_store_n(&okosu_vec_shift, row == picked() ? -1 : PTRDIFF_MIN, __ATOMIC_SEQ_CST);
#endif
    } while (row != atomic_load(&current));
}

static const struct okosu_vec_variant *resolve(void)
{
    const struct okosu_vec_variant *expected = &unresolved, *row = choose();

    measure_caches();
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
    const struct okosu_vec_variant *row;
    int error = 0;

    if (name)
        error = find(name, &row);
    else
        row = choose();
    if (error)
        return error;
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

/* An indirect jump takes 1 to 3 of the 8 cycles of a short call (Zen 5), a comparison and a direct
 * jump none; so the pointer is first compared with the usual variants. */
#if defined(__x86_64__)
#define DISPATCH(result, give, public, name, parameters, arguments)                                \
    result public parameters                                                                       \
    {                                                                                              \
        const struct okosu_vec_variant *row =                                                      \
            atomic_load_explicit(&current, memory_order_relaxed);                                  \
                                                                                                   \
        if (VEC_RARE(row != &okosu_vec_row_avx512)) {                                              \
            if (VEC_RARE(row != &okosu_vec_row_avx2))                                              \
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

#if defined(__x86_64__) && OKOSU_IFUNC
/* A resolver only says which instructions may be used; which variant serves is the table's to
 * say. */
#define PICKED(result, give, name, parameters, arguments)                                          \
    DISPATCH(result, give, okosu_vec_any_##name, name, parameters, arguments)                      \
    typedef result name##_function parameters;                                                     \
    __attribute__((used)) static name##_function *pick_##name(void)                                \
    {                                                                                              \
        enum okosu_isa isa = okosu_isa_here();                                                     \
                                                                                                   \
        if (isa == OKOSU_ISA_AVX512)                                                               \
            return okosu_vec_avx512_entry_##name;                                                  \
        if (isa == OKOSU_ISA_AVX2)                                                                 \
            return okosu_vec_avx2_entry_##name;                                                    \
        return __builtin_cpu_supports("sse3") ? okosu_vec_sse3_entry_##name                        \
                                              : okosu_vec_sse2_entry_##name;                       \
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
