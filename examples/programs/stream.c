/* SPDX-License-Identifier: Apache-2.0 */
/* The triad a = b + s * c over three long arrays: sequential, so bandwidth is all that counts once
 * the arrays have been touched. */
#include "args.h"

static const char usage[] =
    "usage: stream [-v] SIZE [REPS]\n"
    "Computes a = b + s * c over three arrays of SIZE bytes each, REPS times (default 10).\n"
    "  SIZE  8 to 256G; K, M, G = 2^10, 2^20, 2^30\n"
    "  REPS  1 to 1G; K, M, G = 10^3, 10^6, 10^9\n"
    "  -v    the transfer rate on stderr, 24 bytes an element\n";

/* Small whole numbers: every result is exact, whatever the order and the rounding. */
static double initial(uint64_t at, uint64_t period)
{
    return (double)(at % period);
}

__attribute__((noinline)) static void triad(double *restrict a, const double *restrict b,
                                            const double *restrict c, double s, uint64_t n)
{
    for (uint64_t at = 0; at < n; at++)
        a[at] = b[at] + s * c[at];
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "stream", usage, 1, 2);
    uint64_t size = args_number(&args, 0, "SIZE", ARGS_SIZE, 8, UINT64_C(256) << 30, 0);
    uint64_t reps = args_number(&args, 1, "REPS", ARGS_COUNT, 1, UINT64_C(1000000000), 10);
    uint64_t n = size / sizeof(double), wrong = 0;
    size_t bytes = (size_t)n * sizeof(double);
    double *a = args_keep(&args, bytes);
    double *b = args_keep(&args, bytes);
    double *c = args_keep(&args, bytes);
    double start, sum = 0;

    for (uint64_t at = 0; at < n; at++) {
        a[at] = 0;
        b[at] = initial(at, 1021);
        c[at] = initial(at, 509);
    }

    start = args_seconds();
    for (uint64_t rep = 1; rep <= reps; rep++) {
        triad(a, b, c, (double)rep, n);
        args_barrier(a);
    }
    args_rate(&args, 1e-6 * 3.0 * (double)bytes * (double)reps, "MB", start);

    for (uint64_t at = 0; at < n; at++) {
        wrong += a[at] != initial(at, 1021) + (double)reps * initial(at, 509);
        sum += a[at];
    }
    printf("stream: %" PRIu64 " elements, %" PRIu64 " times, sum %.17g\n", n, reps, sum);
    return args_finish(&args, wrong == 0);
}
