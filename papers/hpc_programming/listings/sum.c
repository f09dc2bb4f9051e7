/* SPDX-License-Identifier: Apache-2.0 */
/* sum: the three listings of section 5.3 of the paper. Names apart, they are unchanged. */
#include <hpc_programming/listings/loops.h>

#include <pmmintrin.h>

static double s[2] __attribute__((aligned(16)));

double hpc_dsum(double x[], int n)
{
    int i;
    double s = 0.0;
    for (i = 0; i < n; i++) {
        s += x[i];
    }
    return s;
}

double hpc_dsum_sse_1(double x[], int n)
{
    int i;
    __m128d x0 = {0.0, 0.0};

    for (i = 0; i < n; i += 2) {
        x0 = _mm_add_pd(x0, _mm_load_pd(&x[i]));
    }
    _mm_store_pd(s, x0);
    return s[0] + s[1];
}

double hpc_dsum_sse_4(double x[], int n)
{
    int i;
    __m128d x0, x1, x2, x3;

    x0 = _mm_load_pd(x);
    x1 = _mm_load_pd(&x[2]);
    x2 = _mm_load_pd(&x[4]);
    x3 = _mm_load_pd(&x[6]);

    for (i = 8; i < n; i += 8) {
        x0 = _mm_add_pd(x0, _mm_load_pd(&x[i]));
        x1 = _mm_add_pd(x1, _mm_load_pd(&x[i + 2]));
        x2 = _mm_add_pd(x2, _mm_load_pd(&x[i + 4]));
        x3 = _mm_add_pd(x3, _mm_load_pd(&x[i + 6]));
    }

    x0 = _mm_add_pd(x0, x1);
    x2 = _mm_add_pd(x2, x3);
    x0 = _mm_add_pd(x0, x2);
    _mm_store_pd(s, x0);
    return s[0] + s[1];
}
