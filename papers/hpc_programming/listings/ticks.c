/* SPDX-License-Identifier: Apache-2.0 */
/* ticks: the sample program of section 2 of the paper. Ticks of ten dependent adds and multiplies.
 *
 *   ticks VALUE        (the paper runs it with 0)
 *
 * Changed: without an argument it ends with status 2, where the paper's ends by a segmentation
 * fault. */
#include <hpc_programming/listings/rdtsc.h>

#include <stdio.h>
#include <stdlib.h>

#define N 10000

int main(int argc, char *argv[])
{
    unsigned long long i, t1, t2;
    if (argc < 2)
        return 2;
    double a = atof(argv[1]);

    /* clang-format off */
    RDTSC(t1);
    for (i = 0; i < N; i++) {
        a = a + a; a = a + a; a = a + a; a = a + a; a = a + a;
        a = a + a; a = a + a; a = a + a; a = a + a; a = a + a;
    }
    RDTSC(t2);
    printf("a=%e\n", a);
    printf("CPU Clock=%llu /N=%.1f\n", t2 - t1, (double)(t2 - t1) / N);

    RDTSC(t1);
    for (i = 0; i < N; i++) {
        a = a * a; a = a * a; a = a * a; a = a * a; a = a * a;
        a = a * a; a = a * a; a = a * a; a = a * a; a = a * a;
    }
    /* clang-format on */
    RDTSC(t2);
    printf("a=%e\n", a);
    printf("CPU Clock=%llu /N=%.1f\n", t2 - t1, (double)(t2 - t1) / N);
}
