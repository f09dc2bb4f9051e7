/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses a BLAS, by both kinds of names: prints the library that each comes from and
 * what each makes of many lengths and increments. The elements are small integers, so that every
 * right BLAS prints the same. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST 301

#define DECLARED(T, p)                                                                             \
    T cblas_##p##dot(int n, const T *x, int incx, const T *y, int incy);                           \
    void cblas_##p##axpy(int n, T a, const T *x, int incx, T *y, int incy);                        \
    T cblas_##p##nrm2(int n, const T *x, int incx);                                                \
    T cblas_##p##asum(int n, const T *x, int incx);                                                \
    void cblas_##p##scal(int n, T a, T *x, int incx);                                              \
    T p##dot_(const int *n, const T *x, const int *incx, const T *y, const int *incy);             \
    void p##axpy_(const int *n, const T *a, const T *x, const int *incx, T *y, const int *incy);   \
    T p##nrm2_(const int *n, const T *x, const int *incx);                                         \
    T p##asum_(const int *n, const T *x, const int *incx);                                         \
    void p##scal_(const int *n, const T *a, T *x, const int *incx);
DECLARED(double, d)
DECLARED(float, s)

static const int lengths[] = {-5, 0, 1, 2, 3, 7, 16, 33, 100};
static const int increments[] = {-3, -2, -1, 0, 1, 2, 3};

#define EACH(element, array)                                                                       \
    for (const int *element = array; element < array + sizeof(array) / sizeof(*array); element++)

static void print(const char *what, int n, int incx, int incy, double value)
{
    printf("%s %d %d %d %s%a\n", what, n, incx, incy, isnan(value) ? "nan or " : "",
           isnan(value) ? 0.0 : value);
}

/* The sum of all elements weighted by their places shows which ones changed. */
#define PRINT_VECTOR(what, vector)                                                                 \
    do {                                                                                           \
        double all = 0;                                                                            \
        for (int i = 0; i < MOST; i++)                                                             \
            all += (i + 1) * (double)(vector)[i];                                                  \
        print(what, *n, *incx, *incy, all);                                                        \
    } while (0)

#define CALLS(T, p, make)                                                                          \
    static void make##_vectors(T *x, T *y)                                                         \
    {                                                                                              \
        for (int i = 0; i < MOST; i++) {                                                           \
            x[i] = (T)((i * 7 + 3) % 23 - 11);                                                     \
            y[i] = (T)((i * 5 + 1) % 19 - 9);                                                      \
        }                                                                                          \
    }                                                                                              \
    static void make##_calls(const int *n, const int *incx, const int *incy, T a)                  \
    {                                                                                              \
        T x[MOST], y[MOST];                                                                        \
        make##_vectors(x, y);                                                                      \
        print(#p "dot", *n, *incx, *incy, (double)cblas_##p##dot(*n, x, *incx, y, *incy));         \
        print(#p "dot_", *n, *incx, *incy, (double)p##dot_(n, x, incx, y, incy));                  \
        print(#p "nrm2", *n, *incx, 0, (double)cblas_##p##nrm2(*n, x, *incx));                     \
        print(#p "nrm2_", *n, *incx, 0, (double)p##nrm2_(n, x, incx));                             \
        print(#p "asum", *n, *incx, 0, (double)cblas_##p##asum(*n, x, *incx));                     \
        print(#p "asum_", *n, *incx, 0, (double)p##asum_(n, x, incx));                             \
        cblas_##p##axpy(*n, a, x, *incx, y, *incy);                                                \
        PRINT_VECTOR(#p "axpy", y);                                                                \
        p##axpy_(n, &a, x, incx, y, incy);                                                         \
        PRINT_VECTOR(#p "axpy_", y);                                                               \
        cblas_##p##scal(*n, a, x, *incx);                                                          \
        PRINT_VECTOR(#p "scal", x);                                                                \
        p##scal_(n, &a, x, incx);                                                                  \
        PRINT_VECTOR(#p "scal_", x);                                                               \
        /* Nothing is added if the factor is zero, not even NaN. */                                \
        make##_vectors(x, y);                                                                      \
        x[0] = (T)NAN;                                                                             \
        cblas_##p##axpy(*n, 0, x, *incx, y, *incy);                                                \
        PRINT_VECTOR(#p "axpy by zero", y);                                                        \
    }
CALLS(double, d, double)
CALLS(float, s, float)

#define PRINT_LIBRARY(routine)                                                                     \
    do {                                                                                           \
        Dl_info found;                                                                             \
        if (dladdr((void *)routine, &found))                                                       \
            printf("library %s %s\n", #routine, strrchr(found.dli_fname, '/') + 1);                \
    } while (0)

int main(void)
{
    PRINT_LIBRARY(cblas_ddot);
    PRINT_LIBRARY(cblas_saxpy);
    PRINT_LIBRARY(cblas_dnrm2);
    PRINT_LIBRARY(sasum_);
    PRINT_LIBRARY(dscal_);
    EACH(n, lengths)
    EACH(incx, increments)
    EACH(incy, increments)
    {
        double_calls(n, incx, incy, -2);
        float_calls(n, incx, incy, 3);
    }
    return 0;
}
