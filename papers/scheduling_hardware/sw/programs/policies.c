/* SPDX-License-Identifier: Apache-2.0 */
/* policies WHAT: what each scheduling policy does. For the machine only, `ssh` back end.
 *
 *   order    one PE: the order in which five threads run that became ready as a, b, c, d, e
 *   ranks    likewise, each of a higher priority than the one before
 *   goals    likewise, under edf: the later a thread came, the earlier its goal; the last runs on
 *   urgent   all PEs are busy for ever until a thread of a higher priority has run
 *   turns    all PEs are busy for ever until a thread of the same priority has run
 *   woken    one PE: as order, and where main, which waits for a, goes on: m */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

enum { MANY = 5, LOW = 2, HIGH = 9, TOP = 15, MOST_PES = 64, LONG = 300 };

static volatile char order[MANY + 2];
static volatile unsigned ran;
static pthread_barrier_t barrier;

static void work(unsigned cycles)
{
    unsigned start = COP2_READ(10);

    while (COP2_READ(10) - start < cycles)
        ;
}

static pthread_t with_priority(void *(*entry)(void *), void *argument, int priority)
{
    struct sched_param param = {.sched_priority = priority};
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    if (pthread_create(&thread, &attr, entry, argument) != 0)
        puts("no thread");
    return thread;
}

static void *sign(void *argument)
{
    /* This is long enough for a thread with precedence to come first. */
    work(LONG);
    order[ran++] = "abcde"[(uintptr_t)argument];
    return NULL;
}

static void join_all(const pthread_t *threads, unsigned count)
{
    for (unsigned at = 0; at < count; at++)
        pthread_join(threads[at], NULL);
}

static void in_order(void)
{
    pthread_t threads[MANY];

    for (uintptr_t at = 0; at < MANY; at++)
        pthread_create(&threads[at], NULL, sign, (void *)at);
    work(LONG);
    join_all(threads, MANY);
    puts((const char *)order);
}

static void on_waking(void)
{
    pthread_t threads[MANY];

    for (uintptr_t at = 0; at < MANY; at++)
        pthread_create(&threads[at], NULL, sign, (void *)at);
    pthread_join(threads[0], NULL);
    order[ran++] = 'm';
    join_all(threads + 1, MANY - 1);
    puts((const char *)order);
}

static void by_rank(void)
{
    pthread_t threads[MANY];

    pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = TOP});
    for (uintptr_t at = 0; at < MANY; at++)
        threads[at] = with_priority(sign, (void *)at, LOW + (int)at);
    work(LONG);
    join_all(threads, MANY);
    puts((const char *)order);
}

static void set_goal(unsigned cycle)
{
    __asm__ volatile(ASM_COP2(PUT("%0", 0) PUT("%1", 27) GET(ZERO, 5))
                     :
                     : "r"(COP2_READ(7)), "r"(cycle));
}

static void *sign_by_goal(void *argument)
{
    set_goal(1000000 - 1000 * (unsigned)(uintptr_t)argument);
    pthread_barrier_wait(&barrier);
    order[ran++] = "abcde"[(uintptr_t)argument];
    return NULL;
}

static void by_goal(void)
{
    pthread_t threads[MANY];

    pthread_barrier_init(&barrier, NULL, MANY);
    for (uintptr_t at = 0; at < MANY; at++)
        pthread_create(&threads[at], NULL, sign_by_goal, (void *)at);
    join_all(threads, MANY);
    puts((const char *)order);
}

static volatile unsigned busy, done;

static void *spin(void *argument)
{
    busy++;
    while (!done)
        ;
    return argument;
}

static void *release(void *argument)
{
    done = 1;
    return argument;
}

static void *spin_then_call(void *argument)
{
    unsigned start = COP2_READ(10);
    pthread_t high;

    work(LONG);
    high = with_priority(release, NULL, HIGH);
    start = COP2_READ(10);
    while (!done)
        ;
    printf("after %u cycles\n", COP2_READ(10) - start);
    pthread_join(high, NULL);
    return argument;
}

static void in_haste(void)
{
    unsigned others = pe_count() - 1;
    pthread_t threads[MOST_PES];

    pthread_setschedparam(pthread_self(), SCHED_FIFO, &(struct sched_param){.sched_priority = TOP});
    for (unsigned at = 0; at < others; at++)
        threads[at] = with_priority(spin, NULL, LOW);
    threads[others] = with_priority(spin_then_call, NULL, LOW + 1);
    join_all(threads, others + 1);
    puts("ok");
}

static void in_turn(void)
{
    unsigned count = pe_count();
    pthread_t threads[MOST_PES + 1];

    for (unsigned at = 0; at < count; at++)
        pthread_create(&threads[at], NULL, spin, NULL);
    pthread_create(&threads[count], NULL, release, NULL);
    join_all(threads, count + 1);
    puts("ok");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"order", in_order},  {"ranks", by_rank}, {"goals", by_goal},
               {"urgent", in_haste}, {"turns", in_turn}, {"woken", on_waking}};

    for (unsigned at = 0; argc == 2 && at < sizeof(all) / sizeof(all[0]); at++)
        if (strcmp(argv[1], all[at].name) == 0) {
            all[at].run();
            return 0;
        }
    puts("usage: policies order|ranks|goals|urgent|turns|woken");
    return 2;
}
