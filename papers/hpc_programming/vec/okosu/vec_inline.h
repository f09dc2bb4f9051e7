/* SPDX-License-Identifier: Apache-2.0 */
/* vec_inline: the routines of vec.h for a length that the compiler knows, without a call.
 *
 * okosu_vec_inline_ddot(x, y, 12) becomes a few vector instructions under whatever -m options your
 * file has (128 bits without any, 256 with -mavx, 512 with -mavx512f); with a length that is not a
 * constant, or above OKOSU_VEC_INLINE_MOST elements, it is the call of okosu_vec_ddot. Without
 * optimisation (-O1 or more) it is always that call. Arrays may have any alignment; nothing outside
 * of them is touched. Results are within the bounds of vec.h with partials = 1 (that is, of a plain
 * loop); they are other bits than the call's, and whether a product is rounded before it is added
 * is the compiler's choice (-ffp-contract). A sum of nothing but -0 may be -0. */
#ifndef OKOSU_VEC_INLINE_H
#define OKOSU_VEC_INLINE_H

#include <okosu/vec.h>

#include <stdbool.h>

/* Above this many elements the cost of a call does not show beside the work: 64 doubles are 8
 * lines. */
#ifndef OKOSU_VEC_INLINE_MOST
#define OKOSU_VEC_INLINE_MOST 64
#endif

#define OKOSU_VEC_INLINE static inline __attribute__((always_inline, unused))

#if defined(__AVX512F__)
#define OKOSU_VEC_INLINE_BYTES 64
#elif defined(__AVX__)
#define OKOSU_VEC_INLINE_BYTES 32
#else
#define OKOSU_VEC_INLINE_BYTES 16
#endif

enum okosu_vec_inline_term { OKOSU_VEC_INLINE_SUM, OKOSU_VEC_INLINE_SQUARE, OKOSU_VEC_INLINE_DOT };

/* For vectors of `lanes` elements: NAME##_at, one at any address; NAME##_term, what is added up;
 * NAME##_terms, the sum over `count` >= 1 of them; NAME##_update, that of `count`. As count is
 * a constant, its tests vanish, and so do sums that are not used. */
