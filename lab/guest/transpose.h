/* SPDX-License-Identifier: Apache-2.0 */
/* The superpage-colouring paper's benchmark (its figure 7, built with -funroll-loops): a matrix of
 * doubles copied transposed into another. Rows are `pitch` elements apart in both. */
#ifndef OKOSU_TRANSPOSE_H
#define OKOSU_TRANSPOSE_H

#include "work.h"

__attribute__((noinline, optimize("unroll-loops"))) static void
transpose(double *restrict a, const double *restrict b, size_t dimension, size_t pitch)
{
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j < dimension; j++)
            a[i * pitch + j] = b[j * pitch + i];
}

/* Fill the matrix from a seed, row by row; the gap between rows is not touched. */
static void transpose_fill(double *b, size_t dimension, size_t pitch, unsigned state)
{
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j < dimension; j++) {
            state = state * 1664525u + 1013904223u;
            b[i * pitch + j] = state;
        }
}

static void transpose_clear(double *a, size_t dimension, size_t pitch)
{
    for (size_t i = 0; i < dimension; i++)
        memset(a + i * pitch, 0, dimension * sizeof(*a));
}

static void transpose_check(const double *a, const double *b, size_t dimension, size_t pitch)
{
    for (size_t i = 0; i < dimension; i++)
        for (size_t j = 0; j < dimension; j++)
            if (a[i * pitch + j] != b[j * pitch + i])
                work_wrong("transpose");
}

#endif
