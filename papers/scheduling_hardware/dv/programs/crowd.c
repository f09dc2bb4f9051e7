/* SPDX-License-Identifier: Apache-2.0 */
/* crowd PER_PE ROUNDS: more threads than a PE has places for contexts, which do everything that
 * lets one stop or go on: a lock that all want, yields, conditions, waits that end by time,
 * barriers, children. What each keeps in registers meanwhile has to be there afterwards. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine.h"

enum { MOST = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned count, rounds, turn, sum, late;

static uint64_t mix(uint64_t value, unsigned by)
{
    return value * UINT64_C(6364136223846793005) + by;
}

static void *child(void *argument)
{
    return (void *)((uintptr_t)argument ^ 0x5a5a5a5a);
}

/* The threads pass here in the order of their numbers. */
static void take_turn(unsigned self)
{
    pthread_mutex_lock(&mutex);
    while (turn != self)
        pthread_cond_wait(&turned, &mutex);
    turn = (turn + 1) % count;
    pthread_cond_broadcast(&turned);
    pthread_mutex_unlock(&mutex);
}

static void wait_in_vain(unsigned nanoseconds)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)nanoseconds;
    pthread_mutex_lock(&mutex);
    late += pthread_cond_timedwait(&never, &mutex, &until) == ETIMEDOUT;
    pthread_mutex_unlock(&mutex);
}

static void *work(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument;
    uint64_t value = self, other = ~self;

    for (unsigned round = 0; round < rounds; round++) {
        void *answer = NULL;
        pthread_t thread;

        pthread_mutex_lock(&mutex);
        sum += round + self;
        pthread_mutex_unlock(&mutex);
        value = mix(value, round);
        sched_yield();
        other = mix(other, (unsigned)value);
        if (pthread_create(&thread, NULL, child, (void *)(uintptr_t)(uint32_t)other) == 0)
            pthread_join(thread, &answer);
        value ^= (uintptr_t)answer;
        if (round % 4 == 1)
            take_turn(self);
        if (round % 4 == 2)
            wait_in_vain(1000 * (self % 5 + 1));
        pthread_barrier_wait(&barrier);
    }
    return (void *)(uintptr_t)(uint32_t)(value ^ value >> 32 ^ other);
}

int main(int argc, char **argv)
{
    pthread_t threads[MOST];
    uint32_t all = 0;

    count = pe_count() * (argc > 1 ? (unsigned)atoi(argv[1]) : 4);
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
    pthread_barrier_init(&barrier, NULL, count);
    for (unsigned at = 0; at < count; at++)
        if (pthread_create(&threads[at], NULL, work, (void *)(uintptr_t)at))
            return 1;
    for (unsigned at = 0; at < count; at++) {
        void *value;

        pthread_join(threads[at], &value);
        all = all * 31 + (uint32_t)(uintptr_t)value;
    }
    printf("%u %u %08x\n", sum, late, (unsigned)all);
    return 0;
}