#define OKOSU_VEC_INLINE_LEVEL(NAME, type, lanes)                                                  \
    typedef type NAME __attribute__((vector_size(lanes * sizeof(type))));                          \
    typedef type NAME##_at                                                                         \
        __attribute__((vector_size(lanes * sizeof(type)), aligned(sizeof(type)), may_alias));      \
                                                                                                   \
    OKOSU_VEC_INLINE NAME NAME##_load(const type *p)                                               \
    {                                                                                              \
        return *(const NAME##_at *)p;                                                              \
    }                                                                                              \
                                                                                                   \
    OKOSU_VEC_INLINE NAME NAME##_term(enum okosu_vec_inline_term what, const type *x,              \
                                      const type *y)                                               \
    {                                                                                              \
        NAME vx = NAME##_load(x);                                                                  \
                                                                                                   \
        if (what == OKOSU_VEC_INLINE_SUM)                                                          \
            return vx;                                                                             \
        return vx * (what == OKOSU_VEC_INLINE_DOT ? NAME##_load(y) : vx);                          \
    }                                                                                              \
                                                                                                   \
    OKOSU_VEC_INLINE NAME NAME##_terms(enum okosu_vec_inline_term what, const type *x,             \
                                       const type *y, size_t count)                                \
    {                                                                                              \
        NAME sum0 = NAME##_term(what, x, y), sum1 = sum0, sum2 = sum0, sum3 = sum0;                \
        size_t i = 4;                                                                              \
                                                                                                   \
        if (count > 1)                                                                             \
            sum1 = NAME##_term(what, x + lanes, y + lanes);                                        \
        if (count > 2)                                                                             \
            sum2 = NAME##_term(what, x + 2 * lanes, y + 2 * lanes);                                \
        if (count > 3)                                                                             \
            sum3 = NAME##_term(what, x + 3 * lanes, y + 3 * lanes);                                \
        _Pragma("GCC unroll 16") for (; i + 4 <= count; i += 4)                                    \
        {                                                                                          \
            sum0 += NAME##_term(what, x + i * lanes, y + i * lanes);                               \
            sum1 += NAME##_term(what, x + (i + 1) * lanes, y + (i + 1) * lanes);                   \
            sum2 += NAME##_term(what, x + (i + 2) * lanes, y + (i + 2) * lanes);                   \
            sum3 += NAME##_term(what, x + (i + 3) * lanes, y + (i + 3) * lanes);                   \
        }                                                                                          \
        if (i < count)                                                                             \
            sum0 += NAME##_term(what, x + i * lanes, y + i * lanes);                               \
        if (i + 1 < count)                                                                         \
            sum1 += NAME##_term(what, x + (i + 1) * lanes, y + (i + 1) * lanes);                   \
        if (i + 2 < count)                                                                         \
            sum2 += NAME##_term(what, x + (i + 2) * lanes, y + (i + 2) * lanes);                   \
        if (count > 2)                                                                             \
            sum0 += sum2;                                                                          \
        if (count > 3)                                                                             \
            sum1 += sum3;                                                                          \
        return count > 1 ? sum0 + sum1 : sum0;                                                     \
    }                                                                                              \
                                                                                                   \
    OKOSU_VEC_INLINE void NAME##_update(int adds, type a, const type *u, const type *v, type *out, \
                                        size_t count)                                              \
    {                                                                                              \
        _Pragma("GCC unroll 16") for (size_t i = 0; i < count * lanes; i += lanes)                 \
        {                                                                                          \
            NAME product = a * NAME##_load(u + i);                                                 \
                                                                                                   \
            *(NAME##_at *)(out + i) = adds ? NAME##_load(v + i) + product : product;               \
        }                                                                                          \
    }

OKOSU_VEC_INLINE_LEVEL(okosu_vec_d2, double, 2)
OKOSU_VEC_INLINE_LEVEL(okosu_vec_f4, float, 4)
#if OKOSU_VEC_INLINE_BYTES >= 32
OKOSU_VEC_INLINE_LEVEL(okosu_vec_d4, double, 4)
OKOSU_VEC_INLINE_LEVEL(okosu_vec_f8, float, 8)
#endif
#if OKOSU_VEC_INLINE_BYTES >= 64
OKOSU_VEC_INLINE_LEVEL(okosu_vec_d8, double, 8)
OKOSU_VEC_INLINE_LEVEL(okosu_vec_f16, float, 16)
#endif

/* The sum of both halves of a vector. */
#if defined(__clang__) || __GNUC__ >= 12
#define OKOSU_VEC_INLINE_2(v)                                                                      \
    __builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3)
#define OKOSU_VEC_INLINE_4(v)                                                                      \
    __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7)
#define OKOSU_VEC_INLINE_8(v)                                                                      \
    __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +                                        \
        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)
#else
#define OKOSU_VEC_INLINE_2(v)                                                                      \
    {                                                                                              \
        (v)[0] + (v)[2], (v)[1] + (v)[3]                                                           \
    }
#define OKOSU_VEC_INLINE_4(v)                                                                      \
    {                                                                                              \
        (v)[0] + (v)[4], (v)[1] + (v)[5], (v)[2] + (v)[6], (v)[3] + (v)[7]                         \
    }
#define OKOSU_VEC_INLINE_8(v)                                                                      \
    {                                                                                              \
        (v)[0] + (v)[8], (v)[1] + (v)[9], (v)[2] + (v)[10], (v)[3] + (v)[11], (v)[4] + (v)[12],    \
            (v)[5] + (v)[13], (v)[6] + (v)[14], (v)[7] + (v)[15]                                   \
    }
#endif

/* Each width takes the elements that the wider one left, and the wider one's sum, folded in two.
 * `any`: there is such a sum. */
