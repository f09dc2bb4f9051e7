/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that operate on the same words, by every operation that the compiler knows: nothing may be lost. argv: threads, rounds. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_THREADS = 16 };

static volatile unsigned added, flipped, swapped_in, swapped_out, compared, most;
static volatile unsigned bits;
static unsigned rounds;
static pthread_barrier_t start;

static void *operate(void *argument)
{
    const unsigned self = (unsigned)(uintptr_t)argument;

    pthread_barrier_wait(&start);
    for (unsigned round = 0; round < rounds; round++) {
        unsigned seen = compared, mine = round * MOST_THREADS + self + 1;

        __atomic_fetch_add(&added, self + 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_xor(&flipped, 1u << self, __ATOMIC_SEQ_CST);
        __atomic_fetch_or(&bits, 1u << self, __ATOMIC_SEQ_CST);
        /* What was put in and what was taken out differ by what is in there at the end. */
        __atomic_fetch_add(&swapped_in, mine, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&swapped_out, __atomic_exchange_n(&most, mine, __ATOMIC_SEQ_CST),
                           __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(&compared, &seen, seen * 3 + 1, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            ;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
    unsigned sum = 0, folded = 0;
    pthread_t threads[MOST_THREADS];

    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    pthread_barrier_init(&start, NULL, count);
    for (unsigned n = 0; n < count; n++)
        pthread_create(&threads[n], NULL, operate, (void *)(uintptr_t)n);
    for (unsigned n = 0; n < count; n++)
        pthread_join(threads[n], NULL);
    for (unsigned n = 0; n < count; n++)
        sum += rounds * (n + 1);
    for (unsigned n = 0; n < count * rounds; n++)
        folded = folded * 3 + 1;
    printf("%u %u %u %u %u\n", added - sum, flipped - (rounds % 2 ? (1u << count) - 1 : 0),
           bits - ((1u << count) - 1), swapped_in - swapped_out - most, compared - folded);
    return added != sum || compared != folded || swapped_in - swapped_out != most;
}
