/* SPDX-License-Identifier: Apache-2.0 */
/* preempted THREADS ROUNDS: each thread waits, without a yield, for what the next one does, and
 * works with all kinds of state that a switch has to keep: registers, HI and LO, what a command
 * answered. For quanta; without one it does not end where there are more threads than PEs. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 16 };

static volatile unsigned came[MOST];
static unsigned count, rounds;

static void *child(void *argument)
{
    return (void *)((uintptr_t)argument * 3);
}

static uint64_t mix(uint64_t value, unsigned times)
{
    for (; times != 0; times--)
        value = value * UINT64_C(6364136223846793005) + (uint32_t)value / (times | 1);
    return value;
}

static void *work(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    uint64_t sum = self;

    for (unsigned round = 1; round <= rounds; round++) {
        pthread_t thread;
        void *value = NULL;

        came[self] = round;
        while (came[(self + 1) % count] < round)
            ;
        if (pthread_create(&thread, NULL, child, (void *)(uintptr_t)round) ||
            pthread_join(thread, &value))
            exit(9);
        sum = mix(sum, round % 4) + (uintptr_t)value;
    }
    return (void *)(uintptr_t)(uint32_t)(sum ^ sum >> 32);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    void *value = NULL;

    count = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 6;
    for (unsigned at = 0; at < count; at++)
        if (pthread_create(&threads[at], NULL, work, (void *)(uintptr_t)at))
            return 1;
    for (unsigned at = 0; at < count; at++) {
        pthread_join(threads[at], &value);
        printf("%08x\n", (unsigned)(uintptr_t)value);
    }
    return 0;
}
