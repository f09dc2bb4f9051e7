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

#include "vec/kernel.h"

size_t okosu_vec_far = 768 * 1024;

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

/* ROUTINE(what it returns, name, parameters, arguments) for each member of a row. */
#define ROUTINES(ROUTINE)                                                                          \
    ROUTINE(double, dsum, (const double *x, size_t n), (x, n))                                     \
    ROUTINE(double, dsumsq, (const double *x, size_t n), (x, n))                                   \
    ROUTINE(double, dasum, (const double *x, size_t n), (x, n))                                    \
    ROUTINE(double, ddot, (const double *x, const double *y, size_t n), (x, y, n))                 \
    ROUTINE(double, dnrm2, (const double *x, size_t n), (x, n))                                    \
    ROUTINE(void, daxpy, (double a, const double *x, double *y, size_t n), (a, x, y, n))           \
    ROUTINE(void, dscal, (double a, double *x, size_t n), (a, x, n))                               \
    ROUTINE(void, dtriad, (double a, const double *b, const double *c, double *out, size_t n),     \
            (a, b, c, out, n))                                                                     \
    ROUTINE(double, ddot_strided,                                                                  \
            (size_t n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy),          \
            (n, x, incx, y, incy))                                                                 \
    ROUTINE(void, daxpy_strided,                                                                   \
            (size_t n, double a, const double *x, ptrdiff_t incx, double *y, ptrdiff_t incy),      \
            (n, a, x, incx, y, incy))                                                              \
    ROUTINE(float, ssum, (const float *x, size_t n), (x, n))                                       \
    ROUTINE(float, ssumsq, (const float *x, size_t n), (x, n))                                     \
    ROUTINE(float, sasum, (const float *x, size_t n), (x, n))                                      \
    ROUTINE(float, sdot, (const float *x, const float *y, size_t n), (x, y, n))                    \
    ROUTINE(float, snrm2, (const float *x, size_t n), (x, n))                                      \
    ROUTINE(void, saxpy, (float a, const float *x, float *y, size_t n), (a, x, y, n))              \
    ROUTINE(void, sscal, (float a, float *x, size_t n), (a, x, n))                                 \
    ROUTINE(void, striad, (float a, const float *b, const float *c, float *out, size_t n),         \
            (a, b, c, out, n))                                                                     \
    ROUTINE(float, sdot_strided,                                                                   \
            (size_t n, const float *x, ptrdiff_t incx, const float *y, ptrdiff_t incy),            \
            (n, x, incx, y, incy))                                                                 \
    ROUTINE(void, saxpy_strided,                                                                   \
            (size_t n, float a, const float *x, ptrdiff_t incx, float *y, ptrdiff_t incy),         \
            (n, a, x, incx, y, incy))

#define FIRST_CALL(result, name, parameters, arguments)                                            \
    static result first_##name parameters                                                          \
    {                                                                                              \
        return resolve()->name arguments;                                                          \
    }

#define MEMBER(result, name, parameters, arguments) .name = first_##name,

#define PUBLIC(result, name, parameters, arguments)                                                \
    result okosu_vec_##name parameters                                                             \
    {                                                                                              \
        return atomic_load_explicit(&current, memory_order_relaxed)->name arguments;               \
    }

ROUTINES(FIRST_CALL)

static const struct okosu_vec_variant unresolved = {ROUTINES(MEMBER)};

ROUTINES(PUBLIC)
