/* SPDX-License-Identifier: Apache-2.0 */
/* vec: sums, sums of squares, dot products, norms and updates of vectors of double and float. */
#ifndef OKOSU_VEC_H
#define OKOSU_VEC_H

#include <stddef.h>

#include <okosu/api.h>
#include <okosu/variant.h>

#ifdef __cplusplus
extern "C" {
#endif

/* n counts elements, 0 to SIZE_MAX / sizeof(element). Arrays may have any alignment, and with n ==
 * 0 any address, NULL included. Nothing outside x[0..n-1] has an effect or is changed (masked and
 * aligned vector loads may touch the rest of a line, never a page that holds no element). No
 * routine fails or sets errno. An output may be the very array of an input, but must not overlap it
 * otherwise.
 *
 * Reductions. The elements are dealt in turn to `partials` running sums, which are added in a tree
 * at the end: element i goes to sum (i + constant) mod partials, and the tree pairs sums a half, a
 * quarter, ... of the ring apart, so that the result does not depend on the constant. Thus for one
 * variant the same elements give the same bits at any address; another variant may give others.
 * Float reductions accumulate in float. A product is rounded before it is added in ref, sse2 and
 * sse3, and in sums of a few elements; the bound counts that rounding everywhere.
 *
 * Bounds, as long as nothing overflows: let u = 2^-53 for double, 2^-24 for float, let k be
 * okosu_vec_terms(n, partials), and gamma(k) = k u / (1 - k u). Then the error is at most
 * - sum: gamma(k) times the sum of |x_i|
 * - asum, sumsq: gamma(k) times the exact result
 * - dot: gamma(k) times the sum of |x_i y_i|
 * - nrm2: gamma(ceil(k/2) + 4) times the exact result
 * and where products underflow n * 2^-1075 more (float: n * 2^-150), except in nrm2. Source: N. J.
 * Higham, Accuracy and Stability of Numerical Algorithms (2nd ed. 2002), lemma 3.1 and sections
 * 3.1, 4.2: an error of gamma(k) follows if no element passes through more than k roundings. Here
 * these are ceil(n / partials) additions to its running sum (the first, to zero, is exact),
 * log2(partials) in the tree and one for its product. A square root halves a relative error.
 *
 * A sum over nothing is +0, and a sum whose terms are all zeros is +0 whatever their signs. NaN and
 * infinities go through as in the plain loop (which NaN comes out is unspecified). A sum that
 * overflows only in some orders may differ from the plain loop in that. Denormals are exact unless
 * the caller set FTZ or DAZ. */

/* Sum of x_i; of x_i^2; of |x_i|. */
OKOSU_API double okosu_vec_dsum(const double *x, size_t n);
OKOSU_API double okosu_vec_dsumsq(const double *x, size_t n);
OKOSU_API double okosu_vec_dasum(const double *x, size_t n);
OKOSU_API float okosu_vec_ssum(const float *x, size_t n);
OKOSU_API float okosu_vec_ssumsq(const float *x, size_t n);
OKOSU_API float okosu_vec_sasum(const float *x, size_t n);

/* Sum of x_i y_i. */
OKOSU_API double okosu_vec_ddot(const double *x, const double *y, size_t n);
OKOSU_API float okosu_vec_sdot(const float *x, const float *y, size_t n);

/* Square root of the sum of x_i^2, with no overflow or underflow on the way: infinite only if the
 * norm itself or an element is. */
OKOSU_API double okosu_vec_dnrm2(const double *x, size_t n);
OKOSU_API float okosu_vec_snrm2(const float *x, size_t n);

/* y_i += a x_i; x_i *= a; out_i = b_i + a c_i (STREAM's triad). The product is rounded before it is added
 * in ref, sse2, sse3 and avx2, which give the bits of the plain loop; avx512 and AArch64's variants round
 * once, by a fused multiply-add. The same for every i at any alignment. a == 0 is no special case: NaN
 * and infinities go through. */
OKOSU_API void okosu_vec_daxpy(double a, const double *x, double *y, size_t n);
OKOSU_API void okosu_vec_dscal(double a, double *x, size_t n);
OKOSU_API void okosu_vec_dtriad(double a, const double *b, const double *c, double *out, size_t n);
OKOSU_API void okosu_vec_saxpy(float a, const float *x, float *y, size_t n);
OKOSU_API void okosu_vec_sscal(float a, float *x, size_t n);
OKOSU_API void okosu_vec_striad(float a, const float *b, const float *c, float *out, size_t n);

/* dot and axpy over every inc-th element, as in the BLAS: a vector with a negative increment starts
 * at its far end, (1 - n) * inc elements on; increment 0 means one element n times. The bound is
 * that of the contiguous routine with partials = 4 (1 in ref), or of the contiguous one if both are
 * 1 or both -1. */
OKOSU_API double okosu_vec_ddot_strided(size_t n, const double *x, ptrdiff_t incx, const double *y,
                                        ptrdiff_t incy);
OKOSU_API float okosu_vec_sdot_strided(size_t n, const float *x, ptrdiff_t incx, const float *y,
                                       ptrdiff_t incy);
OKOSU_API void okosu_vec_daxpy_strided(size_t n, double a, const double *x, ptrdiff_t incx,
                                       double *y, ptrdiff_t incy);
OKOSU_API void okosu_vec_saxpy_strided(size_t n, float a, const float *x, ptrdiff_t incx, float *y,
                                       ptrdiff_t incy);

/* One implementation of all routines. Each can be called directly, on a CPU that has what it
 * needs. */
struct okosu_vec_variant {
    struct okosu_variant about;
    unsigned dpartials, spartials; /* running sums in a reduction of double, of float */
    double (*dsum)(const double *x, size_t n);
    double (*dsumsq)(const double *x, size_t n);
    double (*dasum)(const double *x, size_t n);
    double (*ddot)(const double *x, const double *y, size_t n);
    double (*dnrm2)(const double *x, size_t n);
    void (*daxpy)(double a, const double *x, double *y, size_t n);
    void (*dscal)(double a, double *x, size_t n);
    void (*dtriad)(double a, const double *b, const double *c, double *out, size_t n);
    double (*ddot_strided)(size_t n, const double *x, ptrdiff_t incx, const double *y,
                           ptrdiff_t incy);
    void (*daxpy_strided)(size_t n, double a, const double *x, ptrdiff_t incx, double *y,
                          ptrdiff_t incy);
    float (*ssum)(const float *x, size_t n);
    float (*ssumsq)(const float *x, size_t n);
    float (*sasum)(const float *x, size_t n);
    float (*sdot)(const float *x, const float *y, size_t n);
    float (*snrm2)(const float *x, size_t n);
    void (*saxpy)(float a, const float *x, float *y, size_t n);
    void (*sscal)(float a, float *x, size_t n);
    void (*striad)(float a, const float *b, const float *c, float *out, size_t n);
    float (*sdot_strided)(size_t n, const float *x, ptrdiff_t incx, const float *y, ptrdiff_t incy);
    void (*saxpy_strided)(size_t n, float a, const float *x, ptrdiff_t incx, float *y,
                          ptrdiff_t incy);
};

/* k of the bounds above: the most roundings that one element passes through. */
static inline size_t okosu_vec_terms(size_t n, unsigned partials)
{
    size_t k = n / partials + (n % partials != 0) + 1;

    for (unsigned sums = partials; sums > 1; sums /= 2)
        k++;
    return k;
}

/* Every variant of this build, best first, ended by NULL; the last one is "ref", plain C loops. */
OKOSU_API const struct okosu_vec_variant *const *okosu_vec_table(void);
/* The variant that the routines above use: the one forced, or named by OKOSU_VEC in the environment
 * at the first call (ignored if there is none of that name or this CPU cannot run it), or the first
 * of the table that this CPU can run. */
OKOSU_API const struct okosu_vec_variant *okosu_vec_chosen(void);
/* From now on use the variant `name` in this process; NULL: choose anew as at first. 0, -ENOENT: no
 * such variant, -ENOTSUP: not on this CPU. Any thread may call it at any time. */
OKOSU_API int okosu_vec_force(const char *name);

#ifdef __cplusplus
}
#endif

#endif
