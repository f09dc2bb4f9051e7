/* SPDX-License-Identifier: Apache-2.0 */
/* peers: the listings of section 5 as `okosu-bench-blas1 --peers` loads them. Their own file and
 * their order of arguments are kept, so each is reached by a jump. */
#include <hpc_programming/listings/loops.h>

#include <stddef.h>

/* The same listing, compiled so that the compiler can't turn it into vector code, which the paper's
 * did not do. */
void hpc_daxpy_scalar(double y[], double a, double x[], int n);

#define SUM(PEER, LISTING, NAME)                                                                   \
    double PEER##_##NAME(const double *x, size_t n);                                               \
    double PEER##_##NAME(const double *x, size_t n)                                                \
    {                                                                                              \
        return LISTING((double *)x, (int)n);                                                       \
    }
#define PRODUCT(PEER, LISTING)                                                                     \
    double PEER##_ddot(const double *x, const double *y, size_t n);                                \
    double PEER##_ddot(const double *x, const double *y, size_t n)                                 \
    {                                                                                              \
        return LISTING((double *)x, (double *)y, (int)n);                                          \
    }
#define UPDATE(PEER, CALL)                                                                         \
    void PEER##_daxpy(double a, const double *x, double *y, size_t n);                             \
    void PEER##_daxpy(double a, const double *x, double *y, size_t n)                              \
    {                                                                                              \
        CALL;                                                                                      \
    }

SUM(plain, hpc_dsum, dsum)
SUM(plain, hpc_dsumsq, dsumsq)
PRODUCT(plain, hpc_ddot)
UPDATE(plain, hpc_daxpy(y, a, (double *)x, (int)n))

UPDATE(plain_scalar, hpc_daxpy_scalar(y, a, (double *)x, (int)n))

SUM(sse2_1, hpc_dsum_sse_1, dsum)
SUM(sse2_1, hpc_dsumsq_sse_1, dsumsq)
UPDATE(sse2_1, hpc_daxpy_sse(a, (double *)x, y, (int)n))

SUM(sse2_4, hpc_dsum_sse_4, dsum)
SUM(sse2_4, hpc_dsumsq_sse_4, dsumsq)
PRODUCT(sse2_4, hpc_ddot_sse_4)
