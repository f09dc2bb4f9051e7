/* SPDX-License-Identifier: Apache-2.0 */
/* create, join, exit, detach, self, equal, errno, once; attributes of threads. */
#include "conformance.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>

enum { MANY = 100, ROUNDS = 400, BIG_STACK = 256 << 10, BIG_LOCAL = 96 << 10 };

static sem_t go, done;

static void *twice(void *argument)
{
    return (void *)((uintptr_t)argument * 2);
}

static void leave(void *value)
{
    pthread_exit(value);
}

static void *leave_from_within(void *argument)
{
    leave(argument);
    return NULL;
}

static void *who_am_i(void *argument)
{
    *(pthread_t *)argument = pthread_self();
    return NULL;
}

static void *go_and_say_so(void *argument)
{
    sem_wait(&go);
    sem_post(&done);
    return argument;
}

static void *detached(void *argument)
{
    *(int *)argument = 17;
    sem_post(&done);
    return NULL;
}

static void *spoil_errno(void *argument)
{
    int *seen = argument;

    *seen = errno;
    errno = EDEADLK;
    return NULL;
}

static int calls;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count_call(void)
{
    sched_yield();
    calls++;
}

static void *call_once(void *argument)
{
    (void)argument;
    pthread_once(&once, count_call);
    return (void *)(intptr_t)calls;
}

static void check_once(void)
{
    pthread_t threads[8];
    intptr_t seen = 0;
    void *value;

    for (int at = 0; at < 8; at++)
        pthread_create(&threads[at], NULL, call_once, NULL);
    for (int at = 0; at < 8; at++) {
        pthread_join(threads[at], &value);
        seen += (intptr_t)value;
    }
    check(calls == 1, "once means once");
    check(seen == 8, "and all see it done");
    check(pthread_once(&once, count_call) == 0 && calls == 1, "and later, too");
}

void check_threads(void)
{
    pthread_t thread, other, threads[MANY];
    void *value;
    uintptr_t sum = 0;
    int seen = -1;

    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    check(pthread_create(&thread, NULL, twice, (void *)21) == 0, "create");
    check(pthread_join(thread, &value) == 0 && (uintptr_t)value == 42, "join gives the value");
    pthread_create(&thread, NULL, leave_from_within, (void *)7);
    check(pthread_join(thread, &value) == 0 && (uintptr_t)value == 7, "exit gives a value");
    pthread_create(&thread, NULL, twice, NULL);
    check(pthread_join(thread, NULL) == 0, "join without a value");

    pthread_create(&thread, NULL, who_am_i, &other);
    pthread_join(thread, NULL);
    check(pthread_equal(thread, other) != 0, "self is what create gave");
    check(pthread_equal(pthread_self(), other) == 0, "threads differ");
    check(pthread_equal(pthread_self(), pthread_self()) != 0, "a thread is itself");

    for (uintptr_t at = 0; at < MANY; at++)
        pthread_create(&threads[at], NULL, twice, (void *)at);
    for (int at = MANY - 1; at >= 0; at--) {
        pthread_join(threads[at], &value);
        sum += (uintptr_t)value;
    }
    check(sum == MANY * (MANY - 1), "a hundred threads, joined backwards");
    sum = 0;
    for (uintptr_t at = 0; at < ROUNDS; at++) {
        if (pthread_create(&thread, NULL, twice, (void *)at) != 0)
            break;
        pthread_join(thread, &value);
        sum += (uintptr_t)value;
    }
    check(sum == ROUNDS * (ROUNDS - 1), "more threads than there are ids, one after the other");

    pthread_create(&thread, NULL, go_and_say_so, NULL);
    check(pthread_detach(thread) == 0, "detach");
    check(pthread_detach(thread) == EINVAL, "a detached thread cannot be detached");
    check(pthread_join(thread, NULL) == EINVAL, "nor joined");
    sem_post(&go);
    sem_wait(&done);
    check(pthread_join(pthread_self(), NULL) == EDEADLK, "a thread cannot join itself");

    errno = 0;
    pthread_create(&thread, NULL, spoil_errno, &seen);
    pthread_join(thread, NULL);
    check(errno == 0, "errno is each thread's own");
    check(seen == 0, "and 0 in a new thread");
    pthread_create(&thread, NULL, spoil_errno, &seen);
    pthread_join(thread, NULL);
    check(seen == 0, "in the next one, too");
    check_once();
}

static void *use_stack(void *argument)
{
    volatile char local[BIG_LOCAL];

    for (int at = 0; at < BIG_LOCAL; at += 1024)
        local[at] = (char)(at / 1024);
    *(uintptr_t *)argument = (uintptr_t)local;
    return (void *)(uintptr_t)(local[1024 * 5] == 5);
}

static void check_stacks(pthread_attr_t *attr)
{
    static char stack[BIG_STACK] __attribute__((aligned(4096)));
    uintptr_t local = 0;
    pthread_t thread;
    void *value;
    size_t size;
    void *base;

    check(pthread_attr_setstacksize(attr, 16) == EINVAL, "a stack can be too small");
    check(pthread_attr_setstacksize(attr, BIG_STACK) == 0, "or large");
    check(pthread_attr_getstacksize(attr, &size) == 0 && size == BIG_STACK, "as one can ask");
    check(pthread_create(&thread, attr, use_stack, &local) == 0 &&
              pthread_join(thread, &value) == 0 && value != NULL,
          "and it is");
    check(pthread_attr_setstack(attr, stack, BIG_STACK) == 0, "or one's own");
    check(pthread_attr_getstack(attr, &base, &size) == 0 && base == stack && size == BIG_STACK,
          "as one can ask, too");
    check(pthread_create(&thread, attr, use_stack, &local) == 0 &&
              pthread_join(thread, &value) == 0 && local - (uintptr_t)stack < BIG_STACK,
          "and it is used");
}

void check_attributes(void)
{
    pthread_attr_t attr;
    pthread_t thread;
    int state = -1, result = 0;

    sem_init(&done, 0, 0);
    check(pthread_attr_init(&attr) == 0, "attributes");
    check(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_JOINABLE,
          "threads are joinable");
    check(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED) == 0, "unless one says so");
    check(pthread_attr_setdetachstate(&attr, 99) == EINVAL, "in a way there is");
    check(pthread_create(&thread, &attr, detached, &result) == 0 && sem_wait(&done) == 0 &&
              result == 17,
          "a thread that is detached from the start");
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_JOINABLE);
    check_stacks(&attr);
    check(pthread_attr_destroy(&attr) == 0, "destroy attributes");
}
