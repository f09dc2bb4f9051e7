/* SPDX-License-Identifier: Apache-2.0 */
/* reduce: the reductions, written once for every type and instruction set; see routines.h for what
 * it needs.
 *
 * Element i is dealt to the sum at place (i + skip) mod (running vectors * LANES) of a ring, where
 * skip makes all loads of x but the first aligned: a load that crosses a line costs two (measured
 * on Zen 5: 7.9 against 15.6 elements a cycle in dsum). As the tree at the end pairs sums that are
 * half the ring apart, then a quarter and so on, turning the ring by `skip` does not change a bit
 * of it. Of a ring of twelve vectors three are left when its halves and quarters are added: these
 * are turned back before they are. */

/* The running vectors are the variables sum0 ... sum15, because gcc 12 would keep an array in
 * memory; the compiler drops those from `sums` on. Each macro below is a statement for one of
 * them. */
#define EACH_AFTER_0(DO)                                                                           \
    DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)
#define EACH(DO) DO(0) EACH_AFTER_0(DO)
#define EACH_PAIR(DO)                                                                              \
    DO(0, 8)                                                                                       \
    DO(1, 9)                                                                                       \
    DO(2, 10)                                                                                      \
    DO(3, 11)                                                                                      \
    DO(4, 12)                                                                                      \
    DO(5, 13) DO(6, 14) DO(7, 15) DO(0, 4) DO(1, 5) DO(2, 6) DO(3, 7) DO(0, 2) DO(1, 3) DO(0, 1)

/* The vector i of an array: whole, without what precedes the array, without what follows it. */
#define WHOLE(p, i) OP(loadu)(p + i * LANES)
#define FIRST(p, i) ROUTINE(first)(p, skip)
#define LAST(p, i) ROUTINE(last)(p + i * LANES, n - i * LANES)

#define ADD_TERM(i, LOAD)                                                                          \
    sum##i = ROUTINE(term)(what, sum##i, LOAD(x, i), two ? LOAD(y, i) : sum##i);
#define DEFINE(i) VEC sum##i = OP(setzero)();
#define START(i)                                                                                   \
    if (i < sums)                                                                                  \
        sum##i = ROUTINE(start)(what, WHOLE(x, i), two ? WHOLE(y, i) : sum##i);
#define NEXT(i)                                                                                    \
    if (i < sums)                                                                                  \
    ADD_TERM(i, WHOLE)
/* Two lines of each array by vectors of half a line: those of x before those of y, which from L2 is up
 * to a twentieth faster than in turn (Zen 5). */
#define NEXT_FOUR(i, j, k, l)                                                                      \
    if (l < sums) {                                                                                \
        VEC a = WHOLE(x, i), b = WHOLE(x, j), c = WHOLE(x, k), d = WHOLE(x, l);                    \
        VEC_IN_ORDER;                                                                              \
        sum##i = ROUTINE(term)(what, sum##i, a, WHOLE(y, i));                                      \
        sum##j = ROUTINE(term)(what, sum##j, b, WHOLE(y, j));                                      \
        sum##k = ROUTINE(term)(what, sum##k, c, WHOLE(y, k));                                      \
        sum##l = ROUTINE(term)(what, sum##l, d, WHOLE(y, l));                                      \
        VEC_IN_ORDER;                                                                              \
    }
#ifdef ALIGNED_OPERANDS
#define NEXT_ALIGNED(i)                                                                            \
    if (i < sums)                                                                                  \
        sum##i = ROUTINE(term)(what, sum##i, OP(load)(x + i * LANES), two ? WHOLE(y, i) : sum##i);
#endif
#define NEXT_AHEAD(i)                                                                              \
    if (i < sums && i * sizeof(VEC) % 64 == 0) {                                                   \
        vec_ahead(x + i * LANES, two ? VEC_AHEAD_TWO : VEC_AHEAD_ONE);                             \
        if (two)                                                                                   \
            vec_ahead(y + i * LANES, VEC_AHEAD_TWO);                                               \
    }                                                                                              \
    NEXT(i)
#ifdef HALVES
/* Two vectors by halves, those of x before those of y. */
#define EACH_TWO(DO) DO(0, 1) DO(2, 3) DO(4, 5) DO(6, 7) DO(8, 9) DO(10, 11) DO(12, 13) DO(14, 15)
#define HALF_AT(p, i, half) OP256(loadu)(p + i * LANES + half * (LANES / 2))
#define DIVIDE(i)                                                                                  \
    HALF low##i, high##i;                                                                          \
    if (i < sums)                                                                                  \
        low##i = ROUTINE(low)(sum##i), high##i = ROUTINE(high)(sum##i);
