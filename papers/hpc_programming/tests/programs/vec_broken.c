/* SPDX-License-Identifier: Apache-2.0 */
/* Vector routines with one planted bug each, to show that vec_check would find it. */
#include "vec_check.h"

static double plain(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* The tail of one element is forgotten where whole vectors precede it. */
static double drops_tail(const double *x, size_t n)
{
    return plain(x, n > 8 && n % 8 == 1 ? n - 1 : n);
}

/* Reads the element after the last one, though without using it. */
static double reads_on(const double *x, size_t n)
{
    volatile double beyond = x[n];

    (void)beyond;
    return plain(x, n);
}

/* Reads the element before the first one. */
static float reads_before(const float *x, size_t n)
{
    volatile float before = x[-1];
    float sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return before == before ? sum : sum + 0;
}

/* Writes whole pairs. */
static void writes_on(double a, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= a;
    if (n % 2 && n > 32)
        x[n] = 0;
}

/* Another order of summing at another address. */
static float depends_on_address(const float *x, const float *y, size_t n)
{
    float sum = 0;

    for (size_t k = 0; k < n; k++) {
        size_t i = (uintptr_t)y % 64 == 36 ? n - 1 - k : k;

        sum += x[i] * y[i];
    }
    return sum;
}

/* Rounds twice in the last element only. */
static void fuses_all_but_last(double a, const double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        volatile double product = a * x[i];

        y[i] = i + 1 < n || n == 1 ? __builtin_fma(a, x[i], y[i]) : product + y[i];
    }
}

/* Multiplies also the elements that the mask leaves out. */
static double adds_masked(const double *x, const double *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    if (n > 0 && ((uintptr_t)(x + n) % 64))
        sum += x[n] * 0;
    return sum;
}

static double overflows(const double *x, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return __builtin_sqrt(sum);
}

/* A zero factor as a short cut loses NaN and infinity. */
static void skips_zero(float a, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = a == 0 || x[i] == 0 ? 0 : x[i] * a;
}

/* Begins a vector of negative increment at its near end. */
static double from_the_near_end(size_t n, const double *x, ptrdiff_t incx, const double *y,
                                ptrdiff_t incy)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[(ptrdiff_t)i * (incx < 0 ? -incx : incx)] *
               y[incy < 0 ? (ptrdiff_t)(n - 1 - i) * -incy : (ptrdiff_t)i * incy];
    return sum;
}

/* Treats four elements at once, though increment 0 makes them one. */
static void at_once(size_t n, float a, const float *x, ptrdiff_t incx, float *y, ptrdiff_t incy)
{
    ptrdiff_t ix = incx < 0 ? (1 - (ptrdiff_t)n) * incx : 0;
    ptrdiff_t iy = incy < 0 ? (1 - (ptrdiff_t)n) * incy : 0;

    for (size_t i = 0; i < n; i += 2) {
        float first = y[iy] + a * x[ix];

        if (i + 1 < n)
            y[iy + incy] += a * x[ix + incx];
        y[iy] = first;
        ix += 2 * incx;
        iy += 2 * incy;
    }
}

/* Right only while the operands stay in a cache. */
static double forgets_far(const double *x, const double *y, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        if (n < 300000 || i % 4096)
            sum += x[i] * y[i];
    return sum;
}

/* An index of 31 bits. */
static double short_index(const double *x, size_t n)
{
    return plain(x, n & 0xffffffff / sizeof(*x));
}

enum { ROWS = 13 };
static struct okosu_vec_variant rows[ROWS];
static const struct okosu_vec_variant *pointers[ROWS + 1];
const struct okosu_vec_variant *const *const vec_broken = pointers;

void vec_break(void)
{
    const struct okosu_vec_variant *const *sound = okosu_vec_table();

    while (sound[1])
        sound++;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = **sound;
        pointers[i] = &rows[i];
    }
    rows[0].about.name = "drops-tail", rows[0].dsum = drops_tail;
    rows[1].about.name = "reads-on", rows[1].dsum = reads_on;
    rows[2].about.name = "reads-before", rows[2].ssumsq = reads_before;
    rows[3].about.name = "writes-on", rows[3].dscal = writes_on;
    rows[4].about.name = "depends-on-address", rows[4].sdot = depends_on_address;
    rows[5].about.name = "fuses-all-but-last", rows[5].daxpy = fuses_all_but_last;
    rows[6].about.name = "adds-masked", rows[6].ddot = adds_masked;
    rows[7].about.name = "overflows", rows[7].dnrm2 = overflows;
    rows[8].about.name = "skips-zero", rows[8].sscal = skips_zero;
    rows[9].about.name = "from-the-near-end", rows[9].ddot_strided = from_the_near_end;
    rows[10].about.name = "at-once", rows[10].saxpy_strided = at_once;
    rows[11].about.name = "short-index", rows[11].dsum = short_index;
    rows[12].about.name = "forgets-far", rows[12].ddot = forgets_far;
}
