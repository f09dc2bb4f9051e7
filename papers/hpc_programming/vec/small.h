/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions over up to eight vectors of AVX2 or SSE, included by routines.h for each type: vectors from
 * the beginning and one up to the end of the array, which is loaded whole and of which fresh() takes the
 * lanes that the others have already. A masked load comes later than a plain one, and eight sums that begin
 * with zeros would all have to be added up. */

#if LANES > 4
/* 4 < n <= LANES. */
VEC_INLINE TYPE ROUTINE(quarters)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    QUARTER sum0 = ROUTINE(quarter_start)(what, OP128(loadu)(x), OP128(loadu)(y));
    QUARTER sum1 = ROUTINE(quarter_start)(what, OP128(loadu)(x + n - 4), OP128(loadu)(y + n - 4));

    return ROUTINE(quarter_total)(sum0 + ROUTINE(quarter_fresh)(sum1, LANES - 8 + n));
}
#endif

/* LANES < n <= 2 LANES. */
VEC_INLINE TYPE ROUTINE(two)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
    VEC sum0 = ROUTINE(start)(what, OP(loadu)(x), OP(loadu)(y));
    VEC sum1 = ROUTINE(start)(what, OP(loadu)(x + n - LANES), OP(loadu)(y + n - LANES));

    return ROUTINE(total)(sum0 + ROUTINE(fresh)(sum1, n - LANES));
}

/* 2 LANES < n <= 8 LANES: the vector before the last is the first to go to a sum of its own. */
VEC_INLINE TYPE ROUTINE(eight)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n,
                               size_t before)
{
    VEC sum0 = ROUTINE(start)(what, OP(loadu)(x), OP(loadu)(y));
    VEC sum1 = ROUTINE(start)(what, OP(loadu)(x + LANES), OP(loadu)(y + LANES));
    VEC last = ROUTINE(start)(what, OP(loadu)(x + n - LANES), OP(loadu)(y + n - LANES));
    VEC sum2;

    last = ROUTINE(fresh)(last, before % LANES + 1);
    if (before < 3 * LANES)
        return ROUTINE(total)(sum0 + sum1 + last);
    sum2 = ROUTINE(start)(what, OP(loadu)(x + 2 * LANES), OP(loadu)(y + 2 * LANES));
    if (VEC_RARE(before >= 4 * LANES)) {
        last += ROUTINE(start)(what, OP(loadu)(x + 3 * LANES), OP(loadu)(y + 3 * LANES));
        if (before >= 5 * LANES) {
            sum0 = ROUTINE(term)(what, sum0, OP(loadu)(x + 4 * LANES), OP(loadu)(y + 4 * LANES));
            if (before >= 6 * LANES) {
                sum1 =
                    ROUTINE(term)(what, sum1, OP(loadu)(x + 5 * LANES), OP(loadu)(y + 5 * LANES));
                if (before >= 7 * LANES)
                    sum2 = ROUTINE(term)(what, sum2, OP(loadu)(x + 6 * LANES),
                                         OP(loadu)(y + 6 * LANES));
            }
        }
    }
    return ROUTINE(total)(sum0 + sum1 + (sum2 + last));
}

/* before = n - 1 < SMALL. */
VEC_INLINE TYPE ROUTINE(small)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n,
                               size_t before)
{
    if (VEC_RARE(before >= 4)) {
#if LANES > 4
        if (VEC_RARE(before < LANES))
            return ROUTINE(quarters)(what, x, y, n);
#endif
        if (VEC_RARE(before >= 2 * LANES))
            return ROUTINE(eight)(what, x, y, n, before);
        return ROUTINE(two)(what, x, y, n);
    }
    return ROUTINE(few)(what, x, y, n);
}