#define NEXT_HALF(i, v, half, sum)                                                                 \
    sum##i = ROUTINE(half_term)(what, sum##i, v, two ? HALF_AT(y, i, half) : v);
#define NEXT_HALVES(i, j)                                                                          \
    if (j < sums) {                                                                                \
        HALF a = HALF_AT(x, i, 0), b = HALF_AT(x, i, 1), c = HALF_AT(x, j, 0);                     \
        HALF d = HALF_AT(x, j, 1);                                                                 \
        VEC_IN_ORDER;                                                                              \
        NEXT_HALF(i, a, 0, low)                                                                    \
        NEXT_HALF(i, b, 1, high)                                                                   \
        NEXT_HALF(j, c, 0, low)                                                                    \
        NEXT_HALF(j, d, 1, high)                                                                   \
        VEC_IN_ORDER;                                                                              \
    }
#define JOIN(i)                                                                                    \
    if (i < sums)                                                                                  \
        sum##i = ROUTINE(joined)(low##i, high##i);
#endif
#define RING                                                                                       \
    if (two && sizeof(VEC) == 32) {                                                                \
        NEXT_FOUR(0, 1, 2, 3)                                                                      \
        NEXT_FOUR(4, 5, 6, 7)                                                                      \
    } else {                                                                                       \
        EACH(NEXT)                                                                                 \
    }
/* Makes the compiler count x and n on in a loop: worked out from the number of turns behind it they take short calls
 * six instructions more, and each running sum a copy before the loop. */
#define COUNT_ON __asm__("" : "+r"(x), "+r"(n))
#define END(i)                                                                                     \
    if (i < sums) {                                                                                \
        if (n <= i * LANES)                                                                        \
            goto add;                                                                              \
        if (VEC_RARE(n < (i + 1) * LANES)) {                                                       \
            ADD_TERM(i, LAST)                                                                      \
            goto add;                                                                              \
        }                                                                                          \
        ADD_TERM(i, WHOLE)                                                                         \
    }
#define ADD(i, j)                                                                                  \
    if (j < sums)                                                                                  \
        sum##i += sum##j;

/* The first term is added to +0, so that a sum of nothing but -0 is not -0, unless total() does
 * it. */
#if SMALL >= SUMS * LANES
#define BEGIN START(0)
#else
#define BEGIN ADD_TERM(0, WHOLE)
#endif

/* Whether a dot product lets its loads cross lines where x is not aligned: in L2. */
VEC_INLINE bool ROUTINE(crosses)(size_t n)
{
#ifdef HALVES
    return vec_is_in_l2(2 * n * sizeof(TYPE));
#else
    (void)n;
    return false;
#endif
}

