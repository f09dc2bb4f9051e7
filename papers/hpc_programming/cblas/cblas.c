/* SPDX-License-Identifier: Apache-2.0 */
/* libokosu-cblas: the BLAS's names for libokosu's vector routines, so that LD_PRELOAD puts them in
 * front of the BLAS of an existing program. It holds its own copy of the routines and exports
 * nothing but those names; the variant is chosen as in libokosu (OKOSU_VEC forces one).
 *
 * Which names: those of the reference BLAS with 32-bit integers (cblas_ddot, ddot_), those with
 * 64-bit integers as the reference (cblas_ddot_64, ddot_64_) and OpenBLAS (cblas_ddot64_) spell
 * them, and OpenBLAS's in numpy and scipy wheels (the same after scipy_). A program with 64-bit
 * integers but plain names (cblas_ddot of an ILP64 BLAS) must not have it in front: it would lose
 * the upper half of a count of 2^31 elements or more. Float results of the Fortran names follow
 * gfortran, not f2c. */
#include <okosu/vec.h>

#include <float.h>
#include <math.h>
#include <stdint.h>

#define T double
#define VEC(routine) okosu_vec_d##routine
#define BLAS(routine) blas_d##routine
#define ABS fabs
#define ROOT sqrt
#define SMALLEST DBL_MIN
#define LARGEST DBL_MAX
#define SCALE_UP 0x1p600
#define SCALE_DOWN 0x1p-600
#include "cblas/cblas_type.h"
#undef T
#undef VEC
#undef BLAS
#undef ABS
#undef ROOT
#undef SMALLEST
#undef LARGEST
#undef SCALE_UP
#undef SCALE_DOWN

#define T float
#define VEC(routine) okosu_vec_s##routine
#define BLAS(routine) blas_s##routine
#define ABS fabsf
#define ROOT sqrtf
#define SMALLEST FLT_MIN
#define LARGEST FLT_MAX
#define SCALE_UP 0x1p100f
#define SCALE_DOWN 0x1p-90f
#include "cblas/cblas_type.h"

/* NAME(ddot) is what ddot is called there; INT is its integer. */
#define C_NAMES_OF(p, T, INT, NAME)                                                                \
    OKOSU_API T NAME(p##dot)(INT n, const T *x, INT incx, const T *y, INT incy)                    \
    {                                                                                              \
        return blas_##p##dot(n, x, incx, y, incy);                                                 \
    }                                                                                              \
    OKOSU_API void NAME(p##axpy)(INT n, T a, const T *x, INT incx, T *y, INT incy)                 \
    {                                                                                              \
        blas_##p##axpy(n, a, x, incx, y, incy);                                                    \
    }                                                                                              \
    OKOSU_API T NAME(p##nrm2)(INT n, const T *x, INT incx)                                         \
    {                                                                                              \
        return blas_##p##nrm2(n, x, incx);                                                         \
    }                                                                                              \
    OKOSU_API T NAME(p##asum)(INT n, const T *x, INT incx)                                         \
    {                                                                                              \
        return blas_##p##asum(n, x, incx);                                                         \
    }                                                                                              \
    OKOSU_API void NAME(p##scal)(INT n, T a, T * x, INT incx)                                      \
    {                                                                                              \
        blas_##p##scal(n, a, x, incx);                                                             \
    }

#define FORTRAN_NAMES_OF(p, T, INT, NAME)                                                          \
    OKOSU_API T NAME(p##dot)(const INT *n, const T *x, const INT *incx, const T *y,                \
                             const INT *incy)                                                      \
    {                                                                                              \
        return blas_##p##dot(*n, x, *incx, y, *incy);                                              \
    }                                                                                              \
    OKOSU_API void NAME(p##axpy)(const INT *n, const T *a, const T *x, const INT *incx, T *y,      \
                                 const INT *incy)                                                  \
    {                                                                                              \
        blas_##p##axpy(*n, *a, x, *incx, y, *incy);                                                \
    }                                                                                              \
    OKOSU_API T NAME(p##nrm2)(const INT *n, const T *x, const INT *incx)                           \
    {                                                                                              \
        return blas_##p##nrm2(*n, x, *incx);                                                       \
    }                                                                                              \
    OKOSU_API T NAME(p##asum)(const INT *n, const T *x, const INT *incx)                           \
    {                                                                                              \
        return blas_##p##asum(*n, x, *incx);                                                       \
    }                                                                                              \
    OKOSU_API void NAME(p##scal)(const INT *n, const T *a, T *x, const INT *incx)                  \
    {                                                                                              \
        blas_##p##scal(*n, *a, x, *incx);                                                          \
    }

#define C_NAMES(INT, NAME)                                                                         \
    C_NAMES_OF(d, double, INT, NAME)                                                               \
    C_NAMES_OF(s, float, INT, NAME)

#define FORTRAN_NAMES(INT, NAME)                                                                   \
    FORTRAN_NAMES_OF(d, double, INT, NAME)                                                         \
    FORTRAN_NAMES_OF(s, float, INT, NAME)

#define CBLAS(name) cblas_##name
#define CBLAS_64(name) cblas_##name##_64
#define CBLAS64_(name) cblas_##name##64_
#define SCIPY_CBLAS(name) scipy_cblas_##name
#define SCIPY_CBLAS64_(name) scipy_cblas_##name##64_
C_NAMES(int32_t, CBLAS)
C_NAMES(int64_t, CBLAS_64)
C_NAMES(int64_t, CBLAS64_)
C_NAMES(int32_t, SCIPY_CBLAS)
C_NAMES(int64_t, SCIPY_CBLAS64_)

#define FORTRAN(name) name##_
#define FORTRAN64_(name) name##_64_
#define SCIPY_FORTRAN(name) scipy_##name##_
#define SCIPY_FORTRAN64_(name) scipy_##name##_64_
FORTRAN_NAMES(int32_t, FORTRAN)
FORTRAN_NAMES(int64_t, FORTRAN64_)
FORTRAN_NAMES(int32_t, SCIPY_FORTRAN)
FORTRAN_NAMES(int64_t, SCIPY_FORTRAN64_)
