/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes of all kinds and condition variables. */
#include "conformance.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>

enum { WORKERS = 8, TURNS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int counter, waiting, turn;

static void *count_up(void *argument)
{
    pthread_mutex_t *lock = argument;

    for (int at = 0; at < TURNS; at++) {
        int seen;

        pthread_mutex_lock(lock);
        seen = counter;
        if (at % 8 == 0)
            sched_yield();
        counter = seen + 1;
        pthread_mutex_unlock(lock);
    }
    return NULL;
}

static int count_together(pthread_mutex_t *lock)
{
    pthread_t threads[WORKERS];

    counter = 0;
    for (int at = 0; at < WORKERS; at++)
        pthread_create(&threads[at], NULL, count_up, lock);
    for (int at = 0; at < WORKERS; at++)
        pthread_join(threads[at], NULL);
    return counter;
}

static void *try_it(void *argument)
{
    return (void *)(intptr_t)pthread_mutex_trylock(argument);
}

static void *unlock_it(void *argument)
{
    return (void *)(intptr_t)pthread_mutex_unlock(argument);
}

static void *lock_until_soon(void *argument)
{
    struct timespec time = soon(300);
    int error = pthread_mutex_timedlock(argument, &time);

    return (void *)(intptr_t)(error == ETIMEDOUT && !has_passed(&time) ? -1 : error);
}

static void *lock_until_nonsense(void *argument)
{
    struct timespec time = {.tv_sec = 0, .tv_nsec = 1000000000};

    return (void *)(intptr_t)pthread_mutex_timedlock(argument, &time);
}

/* The error that another thread gets for the same call. */
static int elsewhere(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    void *value;

    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, &value);
    return (int)(intptr_t)value;
}

static void check_kind(int kind, int again, int again_by_try)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t lock;
    bool recursive = kind == PTHREAD_MUTEX_RECURSIVE;

    pthread_mutexattr_init(&attr);
    check(pthread_mutexattr_settype(&attr, kind) == 0,
          recursive ? "recursive mutexes" : "error-checking mutexes");
    pthread_mutex_init(&lock, &attr);
    check(pthread_mutex_lock(&lock) == 0, "lock");
    check(pthread_mutex_lock(&lock) == again, "lock again");
    check(pthread_mutex_trylock(&lock) == again_by_try, "try again");
    check(elsewhere(try_it, &lock) == EBUSY, "nobody else can take it");
    check(elsewhere(unlock_it, &lock) == EPERM, "nor unlock it");
    check(elsewhere(lock_until_soon, &lock) == ETIMEDOUT, "nor by waiting");
    check(pthread_mutex_destroy(&lock) == EBUSY, "nor destroy it");
    if (recursive) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_unlock(&lock);
        check(elsewhere(try_it, &lock) == EBUSY, "it is free only when unlocked as often");
    }
    check(pthread_mutex_unlock(&lock) == 0, "unlock");
    check(pthread_mutex_unlock(&lock) == EPERM, "unlock once too often");
    check(count_together(&lock) == WORKERS * TURNS, "it excludes");
    check(pthread_mutex_destroy(&lock) == 0, "destroy");
    pthread_mutexattr_destroy(&attr);
}

