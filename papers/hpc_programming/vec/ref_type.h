/* SPDX-License-Identifier: Apache-2.0 */
/* Reference routines for one type, included by ref.c for each: TYPE, ABS and ROUTINE(name) are
 * its. */

static TYPE ROUTINE(sum)(const TYPE *x, size_t n)
{
    TYPE sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

static TYPE ROUTINE(sumsq)(const TYPE *x, size_t n)
{
    TYPE sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sum;
}

static TYPE ROUTINE(asum)(const TYPE *x, size_t n)
{
    TYPE sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += ABS(x[i]);
    return sum;
}

static TYPE ROUTINE(dot)(const TYPE *x, const TYPE *y, size_t n)
{
    TYPE sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void ROUTINE(axpy)(TYPE a, const TYPE *x, TYPE *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

static void ROUTINE(scal)(TYPE a, TYPE *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= a;
}

static void ROUTINE(triad)(TYPE a, const TYPE *b, const TYPE *c, TYPE *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = b[i] + a * c[i];
}

/* Where the first element of a vector lies from the address that the BLAS is given. */
static ptrdiff_t ROUTINE(origin)(size_t n, ptrdiff_t inc)
{
    return inc < 0 && n ? ((ptrdiff_t)n - 1) * -inc : 0;
}

static TYPE ROUTINE(dot_strided)(size_t n, const TYPE *x, ptrdiff_t incx, const TYPE *y,
                                 ptrdiff_t incy)
{
    ptrdiff_t ix = ROUTINE(origin)(n, incx), iy = ROUTINE(origin)(n, incy);
    TYPE sum = 0;

    for (size_t i = 0; i < n; i++, ix += incx, iy += incy)
        sum += x[ix] * y[iy];
    return sum;
}

static void ROUTINE(axpy_strided)(size_t n, TYPE a, const TYPE *x, ptrdiff_t incx, TYPE *y,
                                  ptrdiff_t incy)
{
    ptrdiff_t ix = ROUTINE(origin)(n, incx), iy = ROUTINE(origin)(n, incy);

    for (size_t i = 0; i < n; i++, ix += incx, iy += incy)
        y[iy] += a * x[ix];
}
