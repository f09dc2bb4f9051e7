/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over up to 8 vectors of AVX-512, included by avx512.c for each type. What counts here
 * is the latency of the last steps: an addition is 2 to 3 cycles on Zen 5, but moving the upper
 * half of a vector down before it is some cycles more, so that up to 4 vectors sums are of narrow
 * vectors. Where a vector is loaded with a mask it lies within the array whenever possible: where
 * the masked part touches a page that is not there, the load costs 560 cycles. The totals add the
 * +0 that keeps a sum of nothing but -0 from being -0, to lanes that would wait anyway.
 */

/* 1 <= n <= 4: chains of single elements have no lanes to add up. */
VEC_INLINE TYPE ROUTINE(few)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    TYPE one = ROUTINE(one_term)(what, 0, x[0], y[0]);

    if (n > 2) {
        if (VEC_RARE(n == 3))
            return one +
                   (ROUTINE(one_start)(what, x[1], y[1]) + ROUTINE(one_start)(what, x[2], y[2]));
        return ROUTINE(one_term)(what, one, x[1], y[1]) +
               ROUTINE(one_term)(what, ROUTINE(one_start)(what, x[2], y[2]), x[3], y[3]);
    }
    return n == 1 ? one : ROUTINE(one_term)(what, one, x[1], y[1]);
}

/* Which of the `width` elements that end the array do not belong to the `before` that begin it. */
VEC_INLINE uint64_t ROUTINE(fresh)(size_t before, size_t width, size_t n)
{
    return ~UINT64_C(0) << (before + width - n);
}

/* 4 < n <= LANES: half a vector from the beginning and half a one up to the end, as quarters. */
VEC_INLINE TYPE ROUTINE(quarters)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t quarter = LANES / 4, half = LANES / 2;
    QUARTER sum0 = ROUTINE(quarter_start)(what, OP128(loadu)(x), OP128(loadu)(y)), sum1;
    uint64_t mask;
    size_t at;

    if (half > 4 && n < half) {
        mask = ROUTINE(fresh)(quarter, quarter, n), at = n - quarter;
        sum0 = ROUTINE(quarter_term)(what, sum0, OP128(maskz_loadu)((__mmask8)mask, x + at),
                                     OP128(maskz_loadu)((__mmask8)mask, y + at));
        return ROUTINE(quarter_total)(sum0);
    }
    mask = ROUTINE(fresh)(half, half, n), at = n - half;
    sum1 = ROUTINE(quarter_start)(what, OP128(loadu)(x + quarter), OP128(loadu)(y + quarter));
    sum0 = ROUTINE(quarter_term)(what, sum0, OP128(maskz_loadu)((__mmask8)mask, x + at),
                                 OP128(maskz_loadu)((__mmask8)mask, y + at));
    mask >>= quarter, at += quarter;
    sum1 = ROUTINE(quarter_term)(what, sum1, OP128(maskz_loadu)((__mmask8)mask, x + at),
                                 OP128(maskz_loadu)((__mmask8)mask, y + at));
    return ROUTINE(quarter_total_plus)(sum0 + sum1);
}

#define HALF_START(i)                                                                              \
    ROUTINE(half_start)(what, OP256(loadu)(x + (i)*half), OP256(loadu)(y + (i)*half))
#define HALF_NEXT(sum, i)                                                                          \
    ROUTINE(half_term)(what, sum, OP256(loadu)(x + (i)*half), OP256(loadu)(y + (i)*half))
#define HALF_LAST(sum, at, mask)                                                                   \
    ROUTINE(half_term)                                                                             \
    (what, sum, OP256(maskz_loadu)((__mmask8)(mask), x + (at)),                                    \
     OP256(maskz_loadu)((__mmask8)(mask), y + (at)))

/* LANES < n <= 2 LANES: a vector from the beginning and one up to the end, as halves. */
VEC_INLINE TYPE ROUTINE(halves)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t half = LANES / 2, at = n - LANES;
    const uint64_t mask = ROUTINE(fresh)(LANES, LANES, n);
    HALF sum0 = HALF_START(0), sum1 = HALF_START(1);

    sum0 = HALF_LAST(sum0, at, mask);
    sum1 = HALF_LAST(sum1, at + half, mask >> half);
    return ROUTINE(half_total)(sum0 + sum1);
}

