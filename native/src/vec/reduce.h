/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reduce: the reductions, written once for every type and instruction set; see routines.h for what
 * it needs.
 *
 * Element i is dealt to the sum at place (i + skip) mod (running vectors * LANES) of a ring, where
 * skip makes all loads of x but the first aligned: a load that crosses a line costs two (measured
 * on Zen 5: 7.9 against 15.6 elements a cycle in dsum). As the tree at the end pairs sums that are
 * half the ring apart, then a quarter and so on, turning the ring by `skip` does not change a bit
 * of it.
 */

/* The running vectors are sum0 ... sum15, of which those from `sums` on vanish: gcc 12 would keep
 * an array of them in memory. */
#define SUM_ZERO(i) VEC sum##i = OP(setzero)()
#define SUM_TERM(i, load, ...)                                                                     \
    ROUTINE(term)                                                                                  \
    (what, sum##i, load(x + i * LANES, ##__VA_ARGS__),                                             \
     two ? load(y + i * LANES, ##__VA_ARGS__) : sum##i)
#define SUM_START(i)                                                                               \
    if (i < sums)                                                                                  \
    sum##i = ROUTINE(start)(what, OP(loadu)(x + i * LANES), two ? OP(loadu)(y + i * LANES) : sum##i)
#define SUM_NEXT(i)                                                                                \
    if (i < sums)                                                                                  \
    sum##i = SUM_TERM(i, OP(loadu))
#define SUM_AHEAD(i)                                                                               \
    if (i < sums && i * sizeof(VEC) % 64 == 0) {                                                   \
        vec_ahead(x + i * LANES);                                                                  \
        if (two)                                                                                   \
            vec_ahead(y + i * LANES);                                                              \
    }                                                                                              \
    SUM_NEXT(i)
#define SUM_LAST(i)                                                                                \
    if (i < sums) {                                                                                \
        if (n < (i + 1) * LANES) {                                                                 \
            if (n > i * LANES)                                                                     \
                sum##i = SUM_TERM(i, ROUTINE(last), n - i * LANES);                                \
            goto add;                                                                              \
        }                                                                                          \
        sum##i = SUM_TERM(i, OP(loadu));                                                           \
    }
#define SUM_ADD(i, j)                                                                              \
    if (j < sums)                                                                                  \
    sum##i += sum##j
#define EACH_AFTER_0(DO)                                                                           \
    DO(1);                                                                                         \
    DO(2);                                                                                         \
    DO(3);                                                                                         \
    DO(4);                                                                                         \
    DO(5);                                                                                         \
    DO(6);                                                                                         \
    DO(7);                                                                                         \
    DO(8);                                                                                         \
    DO(9);                                                                                         \
    DO(10);                                                                                        \
    DO(11);                                                                                        \
    DO(12);                                                                                        \
    DO(13);                                                                                        \
    DO(14);                                                                                        \
    DO(15)
#define EACH(DO)                                                                                   \
    DO(0);                                                                                         \
    EACH_AFTER_0(DO)
#define EACH_PAIR(DO)                                                                              \
    DO(0, 8);                                                                                      \
    DO(1, 9);                                                                                      \
    DO(2, 10);                                                                                     \
    DO(3, 11);                                                                                     \
    DO(4, 12);                                                                                     \
    DO(5, 13);                                                                                     \
    DO(6, 14);                                                                                     \
    DO(7, 15);                                                                                     \
    DO(0, 4);                                                                                      \
    DO(1, 5);                                                                                      \
    DO(2, 6);                                                                                      \
    DO(3, 7);                                                                                      \
    DO(0, 2);                                                                                      \
    DO(1, 3);                                                                                      \
    DO(0, 1)

VEC_INLINE TYPE ROUTINE(reduce)(enum vec_term what, int sums, const TYPE *x, const TYPE *y,
                                size_t n)
{
    const size_t ring = (size_t)sums * LANES;
    const bool two = what == VEC_DOT;

#if SMALL
    SMALL_CASES;
#endif
    EACH(SUM_ZERO);
    if (SMALL || n > ring) {
        size_t skip = (uintptr_t)x / sizeof(TYPE) % LANES;

        /* A predicted branch: in the common case nothing waits for the address. */
        if (VEC_RARE(skip && n >= 2 * ring)) {
            x -= skip;
            y -= skip;
            n += skip;
            sum0 = SUM_TERM(0, ROUTINE(first), skip);
        } else {
            sum0 = SUM_TERM(0, OP(loadu));
        }
        EACH_AFTER_0(SUM_START);
        x += ring;
        y += ring;
        n -= ring;
        /* What is unlikely is that a jump here would matter; a short vector shall find none. */
        if (n >= ring) {
            if (VEC_RARE(n * sizeof(TYPE) * (two ? 2 : 1) > okosu_vec_far)) {
                do {
                    EACH(SUM_AHEAD);
                    n -= ring, x += ring, y += ring;
                } while (n >= ring);
            } else {
                do {
                    EACH(SUM_NEXT);
                    n -= ring, x += ring, y += ring;
                } while (n >= ring);
            }
        }
    }
    EACH(SUM_LAST);
add:
    EACH_PAIR(SUM_ADD);
    return ROUTINE(total)(sum0);
}

#undef SUM_ZERO
#undef SUM_TERM
#undef SUM_START
#undef SUM_NEXT
#undef SUM_AHEAD
#undef SUM_LAST
#undef SUM_ADD
#undef EACH
#undef EACH_AFTER_0
#undef EACH_PAIR
