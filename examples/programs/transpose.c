/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix transposition with a column-wise load stream, the benchmark of a 2003 study of super pages
 * and page colouring: each step of the inner loop is a row (and, for large matrices, a page)
 * further on in b. */
#include "args.h"

static const char usage[] =
    "usage: transpose [-v] DIM [REPS]\n"
    "Copies a DIM x DIM matrix of doubles transposed into another, REPS times (default 5).\n"
    "  DIM   1 to 65536     REPS  1 to 1G; K, M, G = 10^3, 10^6, 10^9\n"
    "  -v    the transfer rate on stderr, reads and writes counted, 16 bytes an element\n";

static double initial(uint64_t row, uint64_t column, uint64_t dim)
{
    return (double)(row * dim + column);
}

__attribute__((noinline)) static void transpose(double *restrict a, const double *restrict b,
                                                uint64_t dim)
{
    for (uint64_t i = 0; i < dim; i++)
        for (uint64_t j = 0; j < dim; j++)
            a[i * dim + j] = b[j * dim + i];
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "transpose", usage, 1, 2);
    uint64_t dim = args_number(&args, 0, "DIM", ARGS_PLAIN, 1, 65536, 0);
    uint64_t reps = args_number(&args, 1, "REPS", ARGS_COUNT, 1, UINT64_C(1000000000), 5);
    size_t bytes = (size_t)(dim * dim) * sizeof(double);
    double *a = args_keep(&args, bytes);
    double *b = args_keep(&args, bytes);
    double start, sum = 0;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < dim; i++)
        for (uint64_t j = 0; j < dim; j++)
            b[i * dim + j] = initial(i, j, dim);
    memset(a, 0, bytes);

    start = args_seconds();
    for (uint64_t rep = 0; rep < reps; rep++) {
        transpose(a, b, dim);
        args_barrier(a);
    }
    args_rate(&args, 1e-6 * 2.0 * (double)bytes * (double)reps, "MB", start);

    for (uint64_t i = 0; i < dim; i++)
        for (uint64_t j = 0; j < dim; j++) {
            wrong += a[i * dim + j] != initial(j, i, dim);
            sum += a[i * dim + j] * (double)(i % 2);
        }
    printf("transpose: dim %" PRIu64 ", %" PRIu64 " times, odd rows sum to %.0f\n", dim, reps, sum);
    return args_finish(&args, wrong == 0);
}
