/* SPDX-License-Identifier: Apache-2.0 */
/* variant: the rows of the table, each made by a file of vec/routines. */
#ifndef OKOSU_VEC_VARIANT_H
#define OKOSU_VEC_VARIANT_H

#include "choose/routine.h"

#include <okosu/vec.h>

/* X-macro lists of a row's members: the contiguous reductions, the other members, all. Each entry
 * is ROUTINE(type of the result, `return` or nothing for void, name, parameters, arguments). */
#define VEC_REDUCTIONS(ROUTINE)                                                                    \
    ROUTINE(double, return, dsum, (const double *x, size_t n), (x, n))                             \
    ROUTINE(double, return, dsumsq, (const double *x, size_t n), (x, n))                           \
    ROUTINE(double, return, dasum, (const double *x, size_t n), (x, n))                            \
    ROUTINE(double, return, ddot, (const double *x, const double *y, size_t n), (x, y, n))         \
    ROUTINE(float, return, ssum, (const float *x, size_t n), (x, n))                               \
    ROUTINE(float, return, ssumsq, (const float *x, size_t n), (x, n))                             \
    ROUTINE(float, return, sasum, (const float *x, size_t n), (x, n))                              \
    ROUTINE(float, return, sdot, (const float *x, const float *y, size_t n), (x, y, n))

#define VEC_OTHERS(ROUTINE)                                                                        \
    ROUTINE(double, return, dnrm2, (const double *x, size_t n), (x, n))                            \
    ROUTINE(void, , daxpy, (double a, const double *x, double *y, size_t n), (a, x, y, n))         \
    ROUTINE(void, , dscal, (double a, double *x, size_t n), (a, x, n))                             \
    ROUTINE(void, , dtriad, (double a, const double *b, const double *c, double *out, size_t n),   \
            (a, b, c, out, n))                                                                     \
    ROUTINE(double, return, ddot_strided,                                                          \
            (size_t n, const double *x, ptrdiff_t incx, const double *y, ptrdiff_t incy),          \
            (n, x, incx, y, incy))                                                                 \
    ROUTINE(void, , daxpy_strided,                                                                 \
            (size_t n, double a, const double *x, ptrdiff_t incx, double *y, ptrdiff_t incy),      \
            (n, a, x, incx, y, incy))                                                              \
    ROUTINE(float, return, snrm2, (const float *x, size_t n), (x, n))                              \
    ROUTINE(void, , saxpy, (float a, const float *x, float *y, size_t n), (a, x, y, n))            \
    ROUTINE(void, , sscal, (float a, float *x, size_t n), (a, x, n))                               \
    ROUTINE(void, , striad, (float a, const float *b, const float *c, float *out, size_t n),       \
            (a, b, c, out, n))                                                                     \
    ROUTINE(float, return, sdot_strided,                                                           \
            (size_t n, const float *x, ptrdiff_t incx, const float *y, ptrdiff_t incy),            \
            (n, x, incx, y, incy))                                                                 \
    ROUTINE(void, , saxpy_strided,                                                                 \
            (size_t n, float a, const float *x, ptrdiff_t incx, float *y, ptrdiff_t incy),         \
            (n, a, x, incx, y, incy))

#define VEC_ROUTINES(ROUTINE) VEC_REDUCTIONS(ROUTINE) VEC_OTHERS(ROUTINE)

/* Generated: all rows of vec/routines in the order of their ranks, and what they say of themselves;
 * both end with NULL. */
extern const struct okosu_vec_variant *const okosu_vec_rows[];
extern const struct okosu_variant *const okosu_vec_row_names[];

/* The rows that vec.c compares with. */
extern const struct okosu_vec_variant okosu_vec_row_sse2, okosu_vec_row_sse3, okosu_vec_row_avx2,
    okosu_vec_row_avx512;

/* The routines of the usual variants under names of their own, for calls that do not go through the
 * table: okosu_vec_avx512_dsum. */
#define VEC_DECLARE_AVX512(result, give, name, parameters, arguments)                              \
    result okosu_vec_avx512_##name parameters;
#define VEC_DECLARE_AVX2(result, give, name, parameters, arguments)                                \
    result okosu_vec_avx2_##name parameters;

VEC_ROUTINES(VEC_DECLARE_AVX512)
VEC_ROUTINES(VEC_DECLARE_AVX2)

/* okosu_vec_avx512_entry_dsum is the public reduction where the dynamic linker picks it by the CPU
 * (vec.c): the avx512 routine, with no jump before it; so are those of avx2, sse3 and sse2. It
 * adds okosu_vec_shift to n, which is -1 if the variant of the entries that were picked is the one in
 * use, and makes every n negative if not; so one comparison finds a short call for the entry. Every
 * other call goes to okosu_vec_any_dsum, which asks the table. */
extern ptrdiff_t okosu_vec_shift;

#define VEC_DECLARE_ENTRY(result, give, name, parameters, arguments)                               \
    result okosu_vec_avx512_entry_##name parameters;                                               \
    result okosu_vec_avx2_entry_##name parameters;                                                 \
    result okosu_vec_sse3_entry_##name parameters;                                                 \
    result okosu_vec_sse2_entry_##name parameters;                                                 \
    result okosu_vec_any_##name parameters;

VEC_REDUCTIONS(VEC_DECLARE_ENTRY)

#endif
