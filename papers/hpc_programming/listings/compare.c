/* SPDX-License-Identifier: Apache-2.0 */
/* compare: the loops of section 5 of the paper beside okosu's own, on the same numbers.
 *
 *   compare [N]...        (multiples of 8; the default is a few that fit the first-level cache)
 *
 * One JSON line for each loop and N; exit status 1 if two results differ by more than rounding
 * allows. Both sums of n terms differ from the exact one by at most (n - 1) u sum |terms| and what
 * is of second order, u = 2^-53, whatever the order of adding (Higham, Accuracy and Stability of
 * Numerical Algorithms, 2002, section 4.2); a product adds one u. So they may differ from each
 * other by 2 n u sum |terms|. */
#include <hpc_programming/listings/loops.h>

#include <float.h>
#include <math.h>
#include <okosu/vec.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 65536

static double x[MOST] __attribute__((aligned(64))), y[MOST] __attribute__((aligned(64)));
static double z[MOST] __attribute__((aligned(64)));
static int failures;

/* Numbers in [-0.5, 0.5) that another program can make exactly so. */
static double number(uint32_t i)
{
    return (double)(i * UINT32_C(2654435761)) / 4294967296.0 - 0.5;
}

static void say(const char *name, int n, double listing, double library, double terms)
{
    double bound = (double)n * DBL_EPSILON * terms;
    bool holds = fabs(listing - library) <= bound;
    failures += !holds;
    printf("{\"name\":\"%s\",\"n\":%d,\"listing\":%.17g,\"library\":%.17g,\"bound\":%.17g,"
           "\"holds\":%s}\n",
           name, n, listing, library, bound, holds ? "true" : "false");
}

/* y = y + a x is judged by its worst element: each is rounded once or twice on either side. */
static void say_axpy(const char *name, int n, double a, const double *listing)
{
    double worst = 0, bound = 0;
    for (int i = 0; i < n; i++)
        y[i] = number((uint32_t)(i + 7 * n));
    memcpy(z, y, (size_t)n * sizeof(*z));
    okosu_vec_daxpy(a, x, z, (size_t)n);
    for (int i = 0; i < n; i++) {
        double allowed = DBL_EPSILON * (2 * fabs(a * x[i]) + fabs(y[i]));
        double off = fabs(listing[i] - z[i]);
        if (off > allowed || off > worst) {
            worst = off;
            bound = allowed;
        }
        if (off > allowed)
            break;
    }
    bool holds = worst <= bound;
    failures += !holds;
    printf("{\"name\":\"%s\",\"n\":%d,\"worst\":%.17g,\"bound\":%.17g,\"holds\":%s}\n", name, n,
           worst, bound, holds ? "true" : "false");
}

static void compare(int n)
{
    double sum = 0, sumsq = 0, dot = 0;
    for (int i = 0; i < n; i++) {
        x[i] = number((uint32_t)i + 1);
        y[i] = number((uint32_t)(i + 7 * n));
        sum += fabs(x[i]);
        sumsq += x[i] * x[i];
        dot += fabs(x[i] * y[i]);
    }
    size_t m = (size_t)n;
    say("dsum", n, hpc_dsum(x, n), okosu_vec_dsum(x, m), sum);
    say("dsum_sse_1", n, hpc_dsum_sse_1(x, n), okosu_vec_dsum(x, m), sum);
    say("dsum_sse_4", n, hpc_dsum_sse_4(x, n), okosu_vec_dsum(x, m), sum);
    say("dsumsq", n, hpc_dsumsq(x, n), okosu_vec_dsumsq(x, m), sumsq);
    say("dsumsq_sse_1", n, hpc_dsumsq_sse_1(x, n), okosu_vec_dsumsq(x, m), sumsq);
    say("dsumsq_sse_4", n, hpc_dsumsq_sse_4(x, n), okosu_vec_dsumsq(x, m), sumsq);
    say("ddot", n, hpc_ddot(x, y, n), okosu_vec_ddot(x, y, m), dot);
    say("ddot_sse_4", n, hpc_ddot_sse_4(x, y, n), okosu_vec_ddot(x, y, m), dot);

    static double mine[MOST] __attribute__((aligned(64)));
    const double a = 0.75 + 1.0 / 1024;
    memcpy(mine, y, m * sizeof(*mine));
    hpc_daxpy(mine, a, x, n);
    say_axpy("daxpy", n, a, mine);
    memcpy(mine, y, m * sizeof(*mine));
    hpc_daxpy_sse(a, x, mine, n);
    say_axpy("daxpy_sse", n, a, mine);
}

int main(int argc, char *argv[])
{
    static const int usual[] = {8, 64, 1000, 2048};
    for (int i = 1; i < argc; i++) {
        int n = atoi(argv[i]);
        if (n < 8 || n > MOST || n % 8 != 0) {
            fprintf(stderr, "compare: %s is not a multiple of 8 up to %d\n", argv[i], MOST);
            return 2;
        }
        compare(n);
    }
    for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(*usual); i++)
        compare(usual[i]);
    return failures != 0;
}
