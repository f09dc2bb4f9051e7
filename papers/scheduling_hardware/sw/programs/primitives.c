/* SPDX-License-Identifier: Apache-2.0 */
/* primitives: cycles from call to return of what the library does, the rest of the machine idle,
 * and what one reading of the cycle counter costs taken off. For the machine only. Each line: name,
 * smallest and largest of ROUNDS. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>

#include "measure.h"

enum { ROUNDS = 16, PAUSE = 600 };

static void *nothing(void *argument)
{
    return argument;
}

static void measure_threads(void)
{
    struct range create = {0}, join = {0};
    pthread_t thread;

    for (int round = 0; round < ROUNDS; round++) {
        unsigned start = cycle_low();

        pthread_create(&thread, NULL, nothing, NULL);
        note(&create, cycle_low() - start);
        pause_for(PAUSE);
        start = cycle_low();
        pthread_join(thread, NULL);
        note(&join, cycle_low() - start);
        pause_for(PAUSE);
    }
    print("create", &create);
    print("join_finished", &join);
}

static void measure_mutex(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct range lock = {0}, unlock = {0};

    for (int round = 0; round < ROUNDS; round++) {
        unsigned start = cycle_low();

        pthread_mutex_lock(&mutex);
        note(&lock, cycle_low() - start);
        pause_for(PAUSE);
        start = cycle_low();
        pthread_mutex_unlock(&mutex);
        note(&unlock, cycle_low() - start);
        pause_for(PAUSE);
    }
    print("mutex_lock", &lock);
    print("mutex_unlock", &unlock);
}

enum { YIELDS = 64, MOST_THREADS = 8 * MOST_PES };

static void *yield_often(void *argument)
{
    for (int round = 0; round < YIELDS; round++)
        sched_yield();
    return argument;
}

/* With so many threads on each PE that do nothing but yield: cycles of a PE from one yield to the
 * next. */
static void measure_sustained(const char *name, unsigned per_pe)
{
    static pthread_t threads[MOST_THREADS];
    unsigned count = per_pe * pe_count(), made = 0, start = cycle_low(), spent;

    while (made < count && pthread_create(&threads[made], NULL, yield_often, NULL) == 0)
        made++;
    for (unsigned at = 0; at < made; at++)
        pthread_join(threads[at], NULL);
    spent = (cycle_low() - start) / (per_pe * YIELDS);
    printf("%s %u %u\n", name, spent, spent);
}

static void measure_yield(void)
{
    struct range alone = {0};

    for (int round = 0; round < ROUNDS; round++) {
        unsigned start = cycle_low();

        sched_yield();
        note(&alone, cycle_low() - start);
    }
    print("yield_alone", &alone);
    measure_sustained("yield_sustained_2_per_pe", 2);
    measure_sustained("yield_sustained_4_per_pe", 4);
    /* There are more threads than banks. */
    measure_sustained("yield_sustained_8_per_pe", 8);
}

static pthread_barrier_t barrier;
static volatile unsigned here[MOST_PES], came[ROUNDS][MOST_PES], went[ROUNDS][MOST_PES];

/* All threads run at once before the first barrier, so each is on a PE of its own. */
static void *meet(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument, parties = pe_count();

    here[self] = 1;
    for (unsigned at = 0; at < parties; at++)
        while (!here[at])
            ;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned start;

        pause_for(50 * ((self + (unsigned)round) % parties + 1));
        start = cycle_low();
        pthread_barrier_wait(&barrier);
        went[round][self] = cycle_low();
        came[round][self] = start;
    }
    return NULL;
}

static void measure_barrier(void)
{
    unsigned parties = pe_count();
    pthread_t threads[MOST_PES];
    struct range range = {0};

    pthread_barrier_init(&barrier, NULL, parties);
    for (unsigned at = 0; at < parties; at++)
        pthread_create(&threads[at], NULL, meet, (void *)(uintptr_t)at);
    for (unsigned at = 0; at < parties; at++)
        pthread_join(threads[at], NULL);
    for (int round = 1; round < ROUNDS; round++) {
        unsigned last_came = 0, last_went = 0;

        for (unsigned at = 0; at < parties; at++) {
            if (came[round][at] > last_came)
                last_came = came[round][at];
            if (went[round][at] > last_went)
                last_went = went[round][at];
        }
        note(&range, last_went - last_came);
    }
    print("barrier_last_to_last", &range);
}

static void *finish_later(void *argument)
{
    pause_for(PAUSE);
    *(volatile unsigned *)argument = cycle_low();
    return NULL;
}

static void measure_wake(void)
{
    struct range wake = {0};

    for (int round = 0; round < ROUNDS; round++) {
        unsigned ended;
        pthread_t thread;

        pthread_create(&thread, NULL, finish_later, &ended);
        pthread_join(thread, NULL);
        note(&wake, cycle_low() - ended);
    }
    print("join_wake", &wake);
}

int main(void)
{
    measure_threads();
    measure_mutex();
    measure_yield();
    measure_wake();
    measure_barrier();
    return 0;
}
