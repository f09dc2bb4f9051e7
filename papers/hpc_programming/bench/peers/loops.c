/* SPDX-License-Identifier: Apache-2.0 */
/* Loops: what a user gets who writes the plain loop and asks the compiler for everything
 * (-O3 -march=native -ffast-math). Built by peers.sh, never part of okosu. */
#include <stddef.h>

/* nrm2 is not safe against overflow, as such loops are. */
#define LOOPS(P, REAL, FABS, SQRT)                                                                 \
    REAL loops_##P##sum(const REAL *x, size_t n)                                                   \
    {                                                                                              \
        REAL sum = 0;                                                                              \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += x[i];                                                                           \
        return sum;                                                                                \
    }                                                                                              \
    REAL loops_##P##sumsq(const REAL *x, size_t n)                                                 \
    {                                                                                              \
        REAL sum = 0;                                                                              \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += x[i] * x[i];                                                                    \
        return sum;                                                                                \
    }                                                                                              \
    REAL loops_##P##asum(const REAL *x, size_t n)                                                  \
    {                                                                                              \
        REAL sum = 0;                                                                              \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += FABS(x[i]);                                                                     \
        return sum;                                                                                \
    }                                                                                              \
    REAL loops_##P##dot(const REAL *x, const REAL *y, size_t n)                                    \
    {                                                                                              \
        REAL sum = 0;                                                                              \
                                                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            sum += x[i] * y[i];                                                                    \
        return sum;                                                                                \
    }                                                                                              \
    REAL loops_##P##nrm2(const REAL *x, size_t n)                                                  \
    {                                                                                              \
        return SQRT(loops_##P##sumsq(x, n));                                                       \
    }                                                                                              \
    void loops_##P##axpy(REAL a, const REAL *x, REAL *restrict y, size_t n)                        \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            y[i] += a * x[i];                                                                      \
    }                                                                                              \
    void loops_##P##scal(REAL a, REAL *x, size_t n)                                                \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            x[i] *= a;                                                                             \
    }                                                                                              \
    void loops_##P##triad(REAL a, const REAL *b, const REAL *c, REAL *restrict out, size_t n)      \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = b[i] + a * c[i];                                                              \
    }

LOOPS(d, double, __builtin_fabs, __builtin_sqrt)
LOOPS(s, float, __builtin_fabsf, __builtin_sqrtf)
