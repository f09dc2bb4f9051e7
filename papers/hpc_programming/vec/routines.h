/* SPDX-License-Identifier: Apache-2.0 */
/* routines: all members of a row for one type. The including file defines these macros, which are
 * undefined again at the end:
 * - TYPE, VEC, LANES: the element, a vector of them, how many it holds
 * - ROUTINE(name), OP(name): the name of a function, and of an intrinsic, for this type
 * - MULADD(a, b, c), ABS(a): of vectors, a * b + c and |a|; MULADD_ONE(a, b, c): of elements
 * - UPDATED(OPS, a, u, v), UPDATED_ONE(a, u, v): a * u + v as axpy and triad round it, of vectors whose
 * intrinsics are OPS(name), and of elements
 * - SUMS: running vectors of a reduction, 4, 8 or 16
 * - SQUARE_SUMS, SQUARE_FROM: if defined, as many in sumsq from so many elements on
 * - LONG_DOT: if defined, products of so many go by two rings a turn
 * - THIRDS: if defined, these may be twelve, and behind(low, high, skip) serves: the lanes of two
 * vectors from `skip` on
 * - ALIGNED_OPERANDS: if defined, an instruction's operand in memory must be aligned, and OP(load) serves
 * - HALVES: if defined, what lies in L2 is loaded by halves of a vector, HALF, and low(v), high(v)
 * and joined(low, high) serve, with half_term() and OP256(loadu)
 * - SMALL: 0, or up to how many elements, at least 4, SMALL_FILE serves by the function
 * small(what, x, y, n, n - 1); if these are SUMS * LANES or more, total() adds +0 as well
 * - ENTRY(name), ELSEWHERE(name), with SMALL: what variant.h says of them
 * and these functions:
 * - first(p, skip): loads a vector with +0 in the lanes below skip, of which nothing is read
 * - last(p, left): loads one with +0 in the lanes from `left` on, 0 < left <= LANES
 * - total(v): the sum of the lanes; pairs lanes a half of them apart, then a quarter, ...
 * - edge(scale, up, a, u, v, out, n): what update() does, or scale() of u, for n < LANES elements;
 * `up` if it is their end that is aligned */
VEC_TERMS(ROUTINE(term), ROUTINE(start), VEC, MULADD, ABS)

#if SMALL
/* 1 <= n <= 4: chains of single elements have no lanes to add up. */
VEC_INLINE TYPE ROUTINE(few)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    TYPE one = ROUTINE(one_term)(what, 0, x[0], y[0]);

    if (VEC_RARE(n == 2))
        return ROUTINE(one_term)(what, one, x[1], y[1]);
    if (VEC_RARE(n > 2)) {
        if (VEC_RARE(n > 3))
            return ROUTINE(one_term)(what, one, x[1], y[1]) +
                   ROUTINE(one_term)(what, ROUTINE(one_start)(what, x[2], y[2]), x[3], y[3]);
        return one + (ROUTINE(one_start)(what, x[1], y[1]) + ROUTINE(one_start)(what, x[2], y[2]));
    }
    return one;
}

#include SMALL_FILE
#endif
#include "vec/reduce.h"
#include "vec/update.h"

static TYPE ROUTINE(sum)(const TYPE *x, size_t n)
{
    return ROUTINE(reduce)(VEC_SUM, x, x, n);
}

static TYPE ROUTINE(sumsq)(const TYPE *x, size_t n)
{
    return ROUTINE(reduce)(VEC_SQUARE, x, x, n);
}

static TYPE ROUTINE(asum)(const TYPE *x, size_t n)
{
    return ROUTINE(reduce)(VEC_ABS, x, x, n);
}

static TYPE ROUTINE(dot)(const TYPE *x, const TYPE *y, size_t n)
{
    return ROUTINE(reduce)(VEC_DOT, x, y, n);
}

