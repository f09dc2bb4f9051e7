/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions over up to 8 vectors of AVX-512, included by vector.avx512.c for each type. Three costs
 * decide its shape, as measured on Zen 5:
 * - The latency of the last steps. An addition is 2 to 3 cycles, but moving the upper half of 32
 *   bytes down before it 3 more, of 64 bytes 4 to 5. So few vectors are added up as narrow ones;
 *   but two loads arrive in a cycle, whatever their width, so that many are not.
 * - Jumps. One taken is about a cycle of the 7 to 12 of a call, a comparison half of one. So the
 *   shortest n come first, with nothing laid out between, and each class is a jump further.
 * - Masks. A masked load is 2 cycles longer than a plain one, an addition that leaves some lanes of
 *   the sum as they are no longer than a plain one. So the vectors that end the array are loaded
 *   whole, from within it, and what the sums have already is masked when they are added.
 * The totals add the +0 that keeps a sum of nothing but -0 from being -0, to lanes that would wait
 * anyway. */

/* Which of the `width` elements that end the array do not belong to the `before` that begin it. */
VEC_INLINE uint64_t ROUTINE(fresh)(size_t before, size_t width, size_t n)
{
    return ~UINT64_C(0) << (before + width - n);
}

#define FIRST_OF(WIDTH, OPS, i, lanes)                                                             \
    ROUTINE(WIDTH##_start)(what, OPS(loadu)(x + (i) * (lanes)), OPS(loadu)(y + (i) * (lanes)))
#define NEXT_OF(WIDTH, OPS, sum, i, lanes)                                                         \
    ROUTINE(WIDTH##_term)(what, sum, OPS(loadu)(x + (i) * (lanes)), OPS(loadu)(y + (i) * (lanes)))
/* The vector that begins at `at`, with only the lanes of the mask. */
#define SOME_OF(WIDTH, OPS, sum, at, mask)                                                         \
    OPS(mask_mov)                                                                                  \
    (sum, (__mmask8)(mask),                                                                        \
     ROUTINE(WIDTH##_term)(what, sum, OPS(loadu)(x + (at)), OPS(loadu)(y + (at))))

/* 4 < n <= LANES: half a vector from the beginning and half a one up to the end, as quarters. */
VEC_INLINE TYPE ROUTINE(quarters)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t quarter = LANES / 4, half = LANES / 2;
    QUARTER sum0 = FIRST_OF(quarter, OP128, 0, quarter), sum1;
    uint64_t mask;

    if (half > 4 && n < half) {
        mask = ROUTINE(fresh)(quarter, quarter, n);
        return ROUTINE(quarter_total_plus)(SOME_OF(quarter, OP128, sum0, n - quarter, mask));
    }
    mask = ROUTINE(fresh)(half, half, n);
    sum1 = FIRST_OF(quarter, OP128, 1, quarter);
    sum0 = SOME_OF(quarter, OP128, sum0, n - half, mask);
    sum1 = SOME_OF(quarter, OP128, sum1, n - quarter, mask >> quarter);
    return ROUTINE(quarter_total_plus)(sum0 + sum1);
}

/* LANES < n <= 2 LANES: a vector from the beginning and one up to the end, as halves. */
VEC_INLINE TYPE ROUTINE(halves)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t half = LANES / 2;
    const uint64_t mask = ROUTINE(fresh)(LANES, LANES, n);
    HALF sum0 = FIRST_OF(half, OP256, 0, half), sum1 = FIRST_OF(half, OP256, 1, half);

    sum0 = SOME_OF(half, OP256, sum0, n - LANES, mask);
    sum1 = SOME_OF(half, OP256, sum1, n - half, mask >> half);
    return ROUTINE(half_total)(sum0 + sum1);
}

#define HALVES_NEXT(low, high, i)                                                                  \
    low = NEXT_OF(half, OP256, low, 2 * (i), half);                                                \
    high = NEXT_OF(half, OP256, high, 2 * (i) + 1, half)

/* The lanes of the array's last vector that no whole vector from the beginning holds. */
VEC_INLINE uint64_t ROUTINE(rest)(size_t n)
{
    return ~UINT64_C(0) << (-n % LANES);
}

/* 2 LANES < n <= 6 LANES, likewise. Four sums keep up with two halves in a cycle. The vectors that
 * end the array come early, because their masks delay them; one of them comes after the vectors
 * that begin the sums (with both before these, a sum of 28 took 34.6 cycles instead of 33.3). */
VEC_INLINE TYPE ROUTINE(many_halves)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    const size_t half = LANES / 2;
    const uint64_t mask = ROUTINE(rest)(n);
    HALF sum0 = FIRST_OF(half, OP256, 0, half), sum1 = FIRST_OF(half, OP256, 1, half);
    HALF sum2 = FIRST_OF(half, OP256, 2, half), sum3 = FIRST_OF(half, OP256, 3, half);

    sum2 = SOME_OF(half, OP256, sum2, n - LANES, mask);
    VEC_IN_ORDER;
    sum3 = SOME_OF(half, OP256, sum3, n - half, mask >> half);
    if (n > 3 * LANES) {
        HALVES_NEXT(sum0, sum1, 2);
        if (n > 4 * LANES) {
            HALVES_NEXT(sum2, sum3, 3);
            if (n > 5 * LANES) {
                HALVES_NEXT(sum0, sum1, 4);
            }
        }
    }
    return ROUTINE(half_total)((sum0 + sum1) + (sum2 + sum3));
}

#define SMALL_START(i) ROUTINE(start)(what, OP(loadu)(x + i * LANES), OP(loadu)(y + i * LANES))
#define SMALL_NEXT(sum, i)                                                                         \
    ROUTINE(term)(what, sum, OP(loadu)(x + (i)*LANES), OP(loadu)(y + (i)*LANES))
#define SMALL_LAST(sum)                                                                            \
    OP(mask_mov)                                                                                   \
    (sum, (MASK)ROUTINE(rest)(n),                                                                  \
     ROUTINE(term)(what, sum, OP(loadu)(x + n - LANES), OP(loadu)(y + n - LANES)))

/* 2 LANES < n <= 4 LANES: two arrays have twice the loads, and halves would be twice as many
 * again. */
VEC_INLINE TYPE ROUTINE(four)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_START(0), sum1 = SMALL_START(1);

    if (n > 3 * LANES) {
        sum1 = SMALL_NEXT(sum1, 2);
        sum0 = SMALL_LAST(sum0);
    } else {
        sum0 = SMALL_LAST(sum0);
    }
    return ROUTINE(total)(sum0 + sum1);
}

