/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over less than 8 vectors of AVX-512, included by avx512.c for each type. What counts
 * here is the latency of the last steps: from 512 bits to one element 18 cycles on Zen 5, from 256
 * bits 11, from 128 bits 5. Where a vector is loaded with a mask it lies within the array whenever
 * possible: where the masked part touches a page that is not there, the load costs 560 cycles. One
 * term is added to +0, which keeps a sum of nothing but -0 from being -0; it is one that would wait
 * anyway.
 */

/* n <= 4: chains of single elements have no lanes to add up. */
VEC_INLINE TYPE ROUTINE(few)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    TYPE one;

    if (n == 0)
        return 0;
    one = ROUTINE(one_term)(what, 0, x[0], y[0]);
    if (n > 2) {
        if (VEC_RARE(n == 3))
            return one + ROUTINE(one_term)(what, ROUTINE(one_start)(what, x[1], y[1]), x[2], y[2]);
        return ROUTINE(one_term)(what, one, x[1], y[1]) +
               ROUTINE(one_term)(what, ROUTINE(one_start)(what, x[2], y[2]), x[3], y[3]);
    }
    return n == 1 ? one : ROUTINE(one_term)(what, one, x[1], y[1]);
}

/* 4 < n < LANES. */
VEC_INLINE TYPE ROUTINE(quarters)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t quarter = LANES / 4, rest = n % quarter, at = rest ? n - rest : 0;
    const __mmask8 mask = (__mmask8)ROUTINE(lanes)(rest);
    QUARTER sum = ROUTINE(quarter_start)(what, OP128(loadu)(x), OP128(loadu)(y));
    QUARTER end = ROUTINE(quarter_start)(what, OP128(maskz_loadu)(mask, x + at),
                                         OP128(maskz_loadu)(mask, y + at));

    if (n >= 2 * quarter)
        sum =
            ROUTINE(quarter_term)(what, sum, OP128(loadu)(x + quarter), OP128(loadu)(y + quarter));
    if (n >= 3 * quarter)
        end = ROUTINE(quarter_term)(what, end, OP128(loadu)(x + 2 * quarter),
                                    OP128(loadu)(y + 2 * quarter));
    return ROUTINE(quarter_total)(sum + end);
}

/* LANES <= n <= 2 LANES: a whole vector, and one that ends where the array ends without the
 * elements that the first had, each as two halves. */
VEC_INLINE TYPE ROUTINE(halves)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t half = LANES / 2, at = n - LANES;
    const uint64_t mask = ~UINT64_C(0) << (LANES - at);
    const __mmask8 low = (__mmask8)mask, high = (__mmask8)(mask >> half);
    HALF sum0 = ROUTINE(half_term)(what, OP256(setzero)(), OP256(loadu)(x), OP256(loadu)(y));
    HALF sum1 = ROUTINE(half_start)(what, OP256(loadu)(x + half), OP256(loadu)(y + half));

    x += at;
    y += at;
    sum0 = ROUTINE(half_term)(what, sum0, OP256(maskz_loadu)(low, x), OP256(maskz_loadu)(low, y));
    sum1 = ROUTINE(half_term)(what, sum1, OP256(maskz_loadu)(high, x + half),
                              OP256(maskz_loadu)(high, y + half));
    return ROUTINE(half_total)(sum0 + sum1);
}

#define SMALL_START(i) ROUTINE(start)(what, OP(loadu)(x + i * LANES), OP(loadu)(y + i * LANES))
#define SMALL_NEXT(sum, i)                                                                         \
    ROUTINE(term)(what, sum, OP(loadu)(x + (i)*LANES), OP(loadu)(y + (i)*LANES))
#define SMALL_LAST(sum, i)                                                                         \
    ROUTINE(term)                                                                                  \
    (what, sum, ROUTINE(last)(x + (i)*LANES, n - (i)*LANES),                                       \
     what == VEC_DOT ? ROUTINE(last)(y + (i)*LANES, n - (i)*LANES) : sum)

/* 2 LANES < n <= 4 LANES. */
VEC_INLINE TYPE ROUTINE(four)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_NEXT(OP(setzero)(), 0), sum1 = SMALL_START(1);

    if (n > 3 * LANES) {
        sum1 = SMALL_NEXT(sum1, 2);
        sum0 = SMALL_LAST(sum0, 3);
    } else {
        sum0 = SMALL_LAST(sum0, 2);
    }
    return ROUTINE(total)(sum0 + sum1);
}

/* 4 LANES < n < 8 LANES. */
VEC_INLINE TYPE ROUTINE(eight)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_NEXT(OP(setzero)(), 0), sum1 = SMALL_START(1);
    VEC sum2 = SMALL_START(2), sum3 = SMALL_START(3);

    if (n <= 5 * LANES) {
        sum0 = SMALL_LAST(sum0, 4);
    } else {
        sum0 = SMALL_NEXT(sum0, 4);
        if (n <= 6 * LANES) {
            sum1 = SMALL_LAST(sum1, 5);
        } else {
            sum1 = SMALL_NEXT(sum1, 5);
            if (n <= 7 * LANES) {
                sum2 = SMALL_LAST(sum2, 6);
            } else {
                sum2 = SMALL_NEXT(sum2, 6);
                sum3 = SMALL_LAST(sum3, 7);
            }
        }
    }
    return ROUTINE(total)((sum0 + sum2) + (sum1 + sum3));
}

/* Few comparisons on any way: those that other calls took cost a cycle for every two, taken or not.
 */
#define SMALL_CASES                                                                                \
    if (VEC_RARE(n < 8 * LANES)) {                                                                 \
        if (n <= 2 * LANES) {                                                                      \
            if (VEC_RARE(n < LANES)) {                                                             \
                if (n <= 4)                                                                        \
                    return ROUTINE(few)(what, x, y, n);                                            \
                return ROUTINE(quarters)(what, x, y, n);                                           \
            }                                                                                      \
            return ROUTINE(halves)(what, x, y, n);                                                 \
        }                                                                                          \
        if (n <= 4 * LANES)                                                                        \
            return ROUTINE(four)(what, x, y, n);                                                   \
        return ROUTINE(eight)(what, x, y, n);                                                      \
    }