#if SMALL
#define REDUCTION(name, what, parameters, arguments, y)                                            \
    TYPE ENTRY(name) parameters                                                                    \
    {                                                                                              \
        const size_t before = n + (size_t)__atomic_load_n(&okosu_vec_shift, __ATOMIC_RELAXED);     \
                                                                                                   \
        if (VEC_RARE(before >= 2 * LANES)) {                                                       \
            if (VEC_RARE(before < SMALL))                                                          \
                return ROUTINE(small)(what, x, y, n, before);                                      \
            if (VEC_RARE((ptrdiff_t)before < 0))                                                   \
                return ELSEWHERE(name) arguments;                                                  \
            return ROUTINE(reduce_many)(what, x, y, n);                                            \
        }                                                                                          \
        return ROUTINE(small)(what, x, y, n, before);                                              \
    }
#define ONE_ARRAY (const TYPE *x, size_t n)

REDUCTION(sum, VEC_SUM, ONE_ARRAY, (x, n), x)
REDUCTION(sumsq, VEC_SQUARE, ONE_ARRAY, (x, n), x)
REDUCTION(asum, VEC_ABS, ONE_ARRAY, (x, n), x)
REDUCTION(dot, VEC_DOT, (const TYPE *x, const TYPE *y, size_t n), (x, y, n), y)
#undef REDUCTION
#undef ONE_ARRAY
#endif

static void ROUTINE(axpy)(TYPE a, const TYPE *x, TYPE *y, size_t n)
{
    ROUTINE(update)(a, x, y, y, n);
}

static void ROUTINE(scal)(TYPE a, TYPE *x, size_t n)
{
    ROUTINE(scale)(a, x, n);
}

static void ROUTINE(triad)(TYPE a, const TYPE *b, const TYPE *c, TYPE *out, size_t n)
{
    ROUTINE(update)(a, c, b, out, n);
}

/* Where the first element lies from the address that the caller gives. */
VEC_INLINE ptrdiff_t ROUTINE(origin)(size_t n, ptrdiff_t inc)
{
    return inc < 0 && n ? ((ptrdiff_t)n - 1) * -inc : 0;
}

/* Gathers are no faster than loads of single elements; four sums hide the latency of the adds. */
static TYPE ROUTINE(dot_strided)(size_t n, const TYPE *x, ptrdiff_t incx, const TYPE *y,
                                 ptrdiff_t incy)
{
    TYPE sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;

    if (incx == incy && (incx == 1 || incx == -1))
        return ROUTINE(dot)(x, y, n);
    x += ROUTINE(origin)(n, incx);
    y += ROUTINE(origin)(n, incy);
    for (; n >= 4; n -= 4, x += 4 * incx, y += 4 * incy) {
        sum0 = MULADD_ONE(x[0], y[0], sum0);
        sum1 = MULADD_ONE(x[incx], y[incy], sum1);
        sum2 = MULADD_ONE(x[2 * incx], y[2 * incy], sum2);
        sum3 = MULADD_ONE(x[3 * incx], y[3 * incy], sum3);
    }
    if (n > 0)
        sum0 = MULADD_ONE(x[0], y[0], sum0);
    if (n > 1)
        sum1 = MULADD_ONE(x[incx], y[incy], sum1);
    if (n > 2)
        sum2 = MULADD_ONE(x[2 * incx], y[2 * incy], sum2);
    return (sum0 + sum2) + (sum1 + sum3);
}

static void ROUTINE(axpy_strided)(size_t n, TYPE a, const TYPE *x, ptrdiff_t incx, TYPE *y,
                                  ptrdiff_t incy)
{
    if (incx == incy && (incx == 1 || incx == -1)) {
        ROUTINE(axpy)(a, x, y, n);
        return;
    }
    x += ROUTINE(origin)(n, incx);
    y += ROUTINE(origin)(n, incy);
    for (; n; n--, x += incx, y += incy)
        *y = UPDATED_ONE(a, *x, *y);
}

#undef TYPE
#undef VEC
#undef LANES
#undef ROUTINE
#undef OP
#undef MULADD
#undef MULADD_ONE
#undef UPDATED
#undef UPDATED_ONE
#undef ABS
#undef SUMS
#undef SQUARE_SUMS
#undef SQUARE_FROM
#undef LONG_DOT
#undef THIRDS
#undef ALIGNED_OPERANDS
#undef HALVES
#undef SMALL
#undef SMALL_FILE
#undef ENTRY
#undef ELSEWHERE