#define HALVES_NEXT(low, high, i)                                                                  \
    low = HALF_NEXT(low, 2 * (i));                                                                 \
    high = HALF_NEXT(high, 2 * (i) + 1)

/*
 * 2 LANES < n <= 8 LANES, likewise. Two halves arrive in a cycle, and each sum takes a term in
 * every other, so that four keep up; what arrives last joins them last.
 */
VEC_INLINE TYPE ROUTINE(many_halves)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t half = LANES / 2, at = n - LANES;
    const uint64_t mask = ~UINT64_C(0) << (-n % LANES);
    HALF sum0 = HALF_START(0), sum1 = HALF_START(1), sum2 = HALF_START(2), sum3 = HALF_START(3);
    HALF end;

    if (n > 3 * LANES) {
        HALVES_NEXT(sum0, sum1, 2);
        if (VEC_RARE(n > 4 * LANES)) {
            HALVES_NEXT(sum2, sum3, 3);
            if (n > 5 * LANES) {
                HALVES_NEXT(sum0, sum1, 4);
                if (n > 6 * LANES) {
                    HALVES_NEXT(sum2, sum3, 5);
                    if (n > 7 * LANES) {
                        HALVES_NEXT(sum0, sum1, 6);
                    }
                }
            }
        }
    }
    end = ROUTINE(half_start)(what, OP256(maskz_loadu)((__mmask8)mask, x + at),
                              OP256(maskz_loadu)((__mmask8)mask, y + at));
    end = HALF_LAST(end, at + half, mask >> half);
    return ROUTINE(half_total)(((sum0 + sum1) + (sum2 + sum3)) + end);
}

#define SMALL_START(i) ROUTINE(start)(what, OP(loadu)(x + i * LANES), OP(loadu)(y + i * LANES))
#define SMALL_NEXT(sum, i)                                                                         \
    ROUTINE(term)(what, sum, OP(loadu)(x + (i)*LANES), OP(loadu)(y + (i)*LANES))
#define SMALL_LAST(sum, i)                                                                         \
    ROUTINE(term)                                                                                  \
    (what, sum, ROUTINE(last)(x + (i)*LANES, n - (i)*LANES),                                       \
     what == VEC_DOT ? ROUTINE(last)(y + (i)*LANES, n - (i)*LANES) : sum)

/* 2 LANES < n <= 4 LANES: two arrays have twice the loads, which would be twice as many again. */
VEC_INLINE TYPE ROUTINE(four)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_START(0), sum1 = SMALL_START(1);

    if (n > 3 * LANES) {
        sum1 = SMALL_NEXT(sum1, 2);
        sum0 = SMALL_LAST(sum0, 3);
    } else {
        sum0 = SMALL_LAST(sum0, 2);
    }
    return ROUTINE(total)(sum0 + sum1);
}

/* 4 LANES < n <= 8 LANES. */
VEC_INLINE TYPE ROUTINE(eight)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_START(0), sum1 = SMALL_START(1);
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

/* 0 < n <= SMALL. Few comparisons on any way: those that other calls took cost a cycle for every
 * two, taken or not. */
VEC_INLINE TYPE ROUTINE(small)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    if (n <= 2 * LANES) {
        if (VEC_RARE(n <= LANES)) {
            if (n <= 4)
                return ROUTINE(few)(what, x, y, n);
            return ROUTINE(quarters)(what, x, y, n);
        }
        return ROUTINE(halves)(what, x, y, n);
    }
    if (what != VEC_DOT)
        return ROUTINE(many_halves)(what, x, y, n);
    if (n <= 4 * LANES)
        return ROUTINE(four)(what, x, y, n);
    return ROUTINE(eight)(what, x, y, n);
}

#undef HALF_START
#undef HALF_NEXT
#undef HALF_LAST
#undef HALVES_NEXT
#undef SMALL_START
#undef SMALL_NEXT
#undef SMALL_LAST
