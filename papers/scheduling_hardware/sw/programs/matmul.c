/* SPDX-License-Identifier: Apache-2.0 */
/* matmul N THREADS: the product of two N x N matrices of integers, by bands of rows. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 200 };

static uint32_t *left, *right, *product;
static unsigned size, threads;

static void *band(void *argument)
{
    unsigned index = (unsigned)(uintptr_t)argument;

    for (unsigned row = size * index / threads; row < size * (index + 1) / threads; row++) {
        for (unsigned column = 0; column < size; column++) {
            uint32_t sum = 0;

            for (unsigned at = 0; at < size; at++)
                sum += left[row * size + at] * right[at * size + column];
            product[row * size + column] = sum;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ids[MOST_THREADS];
    uint32_t sum = 0, expected = 0;

    size = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 16;
    threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 8;
    if (size == 0 || size > 256 || threads == 0 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: matmul [SIZE up to 256 [THREADS up to %d]]\n", MOST_THREADS);
        return 2;
    }
    left = malloc(3 * size * size * sizeof(*left));
    if (left == NULL) {
        perror("matmul");
        return 1;
    }
    right = left + size * size;
    product = right + size * size;
    for (unsigned at = 0; at < size * size; at++) {
        left[at] = at * 2654435761u >> 16;
        right[at] = at * 40503u + 1;
    }
    for (unsigned index = 0; index < threads; index++) {
        if (pthread_create(&ids[index], NULL, band, (void *)(uintptr_t)index) != 0) {
            fprintf(stderr, "matmul: cannot create thread %u\n", index);
            return 1;
        }
    }
    for (unsigned index = 0; index < threads; index++)
        pthread_join(ids[index], NULL);

    /* The sum of all elements is that of column sums of the one times row sums of the other. */
    for (unsigned at = 0; at < size; at++) {
        uint32_t column = 0, row = 0;

        for (unsigned other = 0; other < size; other++) {
            column += left[other * size + at];
            row += right[at * size + other];
        }
        expected += column * row;
    }
    for (unsigned at = 0; at < size * size; at++)
        sum += product[at];
    printf("matmul: %u x %u by %u threads, sum %08x\n%s\n", size, size, threads, sum,
           sum == expected ? "ok" : "WRONG");
    free(left);
    return sum != expected;
}
