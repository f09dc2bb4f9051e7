/* SPDX-License-Identifier: Apache-2.0 */
/* work_transpose DIMENSION REPETITIONS SEED: copies a matrix of doubles transposed into another, as
 * the superpage-colouring paper does (its figure 7, built with -funroll-loops); an operation is one
 * element. The numbers come from SEED. One repetition warms the caches; those after it are the
 * model's region of interest, labelled DIMENSION. The matrices take 16 * DIMENSION^2 bytes. */
#include "work.h"

#include "mark.h"
#include "transpose.h"

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
    transpose_fill(b, dimension, dimension, (unsigned)numbers[2]);
    transpose_clear(a, dimension, dimension);
    if (mark_pages())
        fputs("the kernel does not say which pages are large\n", stderr);
    mark_label((uint64_t)dimension);
    transpose(a, b, dimension, dimension);
    double start = work_now();
    mark_begin();
    for (long rep = 0; rep < numbers[1]; rep++)
        transpose(a, b, dimension, dimension);
    mark_end();
    double seconds = work_now() - start;
    transpose_check(a, b, dimension, dimension);
    work_report((long)elements * numbers[1], seconds, 0);
    return 0;
}
