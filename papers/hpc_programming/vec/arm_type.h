/* SPDX-License-Identifier: Apache-2.0 */
/* The routines of AArch64 of one element type; included once for each, by vector.aarch64.c and sve.h,
 * after these have defined T (element), V (vector of it), LANES, NAME() and the operations named below.
 * With LOAD_PART and STORE_PART, which treat the first `count` lanes and load zeros into the others, no
 * element is treated alone. No include guard. */

enum { NAME(PARTIALS) = ARM_SUMS * LANES };

#ifndef LOAD_PART
/* The first `count` < LANES elements, zeros after them: a zero term changes no sum. */
static inline V NAME(load_part)(const T *x, size_t count)
{
    T part[LANES] = {0};

    for (size_t i = 0; i < count; i++)
        part[i] = x[i];
    return LOAD(part);
}
#define LOAD_PART NAME(load_part)
#endif

static inline __attribute__((always_inline)) V NAME(add_term)(enum arm_term term, V sum, V x, V y,
                                                              T scale)
{
    switch (term) {
    case ARM_SUM:
        return ADD(sum, x);
    case ARM_ABS:
        return ADD(sum, ABS(x));
    case ARM_SQUARE:
        return FMA(sum, x, x);
    case ARM_SCALED_SQUARE:
        x = SCALE(x, scale);
        return FMA(sum, x, x);
    case ARM_PRODUCT:
        return FMA(sum, x, y);
    }
    __builtin_unreachable();
}

/* `term` is a constant at every call, so that each caller becomes a loop of its own. */
static inline __attribute__((always_inline)) T NAME(reduce)(enum arm_term term, const T *x,
                                                            const T *y, T scale, size_t n)
{
    V sums[ARM_SUMS];
    size_t i = 0;

#pragma GCC unroll 8
    for (int v = 0; v < ARM_SUMS; v++)
        sums[v] = ALL(0);
    for (; n - i >= NAME(PARTIALS); i += NAME(PARTIALS)) {
#pragma GCC unroll 8
        for (int v = 0; v < ARM_SUMS; v++)
            sums[v] = NAME(add_term)(term, sums[v], LOAD(x + i + v * LANES),
                                     LOAD(y + i + v * LANES), scale);
    }
    /* The tail goes on round the ring, so that element i is always in sum i mod PARTIALS. */
#pragma GCC unroll 8
    for (int v = 0; v < ARM_SUMS; v++) {
        if (n - i >= LANES) {
            sums[v] = NAME(add_term)(term, sums[v], LOAD(x + i), LOAD(y + i), scale);
            i += LANES;
        } else if (i < n) {
            sums[v] = NAME(add_term)(term, sums[v], LOAD_PART(x + i, n - i),
                                     LOAD_PART(y + i, n - i), scale);
            i = n;
        }
    }
    V even = ADD(ADD(sums[0], sums[4]), ADD(sums[2], sums[6]));
    V odd = ADD(ADD(sums[1], sums[5]), ADD(sums[3], sums[7]));
    return ACROSS(ADD(even, odd));
}

static T NAME(sum)(const T *x, size_t n)
{
    return NAME(reduce)(ARM_SUM, x, x, 1, n);
}

static T NAME(sumsq)(const T *x, size_t n)
{
    return NAME(reduce)(ARM_SQUARE, x, x, 1, n);
}

static T NAME(asum)(const T *x, size_t n)
{
    return NAME(reduce)(ARM_ABS, x, x, 1, n);
}

static T NAME(dot)(const T *x, const T *y, size_t n)
{
    return NAME(reduce)(ARM_PRODUCT, x, y, 1, n);
}

/* A sum of squares from n * SMALLEST on (the least normal number) has lost at most one relative
 * rounding to underflow; an overflow shows as infinity. Otherwise the elements are multiplied by a
 * power of two and squared anew: then no sum of n < 2^40 squares leaves the range, and what
 * underflows is far below the last place. */
static T NAME(nrm2)(const T *x, size_t n)
{
    T sum = NAME(sumsq)(x, n);

    if (sum >= (T)n * SMALLEST && sum <= LARGEST)
        return ROOT(sum);
    T scale = sum < 1 ? SCALE_UP : SCALE_DOWN;
    return ROOT(NAME(reduce)(ARM_SCALED_SQUARE, x, x, scale, n)) / scale;
}

