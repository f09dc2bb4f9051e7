/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, inline: okosu/vec_inline.h at lengths that are constants here, compiled once for each
 * width of vectors (BLAS1_ISA). Its row contains no call, so it is shown beside those of calls. */
#include "blas1.h"

#include <okosu/vec_inline.h>

/* Both ways of doing it over and over; see blas1_rows.c. */
#define RUNNERS(NAME, N, ONCE)                                                                     \
    static void run_##NAME##_##N(const struct blas1_operands *operands, size_t calls)              \
    {                                                                                              \
        const struct blas1_operands o = *operands;                                                 \
        const double *x = o.x;                                                                     \
                                                                                                   \
        for (size_t i = 0; i < calls; i++) {                                                       \
            double *y = (double *)o.y + (i & o.mask) * o.stride;                                   \
                                                                                                   \
            bench_keep_memory(y);                                                                  \
            bench_keep(ONCE(x, y, o.a, N));                                                        \
        }                                                                                          \
    }                                                                                              \
    static void wait_##NAME##_##N(const struct blas1_operands *operands, size_t calls)             \
    {                                                                                              \
        const struct blas1_operands o = *operands;                                                 \
        double *x = o.x;                                                                           \
                                                                                                   \
        for (size_t i = 0; i < calls; i++) {                                                       \
            bench_keep_memory(x);                                                                  \
            x = blas1_after(ONCE(x, o.y, o.a, N), o.x, o.zero);                                    \
        }                                                                                          \
        bench_keep_memory(x);                                                                      \
    }

#define SUM(x, y, a, n) okosu_vec_inline_dsum(x, n)
#define SUMSQ(x, y, a, n) okosu_vec_inline_dsumsq(x, n)
#define DOT(x, y, a, n) okosu_vec_inline_ddot(x, y, n)
#define AXPY(x, y, a, n) (okosu_vec_inline_daxpy(a, x, y, n), 0)

#define LENGTHS(F) F(1) F(2) F(3) F(4) F(6) F(8) F(12) F(16) F(20) F(24) F(28) F(32) F(48) F(64)
#define ALL(N)                                                                                     \
    RUNNERS(sum, N, SUM) RUNNERS(sumsq, N, SUMSQ) RUNNERS(dot, N, DOT) RUNNERS(axpy, N, AXPY)

LENGTHS(ALL)

#define ROW(ROUTINE, NAME, N) {ROUTINE, N, run_##NAME##_##N, wait_##NAME##_##N},
#define ROWS(N)                                                                                    \
    ROW(BLAS1_DSUM, sum, N)                                                                        \
    ROW(BLAS1_DSUMSQ, sumsq, N) ROW(BLAS1_DDOT, dot, N) ROW(BLAS1_DAXPY, axpy, N)

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)

const struct blas1_inline JOIN(blas1_inlines_, BLAS1_ISA)[] = {
    LENGTHS(ROWS){BLAS1_DSUM, 0, NULL, NULL},
};
