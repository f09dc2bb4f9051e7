/* SPDX-License-Identifier: Apache-2.0 */
/* The BLAS routines of one element type; included once for each, by cblas.c: T, VEC() names
 * libokosu's routine, BLAS() the one here, and the constants of range. */

static T BLAS(dot)(int64_t n, const T *x, int64_t incx, const T *y, int64_t incy)
{
    if (n <= 0)
        return 0;
    if (incx == 1 && incy == 1)
        return VEC(dot)(x, y, (size_t)n);
    return VEC(dot_strided)((size_t)n, x, incx, y, incy);
}

/* The BLAS leaves y alone where a is zero, whatever x holds. */
static void BLAS(axpy)(int64_t n, T a, const T *x, int64_t incx, T *y, int64_t incy)
{
    if (n <= 0 || a == 0)
        return;
    if (incx == 1 && incy == 1)
        VEC(axpy)(a, x, y, (size_t)n);
    else
        VEC(axpy_strided)((size_t)n, a, x, incx, y, incy);
}

static T BLAS(asum)(int64_t n, const T *x, int64_t incx)
{
    T sums[4] = {0};

    if (n <= 0 || incx <= 0)
        return 0;
    if (incx == 1)
        return VEC(asum)(x, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        sums[i % 4] += ABS(x[i * incx]);
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

static void BLAS(scal)(int64_t n, T a, T *x, int64_t incx)
{
    if (n <= 0 || incx <= 0)
        return;
    if (incx == 1) {
        VEC(scal)(a, x, (size_t)n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        x[i * incx] *= a;
}

static T BLAS(squares)(int64_t n, const T *x, int64_t incx, T scale)
{
    T sums[4] = {0};

    for (int64_t i = 0; i < n; i++) {
        T element = x[i * incx] * scale;

        sums[i % 4] += element * element;
    }
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* A negative increment names the same elements as the positive one, from the other end (as in the
 * reference BLAS from 3.10 on; before, the norm was 0), and zero one element n times. Squares that
 * leave the range are taken anew of elements multiplied by a power of two. */
static T BLAS(nrm2)(int64_t n, const T *x, int64_t incx)
{
    if (n <= 0)
        return 0;
    if (incx < 0)
        incx = -incx;
    if (incx == 1)
        return VEC(nrm2)(x, (size_t)n);
    T sum = BLAS(squares)(n, x, incx, 1);
    if (sum >= (T)n * SMALLEST && sum <= LARGEST)
        return ROOT(sum);
    T scale = sum < 1 ? SCALE_UP : SCALE_DOWN;
    return ROOT(BLAS(squares)(n, x, incx, scale)) / scale;
}
