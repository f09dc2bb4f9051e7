/* SPDX-License-Identifier: Apache-2.0 */
/* work_transpose DIMENSION REPETITIONS SEED: copies a matrix of doubles transposed into another, as
 * the superpage-colouring paper does (its figure 7, built with -funroll-loops); an operation is one
 * element. The numbers come from SEED. Once is for the caches; the repetitions after it are the
 * model's region of interest, labelled DIMENSION, of which the matrices' bytes are 16 *
 * DIMENSION^2.
 */
#include "work.h"

#include "mark.h"

__attribute__((noinline, optimize("unroll-loops"))) static void
transpose(double *restrict a, const double *restrict b, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j < dimension; j++)
            a[i * dimension + j] = b[j * dimension + i];
}

static void check(const double *a, const double *b, size_t dimension)
{
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j < dimension; j++)
            if (a[i * dimension + j] != b[j * dimension + i])
                work_wrong("transpose");
}

int main(int argc, char **argv)
{
    long numbers[3];

    work_arguments(argc, argv, "DIMENSION REPETITIONS SEED", 3, numbers);
    size_t dimension = (size_t)numbers[0], elements = dimension * dimension;
    if (dimension > 30000) {
        fputs("a matrix has at most 30000 rows\n", stderr);
        return 2;
    }
    double *a = (double *)(void *)work_buffer(elements * sizeof(double));
    double *b = (double *)(void *)work_buffer(elements * sizeof(double));
    unsigned state = (unsigned)numbers[2];
    for (size_t i = 0; i < elements; i++) {
        state = state * 1664525u + 1013904223u;
        b[i] = state;
    }
    memset(a, 0, elements * sizeof(double));
    if (mark_pages())
        fputs("the kernel does not say which pages are large\n", stderr);
    mark_label((uint64_t)dimension);
    transpose(a, b, dimension);
    double start = work_now();
    mark_begin();
    for (long rep = 0; rep < numbers[1]; rep++)
        transpose(a, b, dimension);
    mark_end();
    double seconds = work_now() - start;
    check(a, b, dimension);
    work_report((long)elements * numbers[1], seconds, 0);
    return 0;
}
