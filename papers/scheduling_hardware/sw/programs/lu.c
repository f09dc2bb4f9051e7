/* SPDX-License-Identifier: Apache-2.0 */
/* lu SIZE BLOCK THREADS: a matrix of single precision as a lower times an upper triangle, by square
 * blocks. In each round the block on the diagonal is factored, then those beside and below it, then
 * all that are left are reduced; blocks are dealt out by turns, and members meet between. Right is
 * what multiplied gives the matrix again. */
#include "kernel.h"

enum { MOST_SIZE = 2048, MOST_BLOCK = 64 };

static float *matrix, *given, *worst;
static unsigned size, block, blocks;

static inline float *at(unsigned row, unsigned column)
{
    return &matrix[(size_t)row * size + column];
}

/* Divide by the upper triangle of the diagonal's block from the right, or be that block. */
static void factor(unsigned first)
{
    for (unsigned pivot = first; pivot < first + block; pivot++) {
        float inverse = 1 / *at(pivot, pivot);

        for (unsigned row = pivot + 1; row < first + block; row++) {
            float by = *at(row, pivot) *= inverse;

            for (unsigned column = pivot + 1; column < first + block; column++)
                *at(row, column) -= by * *at(pivot, column);
        }
    }
}

static void below(unsigned first, unsigned top)
{
    for (unsigned pivot = first; pivot < first + block; pivot++) {
        float inverse = 1 / *at(pivot, pivot);

        for (unsigned row = top; row < top + block; row++) {
            float by = *at(row, pivot) *= inverse;

            for (unsigned column = pivot + 1; column < first + block; column++)
                *at(row, column) -= by * *at(pivot, column);
        }
    }
}

static void beside(unsigned first, unsigned left)
{
    for (unsigned pivot = first; pivot < first + block; pivot++)
        for (unsigned row = pivot + 1; row < first + block; row++) {
            float by = *at(row, pivot);

            for (unsigned column = left; column < left + block; column++)
                *at(row, column) -= by * *at(pivot, column);
        }
}

static void inner(unsigned first, unsigned top, unsigned left)
{
    for (unsigned row = top; row < top + block; row++)
        for (unsigned column = left; column < left + block; column++) {
            float value = *at(row, column);

            for (unsigned pivot = first; pivot < first + block; pivot++)
                value -= *at(row, pivot) * *at(pivot, column);
            *at(row, column) = value;
        }
}

static void *decompose(void *argument)
{
    unsigned member = (unsigned)(uintptr_t)argument;

    for (unsigned round = 0; round < blocks; round++) {
        unsigned first = round * block, left = blocks - round - 1;

        if (round % members == member)
            factor(first);
        meet();
        for (unsigned turn = member; turn < 2 * left; turn += members) {
            unsigned other = first + block + turn / 2 * block;

            if (turn % 2 == 0)
                below(first, other);
            else
                beside(first, other);
        }
        meet();
        for (unsigned turn = member; turn < left * left; turn += members)
            inner(first, first + block + turn / left * block, first + block + turn % left * block);
        meet();
    }
    return NULL;
}

/* The largest difference of the product of both triangles in some rows. */
static void *multiply(void *argument)
{
    unsigned member = (unsigned)(uintptr_t)argument;

    worst[member] = 0;
    for (unsigned row = member; row < size; row += members)
        for (unsigned column = 0; column < size; column++) {
            unsigned end = row < column + 1 ? row : column + 1;
            float value = row <= column ? *at(row, column) : 0;

            for (unsigned middle = 0; middle < end; middle++)
                value += *at(row, middle) * *at(middle, column);
            value -= given[(size_t)row * size + column];
            if (value < 0)
                value = -value;
            if (!(value <= worst[member]))
                worst[member] = value;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    unsigned long long took;
    uint32_t sum = 0, word = 1;
    int right = 1;

    size = number(argc, argv, 1, 4, MOST_SIZE, 16);
    block = number(argc, argv, 2, 1, MOST_BLOCK, 4);
    members = number(argc, argv, 3, 1, MOST_MEMBERS, 4);
    if (size % block != 0) {
        fprintf(stderr, "lu: %u rows are no whole number of blocks of %u\n", size, block);
        return 2;
    }
    blocks = size / block;
    matrix = memory((size_t)size * size * sizeof(*matrix));
    given = memory((size_t)size * size * sizeof(*given));
    worst = memory(members * sizeof(*worst));
    /* The diagonal outweighs its row, so that no row has to be exchanged. */
    for (unsigned row = 0; row < size; row++)
        for (unsigned column = 0; column < size; column++) {
            word = word * 1664525 + 1013904223;
            *at(row, column) = (float)(word >> 20) / 4096 + (float)(row == column ? size : 0);
            given[(size_t)row * size + column] = *at(row, column);
        }
    took = team(decompose);
    for (unsigned row = 0; row < size; row++)
        for (unsigned column = 0; column < size; column++) {
            union {
                float value;
                uint32_t word;
            } told = {.value = *at(row, column)};

            sum = digest(sum, told.word);
        }
    team(multiply);
    /* An element is a sum of `size` products, none larger than size + 1; 24 bits are exact. */
    for (unsigned member = 0; member < members; member++)
        right &= worst[member] <= (float)size * (float)(size + 1) / 8388608;
    printf("lu: %u x %u in blocks of %u by %u threads\n", size, size, block, members);
    return finish(took, sum, right);
}