/* `out` may be b itself. */
static void NAME(triad)(T a, const T *b, const T *c, T *out, size_t n)
{
    V by = ALL(a);
    size_t i = 0;

    for (; n - i >= 8 * LANES; i += 8 * LANES) {
        V sums[8];
#pragma GCC unroll 8
        for (int v = 0; v < 8; v++)
            sums[v] = FMA(LOAD(b + i + v * LANES), by, LOAD(c + i + v * LANES));
#pragma GCC unroll 8
        for (int v = 0; v < 8; v++)
            STORE(out + i + v * LANES, sums[v]);
    }
    for (; n - i >= LANES; i += LANES)
        STORE(out + i, FMA(LOAD(b + i), by, LOAD(c + i)));
#ifdef STORE_PART
    if (i < n)
        STORE_PART(out + i, n - i, FMA(LOAD_PART(b + i, n - i), by, LOAD_PART(c + i, n - i)));
#else
    for (; i < n; i++)
        out[i] = FUSED(a, c[i], b[i]);
#endif
}

static void NAME(axpy)(T a, const T *x, T *y, size_t n)
{
    NAME(triad)(a, y, x, y, n);
}

static void NAME(scal)(T a, T *x, size_t n)
{
    size_t i = 0;

    for (; n - i >= 8 * LANES; i += 8 * LANES) {
#pragma GCC unroll 8
        for (int v = 0; v < 8; v++)
            STORE(x + i + v * LANES, SCALE(LOAD(x + i + v * LANES), a));
    }
    for (; n - i >= LANES; i += LANES)
        STORE(x + i, SCALE(LOAD(x + i), a));
#ifdef STORE_PART
    if (i < n)
        STORE_PART(x + i, n - i, SCALE(LOAD_PART(x + i, n - i), a));
#else
    for (; i < n; i++)
        x[i] *= a;
#endif
}

/* Where a vector of n > 0 elements begins: at its far end if the increment is negative. */
static const T *NAME(first)(const T *x, size_t n, ptrdiff_t inc)
{
    return inc < 0 ? x - (ptrdiff_t)(n - 1) * inc : x;
}

static T NAME(dot_strided)(size_t n, const T *x, ptrdiff_t incx, const T *y, ptrdiff_t incy)
{
    if (n == 0 || (incx == incy && (incx == 1 || incx == -1)))
        return NAME(dot)(x, y, n);
    T sums[4] = {0};
    size_t i = 0;

    x = NAME(first)(x, n, incx);
    y = NAME(first)(y, n, incy);
    for (; n - i >= 4; i += 4) {
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++)
            sums[v] = FUSED(x[v * incx], y[v * incy], sums[v]);
        x += 4 * incx;
        y += 4 * incy;
    }
    for (int v = 0; i < n; i++, v++)
        sums[v] = FUSED(x[v * incx], y[v * incy], sums[v]);
    return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}

/* One element after the other: with incy == 0 each result is the next one's input. */
static void NAME(axpy_strided)(size_t n, T a, const T *x, ptrdiff_t incx, T *y, ptrdiff_t incy)
{
    if (n == 0 || (incx == incy && (incx == 1 || incx == -1))) {
        NAME(axpy)(a, x, y, n);
        return;
    }
    x = NAME(first)(x, n, incx);
    y = (T *)NAME(first)(y, n, incy);
    for (size_t i = 0; i < n; i++)
        y[(ptrdiff_t)i * incy] = FUSED(a, x[(ptrdiff_t)i * incx], y[(ptrdiff_t)i * incy]);
}

#undef T
#undef V
#undef LANES
#undef NAME
#undef LOAD
#undef STORE
#undef LOAD_PART
#undef STORE_PART
#undef ALL
#undef ADD
#undef ABS
#undef SCALE
#undef FMA
#undef ACROSS
#undef FUSED
#undef ROOT
#undef SMALLEST
#undef LARGEST
#undef SCALE_UP
#undef SCALE_DOWN
