/* SPDX-License-Identifier: Apache-2.0 */
/* axpy: the two listings of section 5.6 of the paper. Names apart, they are unchanged: the first
 * declares an `s` that it does not use, as there. */
#include <hpc_programming/listings/loops.h>

#include <pmmintrin.h>

void hpc_daxpy(double y[], double a, double x[], int n)
{
    int i;
    double s = 0.0;
    for (i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}

void hpc_daxpy_sse(double a, double x[], double y[], int n)
{
    int i;
    __m128d x0, x1, x2;

    x0 = _mm_set1_pd(a);

    for (i = 0; i < n; i += 2) {
        x1 = _mm_load_pd(&x[i]);
        x2 = _mm_load_pd(&y[i]);
        x1 = _mm_mul_pd(x1, x0);
        x2 = _mm_add_pd(x2, x1);
        _mm_store_pd(&y[i], x2);
    }
}
