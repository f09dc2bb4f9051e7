/* SPDX-License-Identifier: Apache-2.0 */
/* contend THREADS ROUNDS INSIDE OUTSIDE: threads that want one lock, for the machine only. Each
 * takes it ROUNDS times, works INSIDE steps with it and OUTSIDE steps without it, 4 cycles each.
 * The lock is a mutex, or with -DSPIN=1 a word that waiters exchange, with -DSPIN=2 one that they
 * read until it is free. main, on a PE of its own, meanwhile reads a word of memory and counts.
 * Prints cycles until all are done, and main's reads. */
#include <pthread.h>
#include <stdlib.h>

#include "measure.h"
#include "work.h"

#ifndef SPIN
#define SPIN 0
#endif

enum { MOST_THREADS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned word, finished;
static unsigned total, rounds, inside, outside;

static void take(void)
{
    if (SPIN == 0)
        pthread_mutex_lock(&mutex);
    else
        while (swap_word(&word, 1) != 0)
            while (SPIN == 2 && word != 0)
                ;
}

static void give(void)
{
    if (SPIN == 0)
        pthread_mutex_unlock(&mutex);
    else
        word = 0;
}

static void *run(void *argument)
{
    for (unsigned round = 0; round < rounds; round++) {
        take();
        work(0, inside);
        total++;
        give();
        work(0, outside);
    }
    take();
    finished++;
    give();
    return argument;
}

int main(int argc, char **argv)
{
    static pthread_t threads[MOST_THREADS];
    unsigned numbers[4] = {0}, start, cycles, reads = 0;

    for (int at = 0; at < 4 && at + 1 < argc; at++)
        numbers[at] = (unsigned)strtoul(argv[at + 1], NULL, 10);
    rounds = numbers[1];
    inside = numbers[2];
    outside = numbers[3];
    if (argc != 5 || numbers[0] < 1 || numbers[0] > MOST_THREADS) {
        fprintf(stderr, "usage: contend THREADS (1 to %d) ROUNDS INSIDE OUTSIDE\n", MOST_THREADS);
        return 2;
    }
    start = cycle_low();
    for (unsigned at = 0; at < numbers[0]; at++)
        if (pthread_create(&threads[at], NULL, run, NULL) != 0)
            return 1;
    while (finished != numbers[0])
        reads++;
    cycles = cycle_low() - start;
    for (unsigned at = 0; at < numbers[0]; at++)
        pthread_join(threads[at], NULL);
    printf("contended %u\nreads %u\n", cycles, reads);
    return total != numbers[0] * rounds;
}
