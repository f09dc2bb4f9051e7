/* SPDX-License-Identifier: Apache-2.0 */
/* terms: what the reductions add up, of vectors of any width and of single elements. */
#ifndef OKOSU_VEC_TERMS_H
#define OKOSU_VEC_TERMS_H

/* `what` is a constant after inlining, so that one function is written for all four terms. */
enum vec_term { VEC_SUM, VEC_SQUARE, VEC_ABS, VEC_DOT };

/* Defines for vectors (or elements) of type V the functions TERM(what, sum, x, y), which is sum +
 * x, x^2, |x| or x y, and START(what, x, y), the same without the latency of an addition to zero
 * (it may be -0). MULADD(a, b, c) is a * b + c, with one rounding where the instructions can. The
 * functions use GNU C's operators on vectors. */
#define VEC_TERMS(TERM, START, V, MULADD, ABS)                                                     \
    VEC_INLINE V TERM(enum vec_term what, V sum, V x, V y)                                         \
    {                                                                                              \
        if (what == VEC_SUM)                                                                       \
            return sum + x;                                                                        \
        if (what == VEC_ABS)                                                                       \
            return sum + ABS(x);                                                                   \
        return MULADD(x, what == VEC_DOT ? y : x, sum);                                            \
    }                                                                                              \
                                                                                                   \
    VEC_INLINE V START(enum vec_term what, V x, V y)                                               \
    {                                                                                              \
        if (what == VEC_SUM)                                                                       \
            return x;                                                                              \
        if (what == VEC_ABS)                                                                       \
            return ABS(x);                                                                         \
        return x * (what == VEC_DOT ? y : x);                                                      \
    }

#endif