/* 4 LANES < n <= 8 LANES. */
VEC_INLINE TYPE ROUTINE(eight)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = SMALL_START(0), sum1 = SMALL_START(1);
    VEC sum2 = SMALL_START(2), sum3 = SMALL_START(3);

    if (n <= 5 * LANES) {
        sum0 = SMALL_LAST(sum0);
    } else {
        sum0 = SMALL_NEXT(sum0, 4);
        if (n <= 6 * LANES) {
            sum1 = SMALL_LAST(sum1);
        } else {
            sum1 = SMALL_NEXT(sum1, 5);
            if (n <= 7 * LANES) {
                sum2 = SMALL_LAST(sum2);
            } else {
                sum2 = SMALL_NEXT(sum2, 6);
                sum3 = SMALL_LAST(sum3);
            }
        }
    }
    return ROUTINE(total)((sum0 + sum2) + (sum1 + sum3));
}

/* Hides from the compiler that classes of n share addresses. It would compute them once, before the
 * branch, and the loads would wait a cycle longer for that than for the addition in their own
 * address. */
VEC_INLINE size_t ROUTINE(anew)(size_t n)
{
    __asm__("" : "+r"(n));
    return n;
}

/* before = n - 1 < SMALL. */
VEC_INLINE TYPE ROUTINE(small)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n,
                               size_t before)
{
    if (VEC_RARE(before >= 2 * LANES)) {
        if (VEC_RARE(what == VEC_DOT && n <= 4 * LANES))
            return ROUTINE(four)(what, x, y, ROUTINE(anew)(n));
        if (VEC_RARE(what == VEC_DOT || n > 6 * LANES))
            return ROUTINE(eight)(what, x, y, ROUTINE(anew)(n));
        return ROUTINE(many_halves)(what, x, y, ROUTINE(anew)(n));
    }
    if (VEC_RARE(before >= 4)) {
        if (VEC_RARE(before >= LANES))
            return ROUTINE(halves)(what, x, y, ROUTINE(anew)(n));
        return ROUTINE(quarters)(what, x, y, ROUTINE(anew)(n));
    }
    return ROUTINE(few)(what, x, y, n);
}

#undef FIRST_OF
#undef NEXT_OF
#undef SOME_OF
#undef HALVES_NEXT
#undef SMALL_START
#undef SMALL_NEXT
#undef SMALL_LAST
