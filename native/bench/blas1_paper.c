/* SPDX-License-Identifier: Apache-2.0 */
/* blas1, paper: the listings of "High-performance programming (II)" (Kuroda), with the paper's
 * flags. Their own file and their order of arguments are kept, so each is reached by a jump. */
#include "blas1.h"

#include <hpc_programming/listings/kernels.h>

/* The same listing, compiled so that the compiler can't turn it into vector code, which the paper's
 * did not do. */
void blas1_daxpy_scalar(double y[], double a, double x[], int n);

#define REDUCTION(NAME)                                                                            \
    static double NAME(const double *x, size_t n)                                                  \
    {                                                                                              \
        return hpc_##NAME((double *)x, (int)n);                                                    \
    }
#define PRODUCT(NAME)                                                                              \
    static double NAME(const double *x, const double *y, size_t n)                                 \
    {                                                                                              \
        return hpc_##NAME((double *)x, (double *)y, (int)n);                                       \
    }

REDUCTION(dsum)
REDUCTION(dsum_sse_1)
REDUCTION(dsum_sse_4)
REDUCTION(dsumsq)
REDUCTION(dsumsq_sse_1)
REDUCTION(dsumsq_sse_4)
PRODUCT(ddot)
PRODUCT(ddot_sse_4)

static void daxpy(double a, const double *x, double *y, size_t n)
{
    hpc_daxpy(y, a, (double *)x, (int)n);
}

static void daxpy_scalar(double a, const double *x, double *y, size_t n)
{
    blas1_daxpy_scalar(y, a, (double *)x, (int)n);
}

static void daxpy_sse(double a, const double *x, double *y, size_t n)
{
    hpc_daxpy_sse(a, (double *)x, y, (int)n);
}

#define ANY(NAME) (blas1_any *)(NAME)
#define ABOUT .kind = "paper", .library = "Kuroda, HPC programming (II)"

size_t blas1_paper(struct blas1_library *libraries, size_t room)
{
    const struct blas1_library all[] = {
        {.variant = "paper-plain",
         ABOUT,
         .config = "-O3 -msse3",
         .routines = {[BLAS1_DSUM] = ANY(dsum),
                      [BLAS1_DSUMSQ] = ANY(dsumsq),
                      [BLAS1_DDOT] = ANY(ddot),
                      [BLAS1_DAXPY] = ANY(daxpy)}},
        {.variant = "paper-plain-scalar",
         ABOUT,
         .config = "-O3 -msse3 -fno-tree-vectorize",
         .routines = {[BLAS1_DAXPY] = ANY(daxpy_scalar)}},
        {.variant = "paper-sse2-1",
         ABOUT,
         .config = "-O3 -msse3",
         .multiple = 2,
         .alignment = 16,
         .routines = {[BLAS1_DSUM] = ANY(dsum_sse_1),
                      [BLAS1_DSUMSQ] = ANY(dsumsq_sse_1),
                      [BLAS1_DAXPY] = ANY(daxpy_sse)}},
        {.variant = "paper-sse2-4",
         ABOUT,
         .config = "-O3 -msse3",
         .multiple = 8,
         .alignment = 16,
         .routines = {[BLAS1_DSUM] = ANY(dsum_sse_4),
                      [BLAS1_DSUMSQ] = ANY(dsumsq_sse_4),
                      [BLAS1_DDOT] = ANY(ddot_sse_4)}},
    };
    size_t count = sizeof(all) / sizeof(all[0]);

    if (count > room)
        count = room;
    for (size_t i = 0; i < count; i++)
        libraries[i] = all[i];
    return count;
}
