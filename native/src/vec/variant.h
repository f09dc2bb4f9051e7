/* SPDX-License-Identifier: Apache-2.0 */
/* Variant: the rows of the table, each made by a file that is compiled for its instructions. */
#ifndef OKOSU_VEC_VARIANT_H
#define OKOSU_VEC_VARIANT_H

#include <okosu/vec.h>

/* ROUTINE(what it returns, `return` unless that is nothing, name, parameters, arguments) for each
 * member of a row. */
#define VEC_ROUTINES(ROUTINE)                                                                      \
    ROUTINE(double, return, dsum, (const double *x, size_t n), (x, n))                             \
    ROUTINE(double, return, dsumsq, (const double *x, size_t n), (x, n))                           \
    ROUTINE(double, return, dasum, (const double *x, size_t n), (x, n))                            \
    ROUTINE(double, return, ddot, (const double *x, const double *y, size_t n), (x, y, n))         \
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
    ROUTINE(float, return, ssum, (const float *x, size_t n), (x, n))                               \
    ROUTINE(float, return, ssumsq, (const float *x, size_t n), (x, n))                             \
    ROUTINE(float, return, sasum, (const float *x, size_t n), (x, n))                              \
    ROUTINE(float, return, sdot, (const float *x, const float *y, size_t n), (x, y, n))            \
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

extern const struct okosu_vec_variant okosu_vec_ref;
extern const struct okosu_vec_variant okosu_vec_sse2;
extern const struct okosu_vec_variant okosu_vec_sse3;
extern const struct okosu_vec_variant okosu_vec_avx2;
extern const struct okosu_vec_variant okosu_vec_avx512;
extern const struct okosu_vec_variant okosu_vec_neon;

/* The routines of the usual variants under names of their own, for calls that do not go through the
 * table: okosu_vec_avx512_dsum. */
#define VEC_DECLARE_AVX512(result, give, name, parameters, arguments)                              \
    result okosu_vec_avx512_##name parameters;
#define VEC_DECLARE_AVX2(result, give, name, parameters, arguments)                                \
    result okosu_vec_avx2_##name parameters;

VEC_ROUTINES(VEC_DECLARE_AVX512)
VEC_ROUTINES(VEC_DECLARE_AVX2)

#endif
