/* SPDX-License-Identifier: Apache-2.0 */
/* A BLAS of plain loops, as the reference BLAS defines its routines: what vec_blas is linked
 * with. */
#include <math.h>
#include <stddef.h>

#define AT(x, inc, i) x[(inc) < 0 ? ((i) + 1 - n) * (inc) : (i) * (inc)]

#define TYPE_OF(T, p)                                                                              \
    T cblas_##p##dot(int n, const T *x, int incx, const T *y, int incy)                            \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int i = 0; i < n; i++)                                                                \
            sum += AT(x, incx, i) * AT(y, incy, i);                                                \
        return sum;                                                                                \
    }                                                                                              \
    void cblas_##p##axpy(int n, T a, const T *x, int incx, T *y, int incy)                         \
    {                                                                                              \
        for (int i = 0; i < n && a != 0; i++)                                                      \
            AT(y, incy, i) += a * AT(x, incx, i);                                                  \
    }                                                                                              \
    T cblas_##p##nrm2(int n, const T *x, int incx)                                                 \
    {                                                                                              \
        double sum = 0;                                                                            \
        for (int i = 0; i < n; i++)                                                                \
            sum += (double)AT(x, incx, i) * AT(x, incx, i);                                        \
        return (T)sqrt(sum);                                                                       \
    }                                                                                              \
    T cblas_##p##asum(int n, const T *x, int incx)                                                 \
    {                                                                                              \
        T sum = 0;                                                                                 \
        for (int i = 0; i < n && incx > 0; i++)                                                    \
            sum += x[i * incx] < 0 ? -x[i * incx] : x[i * incx];                                   \
        return sum;                                                                                \
    }                                                                                              \
    void cblas_##p##scal(int n, T a, T *x, int incx)                                               \
    {                                                                                              \
        for (int i = 0; i < n && incx > 0; i++)                                                    \
            x[i * incx] *= a;                                                                      \
    }                                                                                              \
    T p##dot_(const int *n, const T *x, const int *incx, const T *y, const int *incy)              \
    {                                                                                              \
        return cblas_##p##dot(*n, x, *incx, y, *incy);                                             \
    }                                                                                              \
    void p##axpy_(const int *n, const T *a, const T *x, const int *incx, T *y, const int *incy)    \
    {                                                                                              \
        cblas_##p##axpy(*n, *a, x, *incx, y, *incy);                                               \
    }                                                                                              \
    T p##nrm2_(const int *n, const T *x, const int *incx)                                          \
    {                                                                                              \
        return cblas_##p##nrm2(*n, x, *incx);                                                      \
    }                                                                                              \
    T p##asum_(const int *n, const T *x, const int *incx)                                          \
    {                                                                                              \
        return cblas_##p##asum(*n, x, *incx);                                                      \
    }                                                                                              \
    void p##scal_(const int *n, const T *a, T *x, const int *incx)                                 \
    {                                                                                              \
        cblas_##p##scal(*n, *a, x, *incx);                                                         \
    }

TYPE_OF(double, d)
TYPE_OF(float, s)
