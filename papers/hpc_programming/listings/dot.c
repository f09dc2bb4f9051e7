/* SPDX-License-Identifier: Apache-2.0 */
/* dot: the two listings of section 5.5 of the paper. Names apart, they are unchanged (the paper's
 * second one takes `s` from the listing before). */
#include <hpc_programming/listings/loops.h>

#include <pmmintrin.h>

static double s[2] __attribute__((aligned(16)));

double hpc_ddot(double x[], double y[], int n)
{
    int i;
    double s = 0.0;
    for (i = 0; i < n; i++) {
        s += x[i] * y[i];
    }
    return s;
}

double hpc_ddot_sse_4(double x[], double y[], int n)
{
    int i;
    __m128d x0, x1, x2, x3;
    __m128d x4 = {0.0, 0.0}, x5 = {0.0, 0.0}, x6 = {0.0, 0.0}, x7 = {0.0, 0.0};

    for (i = 0; i < n; i += 8) {
        x0 = _mm_mul_pd(_mm_load_pd(&x[i]), _mm_load_pd(&y[i]));
        x1 = _mm_mul_pd(_mm_load_pd(&x[i + 2]), _mm_load_pd(&y[i + 2]));
        x2 = _mm_mul_pd(_mm_load_pd(&x[i + 4]), _mm_load_pd(&y[i + 4]));
        x3 = _mm_mul_pd(_mm_load_pd(&x[i + 6]), _mm_load_pd(&y[i + 6]));
        x4 = _mm_add_pd(x4, x0);
        x5 = _mm_add_pd(x5, x1);
        x6 = _mm_add_pd(x6, x2);
        x7 = _mm_add_pd(x7, x3);
    }
    x4 = _mm_add_pd(x4, x5);
    x6 = _mm_add_pd(x6, x7);
    x4 = _mm_add_pd(x4, x6);
    _mm_store_pd(s, x4);
    return s[0] + s[1];
}