OKOSU_VEC_INLINE double okosu_vec_inline_dterms(enum okosu_vec_inline_term what, const double *x,
                                                const double *y, size_t n)
{
    size_t i = 0;
    bool any = false;
    double sum = 0;
    okosu_vec_d2 two = {0, 0};

#if OKOSU_VEC_INLINE_BYTES >= 32
    okosu_vec_d4 four = {0, 0, 0, 0};
#if OKOSU_VEC_INLINE_BYTES >= 64
    if (n >= 8) {
        okosu_vec_d8 eight = okosu_vec_d8_terms(what, x, y, n / 8);
        okosu_vec_d4 folded = OKOSU_VEC_INLINE_4(eight);

        four = folded;
        any = true;
        i = n / 8 * 8;
    }
#endif
    if (n - i >= 4) {
        okosu_vec_d4 more = okosu_vec_d4_terms(what, x + i, y + i, (n - i) / 4);

        four = any ? four + more : more;
        any = true;
        i = n / 4 * 4;
    }
    if (any) {
        okosu_vec_d2 folded = OKOSU_VEC_INLINE_2(four);

        two = folded;
    }
#endif
    if (n - i >= 2) {
        okosu_vec_d2 more = okosu_vec_d2_terms(what, x + i, y + i, (n - i) / 2);

        two = any ? two + more : more;
        any = true;
        i = n / 2 * 2;
    }
    if (any)
        sum = two[0] + two[1];
    if (i < n)
        sum +=
            what == OKOSU_VEC_INLINE_SUM ? x[i] : x[i] * (what == OKOSU_VEC_INLINE_DOT ? y : x)[i];
    return sum;
}

OKOSU_VEC_INLINE float okosu_vec_inline_sterms(enum okosu_vec_inline_term what, const float *x,
                                               const float *y, size_t n)
{
    size_t i = 0;
    bool any = false;
    float sum = 0;
    okosu_vec_f4 four = {0, 0, 0, 0};

#if OKOSU_VEC_INLINE_BYTES >= 32
    okosu_vec_f8 eight = {0, 0, 0, 0, 0, 0, 0, 0};
#if OKOSU_VEC_INLINE_BYTES >= 64
    if (n >= 16) {
        okosu_vec_f16 sixteen = okosu_vec_f16_terms(what, x, y, n / 16);
        okosu_vec_f8 folded = OKOSU_VEC_INLINE_8(sixteen);

        eight = folded;
        any = true;
        i = n / 16 * 16;
    }
#endif
    if (n - i >= 8) {
        okosu_vec_f8 more = okosu_vec_f8_terms(what, x + i, y + i, (n - i) / 8);

        eight = any ? eight + more : more;
        any = true;
        i = n / 8 * 8;
    }
    if (any) {
        okosu_vec_f4 folded = OKOSU_VEC_INLINE_4(eight);

        four = folded;
    }
#endif
    if (n - i >= 4) {
        okosu_vec_f4 more = okosu_vec_f4_terms(what, x + i, y + i, (n - i) / 4);

        four = any ? four + more : more;
        any = true;
        i = n / 4 * 4;
    }
    if (any)
        sum = (four[0] + four[2]) + (four[1] + four[3]);
    for (; i < n; i++)
        sum +=
            what == OKOSU_VEC_INLINE_SUM ? x[i] : x[i] * (what == OKOSU_VEC_INLINE_DOT ? y : x)[i];
    return sum;
}

/* out = a u + v where it adds, else a u. */
OKOSU_VEC_INLINE void okosu_vec_inline_dupdate(int adds, double a, const double *u, const double *v,
                                               double *out, size_t n)
{
    size_t i = 0;

#if OKOSU_VEC_INLINE_BYTES >= 64
    okosu_vec_d8_update(adds, a, u, v, out, n / 8);
    i = n / 8 * 8;
#endif
#if OKOSU_VEC_INLINE_BYTES >= 32
    okosu_vec_d4_update(adds, a, u + i, v + i, out + i, (n - i) / 4);
    i = n / 4 * 4;
#endif
    okosu_vec_d2_update(adds, a, u + i, v + i, out + i, (n - i) / 2);
    i = n / 2 * 2;
    if (i < n)
        out[i] = adds ? v[i] + a * u[i] : a * u[i];
}

