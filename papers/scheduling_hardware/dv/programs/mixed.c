/* SPDX-License-Identifier: Apache-2.0 */
/* mixed SEED ROUNDS PER_PE: threads of all priorities and goals that do what a generator draws:
 * work, yield, make others wait, wait for others, change priorities and goals. For every policy,
 * with a quantum or without; what comes out does not depend on who runs when, but the cycles do. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"

enum { MOST = 128, PER_PE = 4, KINDS = 8, MOST_PRIORITY = 15 };

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_t threads[MOST];
static unsigned count, rounds, seed, totals[2];
static volatile unsigned made = 1;

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 16;
}

static void work_for(unsigned steps)
{
    while (steps-- > 0)
        __asm__ volatile("");
}

static pthread_t with_priority(void *(*entry)(void *), void *argument, unsigned priority)
{
    struct sched_param param = {.sched_priority = (int)priority};
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    if (pthread_create(&thread, &attr, entry, argument))
        exit(1);
    return thread;
}

static void set_goal(unsigned handle, unsigned cycle)
{
    __asm__ volatile(ASM_COP2("mtc2 %0,$0\n\tmtc2 %1,$27\n\tmfc2 $0,$5\n\t")
                     :
                     : "r"(handle), "r"(cycle));
}

static void *child(void *argument)
{
    work_for((unsigned)(uintptr_t)argument % 64);
    return (void *)((uintptr_t)argument + 1);
}

static unsigned join_child(unsigned number)
{
    void *value = NULL;

    pthread_join(with_priority(child, (void *)(uintptr_t)number, number % (MOST_PRIORITY + 1)),
                 &value);
    return (unsigned)(uintptr_t)value;
}

static void *act(void *argument)
{
    unsigned self = (unsigned)(uintptr_t)argument, state = seed + 77 * self, sum = 0;

    for (unsigned round = 0; round < rounds; round++) {
        unsigned number = draw(&state), which = number >> 3 & 1;

        switch (number % KINDS) {
        case 0:
            work_for(number >> 4 & 255);
            break;
        case 1:
        case 2:
            sched_yield();
            break;
        case 3:
            sum += join_child(number);
            break;
        case 4:
        case 5:
            pthread_mutex_lock(&mutexes[which]);
            totals[which] += number & 15;
            if (number & 256)
                sched_yield();
            pthread_mutex_unlock(&mutexes[which]);
            break;
        case 6:
            pthread_setschedprio(threads[number % made], (int)(number >> 5) % (MOST_PRIORITY + 1));
            break;
        default:
            set_goal((unsigned)threads[number % made], 100 * (number & 1023));
            break;
        }
    }
    return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
    unsigned all = 0;

    count = pe_count() * (argc > 3 ? (unsigned)atoi(argv[3]) : PER_PE);
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 12;
    for (unsigned at = 0; at < count; at++) {
        threads[at] = with_priority(act, (void *)(uintptr_t)at, at * 5 % (MOST_PRIORITY + 1));
        made = at + 1;
    }
    for (unsigned at = 0; at < count; at++) {
        void *value = NULL;

        pthread_join(threads[at], &value);
        all = all * 31 + (unsigned)(uintptr_t)value;
    }
    printf("%u %u %08x\n", totals[0], totals[1], all);
    return 0;
}
