/* SPDX-License-Identifier: Apache-2.0 */
/* No signal of a condition is lost, whenever it comes, though its sender does not hold the mutex.
 *
 *   wakeups LAST STEP
 *
 * Rounds are made for each delay of 0 to LAST cycles in steps of STEP. In a round one thread or
 * two wait for a token with the same condition, from an agreed cycle on; the delay after that cycle
 * another one makes the token and signals. It takes the mutex to make the token, releases it, and then
 * signals; or it makes the token first, and takes the mutex and releases it at once before it
 * signals, which is as early as a signal may count on being noticed: who has had the mutex after
 * the token was made knows that the waiters have seen the token or wait. So the signal comes before
 * the waiters have the mutex, between their look for the token and their sleep, at each cycle of
 * that way through library, bus and scheduler, and behind it. One waits for ever, or until a
 * time that is far away; of two, one waits until a time that the signals pass by, cycle by cycle,
 * and if its time is over it leaves the token to the other. Every other round broadcasts. A token that nobody
 * has taken PATIENCE cycles later is a lost wake-up. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "machine.h"

enum way { FOR_EVER, FAR, NEAR, WAYS, KINDS = 4 * WAYS };
enum { WAITERS = 2, LEAD = 1500, NEAR_TIME = 250, PATIENCE = 30000, PAUSE = 50, NS_PER_CYCLE = 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static enum way way;
static uint64_t start;
static volatile unsigned tokens;
static volatile unsigned round_now, done[WAITERS], taken, timed_out;
static volatile bool over;

/* The machine runs at 100 MHz unless it is told otherwise. */
static struct timespec time_of(uint64_t cycle)
{
    return (struct timespec){(time_t)(cycle / 100000000), (long)(cycle % 100000000) * NS_PER_CYCLE};
}

static void spin_until(uint64_t cycle)
{
    while (cycle_now() < cycle)
        ;
}

static int wait_once(unsigned who)
{
    struct timespec time = time_of(start + (way == FAR ? 100000000 : NEAR_TIME));

    if (way == FAR || (way == NEAR && who == 0))
        return pthread_cond_timedwait(&cond, &mutex, &time);
    return pthread_cond_wait(&cond, &mutex);
}

static void *wait(void *argument)
{
    unsigned who = (unsigned)(uintptr_t)argument;

    for (unsigned round = 1; !over; round++) {
        int error = 0;

        while (round_now != round && !over)
            spin_until(cycle_now() + PAUSE);
        /* A second one would take what the first one misses. */
        if (who == 1 && way != NEAR) {
            done[who] = round;
            continue;
        }
        spin_until(start);
        pthread_mutex_lock(&mutex);
        while (tokens == 0 && error == 0 && !over && taken == 0)
            error = wait_once(who);
        if (error == ETIMEDOUT)
            timed_out++;
        else if (tokens > 0) {
            tokens--;
            taken++;
        }
        pthread_mutex_unlock(&mutex);
        done[who] = round;
    }
    return NULL;
}

/* Whether the token was taken; then the other waiter is let go. */
static bool make(unsigned round, unsigned delay, bool before, bool to_all)
{
    uint64_t end;
    bool lost;

    taken = timed_out = 0;
    start = cycle_now() + LEAD;
    round_now = round;
    spin_until(start + delay);
    if (before)
        tokens = 1;
    pthread_mutex_lock(&mutex);
    if (!before)
        tokens = 1;
    pthread_mutex_unlock(&mutex);
    if (to_all)
        pthread_cond_broadcast(&cond);
    else
        pthread_cond_signal(&cond);
    end = cycle_now() + PATIENCE;
    while (taken == 0 && cycle_now() < end)
        spin_until(cycle_now() + PAUSE);
    lost = taken == 0;
    while (done[0] != round || done[1] != round) {
        pthread_mutex_lock(&mutex);
        taken += lost;
        tokens = 0;
        pthread_mutex_unlock(&mutex);
        pthread_cond_broadcast(&cond);
        spin_until(cycle_now() + PAUSE);
    }
    return lost;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"for ever", "far", "near"};
    unsigned last = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 400;
    unsigned step = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1;
    unsigned round = 0, lost = 0, late = 0;
    pthread_t threads[WAITERS];

    for (uintptr_t who = 0; who < WAITERS; who++)
        pthread_create(&threads[who], NULL, wait, (void *)who);
    for (unsigned delay = 0; delay <= last; delay += step) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            bool before = kind % 2 == 1, to_all = kind / 2 % 2 == 1;

            way = kind / 4;
            if (make(++round, delay, before, to_all)) {
                printf("lost: %s, a %s %s after %u cycles\n", names[way],
                       to_all ? "broadcast" : "signal", before ? "early" : "as usual", delay);
                lost++;
            }
            late += timed_out;
        }
    }
    over = true;
    for (unsigned who = 0; who < WAITERS; who++)
        pthread_join(threads[who], NULL);
    /* That times ran out in some rounds and in others not is part of the scan. */
    printf("%u rounds, %u lost, times ran out: %s\n", round, lost,
           late == 0              ? "never"
           : late >= round / WAYS ? "always"
                                  : "in some");
    return lost != 0;
}