VEC_INLINE TYPE ROUTINE(reduce_long)(enum vec_term what, int sums, int rings, const TYPE *x,
                                     const TYPE *y, size_t n)
{
    const size_t ring = (size_t)sums * LANES;
    const bool two = what == VEC_DOT;
    size_t turned = 0;

    EACH(DEFINE)
    if (SMALL >= SUMS * LANES || n > ring) {
        size_t skip = (uintptr_t)x / sizeof(TYPE) % LANES;

        /* This jump can be predicted, so that where x is aligned no load waits for the address.
         * Below one and a half turns it costs less to let loads cross lines than to align them. */
        if (VEC_RARE(skip)) {
            if (two ? !ROUTINE(crosses)(n) : n >= ring + ring / 2) {
                x -= skip, y -= skip, n += skip, turned = skip;
                ADD_TERM(0, FIRST)
            } else {
                BEGIN
            }
        } else {
            BEGIN
        }
        EACH_AFTER_0(START)
        x += ring, y += ring, n -= ring;
        if (n >= ring && VEC_RARE(vec_is_far(n * sizeof(TYPE) * (two ? 2 : 1)))) {
            for (; n >= ring; n -= ring, x += ring, y += ring) {
                EACH(NEXT_AHEAD)
            }
        }
#ifdef HALVES
        if (sums <= 8 && n >= ring && (!two || (uintptr_t)x % sizeof(VEC) == 0) &&
            VEC_RARE(vec_is_in_l2(n * sizeof(TYPE) * (two ? 2 : 1)))) {
            EACH(DIVIDE)
            for (; n >= ring; n -= ring, x += ring, y += ring) {
                EACH_TWO(NEXT_HALVES)
            }
            EACH(JOIN)
        }
#endif
#ifdef ALIGNED_OPERANDS
        /* Without loads of their own sums and dot products are up to 7 % faster (Zen 1), and then the loop's
         * own instructions are seen in sums: two rings a turn give another 3 % from L2. The address of x is
         * no multiple only if it is none of its elements' size. */
        if ((what == VEC_SUM || two) && (uintptr_t)x % sizeof(VEC) == 0) {
            for (; !two && n >= 2 * ring; n -= 2 * ring, x += 2 * ring) {
                EACH(NEXT_ALIGNED)
                x += ring;
                EACH(NEXT_ALIGNED)
                x -= ring;
                COUNT_ON;
            }
            for (; n >= ring; n -= ring, x += ring, y += ring) {
                EACH(NEXT_ALIGNED)
                COUNT_ON;
            }
        }
#endif
        for (; rings == 2 && n >= 2 * ring; n -= 2 * ring, x += 2 * ring, y += 2 * ring) {
            RING;
            x += ring, y += ring;
            RING;
            x -= ring, y -= ring;
            COUNT_ON;
        }
        for (; n >= ring; n -= ring, x += ring, y += ring) {
            RING;
            COUNT_ON;
        }
    }
    EACH(END)
add:
#ifdef THIRDS
    if (sums == 12) {
        VEC a = sum0 + sum6 + (sum3 + sum9), b = sum1 + sum7 + (sum4 + sum10);
        VEC c = sum2 + sum8 + (sum5 + sum11);

        if (VEC_RARE(turned))
            return ROUTINE(total)(ROUTINE(behind)(a, b, turned) + ROUTINE(behind)(b, c, turned) +
                                  ROUTINE(behind)(c, a, turned));
        return ROUTINE(total)(a + b + c);
    }
#endif
    (void)turned;
    EACH_PAIR(ADD)
    return ROUTINE(total)(sum0);
}

#ifdef LONG_DOT
/* By two rings a turn, as squares go: the end of a loop of more than 32 turns is often guessed wrong (Zen 3: 3 to 9 %
 * less time for 500 to 2,048 doubles), and while a neighbour shares the core, which then takes half as many
 * instructions in a cycle, squares take a sixth less time for it, else up to 3 % more. A function of its own, which
 * leaves the code of shorter calls as it is. */
static __attribute__((noinline)) TYPE ROUTINE(long_dot)(const TYPE *x, const TYPE *y, size_t n)
{
    return ROUTINE(reduce_long)(VEC_DOT, SUMS, 2, x, y, n);
}
#endif

/* n > SMALL. */
VEC_INLINE TYPE ROUTINE(reduce_many)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
#ifdef SQUARE_SUMS
    if (what == VEC_SQUARE && n >= SQUARE_FROM)
        return ROUTINE(reduce_long)(what, SQUARE_SUMS, sizeof(VEC) == 32 ? 2 : 1, x, y, n);
#endif
#ifdef LONG_DOT
    if (what == VEC_DOT && VEC_RARE(n >= LONG_DOT))
        return ROUTINE(long_dot)(x, y, n);
#endif
    return ROUTINE(reduce_long)(what, SUMS, 1, x, y, n);
}

VEC_INLINE TYPE ROUTINE(reduce)(enum vec_term what, const TYPE *x, const TYPE *y, size_t n)
{
#if SMALL
    if (VEC_RARE(n - 1 < SMALL))
        return ROUTINE(small)(what, x, y, n, n - 1);
    if (VEC_RARE(n == 0))
        return 0;
#endif
    return ROUTINE(reduce_many)(what, x, y, n);
}

#undef EACH_AFTER_0
#undef EACH
#undef EACH_PAIR
#undef WHOLE
#undef FIRST
#undef LAST
#undef ADD_TERM
#undef BEGIN
#undef DEFINE
#undef START
#undef NEXT
#undef NEXT_FOUR
#undef NEXT_AHEAD
#ifdef ALIGNED_OPERANDS
#undef NEXT_ALIGNED
#endif
#undef RING
#undef COUNT_ON
#undef END
#undef ADD
#ifdef HALVES
#undef EACH_TWO
#undef HALF_AT
#undef DIVIDE
#undef NEXT_HALF
#undef NEXT_HALVES
#undef JOIN
#endif