void check_mutexes(void)
{
    pthread_mutexattr_t attr;
    struct timespec time = soon(1000000);
    int kind = -1;

    check(pthread_mutex_lock(&mutex) == 0, "lock a mutex");
    check(pthread_mutex_trylock(&mutex) == EBUSY, "it is taken");
    check(elsewhere(try_it, &mutex) == EBUSY, "for others, too");
    check(elsewhere(lock_until_soon, &mutex) == ETIMEDOUT, "they may wait until a time");
    check(elsewhere(lock_until_nonsense, &mutex) == EINVAL, "which must be one");
    check(pthread_mutex_destroy(&mutex) == EBUSY, "a locked mutex is not destroyed");
    check(pthread_mutex_unlock(&mutex) == 0, "unlock");
    check(pthread_mutex_trylock(&mutex) == 0, "try a free one");
    pthread_mutex_unlock(&mutex);
    check(pthread_mutex_timedlock(&mutex, &time) == 0, "no wait for a free one");
    pthread_mutex_unlock(&mutex);
    check(count_together(&mutex) == WORKERS * TURNS, "a mutex excludes");
    pthread_mutexattr_init(&attr);
    check(pthread_mutexattr_gettype(&attr, &kind) == 0 && kind == PTHREAD_MUTEX_DEFAULT,
          "the default kind");
    check(pthread_mutexattr_settype(&attr, 99) == EINVAL, "there is no kind 99");
    pthread_mutexattr_destroy(&attr);
    check_kind(PTHREAD_MUTEX_RECURSIVE, 0, 0);
    check_kind(PTHREAD_MUTEX_ERRORCHECK, EDEADLK, EBUSY);
}

static void *await_turn(void *argument)
{
    int mine = (int)(intptr_t)argument;

    pthread_mutex_lock(&mutex);
    waiting++;
    while (turn < mine)
        pthread_cond_wait(&changed, &mutex);
    counter += mine;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *play(void *argument)
{
    int side = (int)(intptr_t)argument;

    pthread_mutex_lock(&mutex);
    for (int at = 0; at < TURNS; at++) {
        while (turn % 2 != side)
            pthread_cond_wait(&changed, &mutex);
        turn++;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void check_broadcast(void)
{
    pthread_t threads[WORKERS];
    bool all = false;

    counter = waiting = turn = 0;
    for (intptr_t at = 0; at < WORKERS; at++)
        pthread_create(&threads[at], NULL, await_turn, (void *)1);
    while (!all) {
        pthread_mutex_lock(&mutex);
        all = waiting == WORKERS;
        pthread_mutex_unlock(&mutex);
        sched_yield();
    }
    check(counter == 0, "those who wait on a condition wait");
    pthread_mutex_lock(&mutex);
    turn = 1;
    check(pthread_cond_broadcast(&changed) == 0, "broadcast");
    pthread_mutex_unlock(&mutex);
    for (int at = 0; at < WORKERS; at++)
        pthread_join(threads[at], NULL);
    check(counter == WORKERS, "wakes all");
}

void check_conditions(void)
{
    pthread_cond_t cond;
    pthread_condattr_t attr;
    pthread_t threads[2];
    clockid_t clock = -1;
    struct timespec time, nonsense = {.tv_sec = 0, .tv_nsec = -1};
    int error;

    check_broadcast();
    turn = 0;
    pthread_create(&threads[0], NULL, play, (void *)0);
    pthread_create(&threads[1], NULL, play, (void *)1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    check(turn == 2 * TURNS, "two threads take turns by signals");

    check(pthread_condattr_init(&attr) == 0, "attributes of conditions");
    check(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
              pthread_condattr_getclock(&attr, &clock) == 0 && clock == CLOCK_MONOTONIC,
          "another clock");
    check(pthread_condattr_setclock(&attr, 77) == EINVAL, "one there is");
    check(pthread_cond_init(&cond, NULL) == 0, "make a condition");
    pthread_mutex_lock(&mutex);
    check(pthread_cond_signal(&cond) == 0, "a signal to nobody");
    time = soon(300);
    do
        error = pthread_cond_timedwait(&cond, &mutex, &time);
    while (error == 0);
    check(error == ETIMEDOUT, "is not kept: the wait ends at its time");
    check(has_passed(&time), "not before");
    check(pthread_mutex_trylock(&mutex) == EBUSY, "and with the mutex");
    check(pthread_cond_timedwait(&cond, &mutex, &nonsense) == EINVAL, "the time must be one");
    pthread_mutex_unlock(&mutex);
    check(pthread_cond_destroy(&cond) == 0, "destroy a condition");
    pthread_condattr_destroy(&attr);
}