OKOSU_VEC_INLINE void okosu_vec_inline_supdate(int adds, float a, const float *u, const float *v,
                                               float *out, size_t n)
{
    size_t i = 0;

#if OKOSU_VEC_INLINE_BYTES >= 64
    okosu_vec_f16_update(adds, a, u, v, out, n / 16);
    i = n / 16 * 16;
#endif
#if OKOSU_VEC_INLINE_BYTES >= 32
    okosu_vec_f8_update(adds, a, u + i, v + i, out + i, (n - i) / 8);
    i = n / 8 * 8;
#endif
    okosu_vec_f4_update(adds, a, u + i, v + i, out + i, (n - i) / 4);
    for (i = n / 4 * 4; i < n; i++)
        out[i] = adds ? v[i] + a * u[i] : a * u[i];
}

#define OKOSU_VEC_INLINE_KNOWN(n) (__builtin_constant_p(n) && (n) <= OKOSU_VEC_INLINE_MOST)

/* The public names, for a type and its letter. */
#define OKOSU_VEC_INLINE_ROUTINES(type, p)                                                         \
    OKOSU_VEC_INLINE type okosu_vec_inline_##p##sum(const type *x, size_t n)                       \
    {                                                                                              \
        return OKOSU_VEC_INLINE_KNOWN(n)                                                           \
                   ? okosu_vec_inline_##p##terms(OKOSU_VEC_INLINE_SUM, x, x, n)                    \
                   : okosu_vec_##p##sum(x, n);                                                     \
    }                                                                                              \
    OKOSU_VEC_INLINE type okosu_vec_inline_##p##sumsq(const type *x, size_t n)                     \
    {                                                                                              \
        return OKOSU_VEC_INLINE_KNOWN(n)                                                           \
                   ? okosu_vec_inline_##p##terms(OKOSU_VEC_INLINE_SQUARE, x, x, n)                 \
                   : okosu_vec_##p##sumsq(x, n);                                                   \
    }                                                                                              \
    OKOSU_VEC_INLINE type okosu_vec_inline_##p##dot(const type *x, const type *y, size_t n)        \
    {                                                                                              \
        return OKOSU_VEC_INLINE_KNOWN(n)                                                           \
                   ? okosu_vec_inline_##p##terms(OKOSU_VEC_INLINE_DOT, x, y, n)                    \
                   : okosu_vec_##p##dot(x, y, n);                                                  \
    }                                                                                              \
    OKOSU_VEC_INLINE void okosu_vec_inline_##p##axpy(type a, const type *x, type *y, size_t n)     \
    {                                                                                              \
        if (OKOSU_VEC_INLINE_KNOWN(n))                                                             \
            okosu_vec_inline_##p##update(1, a, x, y, y, n);                                        \
        else                                                                                       \
            okosu_vec_##p##axpy(a, x, y, n);                                                       \
    }                                                                                              \
    OKOSU_VEC_INLINE void okosu_vec_inline_##p##scal(type a, type *x, size_t n)                    \
    {                                                                                              \
        if (OKOSU_VEC_INLINE_KNOWN(n))                                                             \
            okosu_vec_inline_##p##update(0, a, x, x, x, n);                                        \
        else                                                                                       \
            okosu_vec_##p##scal(a, x, n);                                                          \
    }                                                                                              \
    OKOSU_VEC_INLINE void okosu_vec_inline_##p##triad(type a, const type *b, const type *c,        \
                                                      type *out, size_t n)                         \
    {                                                                                              \
        if (OKOSU_VEC_INLINE_KNOWN(n))                                                             \
            okosu_vec_inline_##p##update(1, a, c, b, out, n);                                      \
        else                                                                                       \
            okosu_vec_##p##triad(a, b, c, out, n);                                                 \
    }

#ifdef __cplusplus
extern "C" {
#endif
OKOSU_VEC_INLINE_ROUTINES(double, d)
OKOSU_VEC_INLINE_ROUTINES(float, s)
#ifdef __cplusplus
}
#endif

#endif
