/* SPDX-License-Identifier: Apache-2.0 */
/* queens N: in how many ways N queens can stand on a board; one thread for each valid pair of the
 * first two rows. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 14 };

static unsigned size;

static unsigned place(unsigned columns, unsigned up, unsigned down)
{
    unsigned all = (1u << size) - 1, ways = 0;

    if (columns == all)
        return 1;
    for (unsigned free = all & ~(columns | up | down); free != 0; free &= free - 1) {
        unsigned bit = free & -free;

        ways += place(columns | bit, (up | bit) << 1, (down | bit) >> 1);
    }
    return ways;
}

static void *start(void *argument)
{
    unsigned first = (uintptr_t)argument & 0xffff, second = (uintptr_t)argument >> 16;

    return (void *)(uintptr_t)place(first | second, (first << 1 | second) << 1,
                                    (first >> 1 | second) >> 1);
}

int main(int argc, char **argv)
{
    static const unsigned known[MOST + 1] = {1,  1,   0,   0,    2,     10,    4,     40,
                                             92, 352, 724, 2680, 14200, 73712, 365596};
    pthread_t ids[MOST * MOST];
    unsigned threads = 0, ways = 0;

    size = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 7;
    if (size < 4 || size > MOST) {
        fprintf(stderr, "usage: queens [SIZE from 4 to %d]\n", MOST);
        return 2;
    }
    for (unsigned first = 0; first < size; first++) {
        for (unsigned second = 0; second < size; second++) {
            uintptr_t both = 1u << first | (uintptr_t)1 << (second + 16);

            if (second + 1 >= first && second <= first + 1)
                continue;
            if (pthread_create(&ids[threads], NULL, start, (void *)both) != 0) {
                fprintf(stderr, "queens: cannot create thread %u\n", threads);
                return 1;
            }
            threads++;
        }
    }
    for (unsigned index = 0; index < threads; index++) {
        void *value;

        pthread_join(ids[index], &value);
        ways += (unsigned)(uintptr_t)value;
    }
    printf("queens: %u on a board, %u ways, %u threads\n%s\n", size, ways, threads,
           ways == known[size] ? "ok" : "WRONG");
    return ways != known[size];
}
