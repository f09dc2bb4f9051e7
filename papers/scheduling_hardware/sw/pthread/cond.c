/* SPDX-License-Identifier: Apache-2.0 */
/* Condition variables: a number that every signal changes. A waiter waits until it changes, and so
 * misses no signal. */
#include "backend.h"
#include "deadline.h"

IN_LOCK int pthread_condattr_init(pthread_condattr_t *attr)
{
    *attr = (pthread_condattr_t){.clock = CLOCK_REALTIME};
    return 0;
}

IN_LOCK int pthread_condattr_destroy(pthread_condattr_t *attr)
{
    (void)attr;
    return 0;
}

/* Both clocks are the same. */
IN_LOCK int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    attr->clock = clock;
    return 0;
}

IN_LOCK int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock)
{
    *clock = attr->clock;
    return 0;
}

IN_LOCK int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED)
        return EINVAL;
    attr->shared = shared;
    return 0;
}

IN_LOCK int pthread_condattr_getpshared(const pthread_condattr_t *attr, int *shared)
{
    *shared = attr->shared;
    return 0;
}

IN_LOCK int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    (void)attr;
    cond->sequence = 0;
    return 0;
}

IN_LOCK int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

/* Releases a mutex; returns how many times it was locked. */
static IN_LOCK int wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline)
{
    unsigned sequence = cond->sequence;
    unsigned depth = mutex->depth;
    int error, locked;

    /* With the mutex held, which is what cleanup handlers expect. */
    act_at_point();
    /* A recursive mutex has to be released, however many times it is locked. */
    if ((mutex->kind & MUTEX_TYPE) == PTHREAD_MUTEX_RECURSIVE && mutex->owner == thread_self())
        mutex->depth = 1;
    error = pthread_mutex_unlock(mutex);
    if (error != 0)
        return error;
    error = wait_at(&cond->sequence, sequence, deadline);
    if (error == EAGAIN) {
        /* A signal came in between, or there was no room to wait: this is a spurious wake-up, which
         * POSIX allows. */
        if (cond->sequence == sequence)
            thread_yield();
        error = deadline != NO_DEADLINE && cycle_now() >= deadline ? ETIMEDOUT : 0;
    } else if (error == EINTR && cond->sequence != sequence) {
        /* A signal has come as well, and another thread may want it more than one that is
         * cancelled. */
        word_wake_one(&cond->sequence, cond->sequence + 1);
    }
    locked = pthread_mutex_lock(mutex);
    if ((mutex->kind & MUTEX_TYPE) == PTHREAD_MUTEX_RECURSIVE)
        mutex->depth = depth;
    if (error == EINTR) {
        act_at_point();
        error = 0;
    }
    return locked != 0 ? locked : error;
}

IN_LOCK int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return wait_until(cond, mutex, NO_DEADLINE);
}

IN_LOCK int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                   const struct timespec *deadline)
{
    uint64_t cycle;
    int error = deadline_of(deadline, &cycle);

    return error != 0 ? error : wait_until(cond, mutex, cycle);
}

IN_LOCK int cond_signal(pthread_cond_t *cond)
{
    word_wake_one(&cond->sequence, cond->sequence + 1);
    return 0;
}

IN_LOCK int cond_broadcast(pthread_cond_t *cond)
{
    word_wake_all(&cond->sequence, cond->sequence + 1);
    return 0;
}

/* Weak: posix/locks.c has some during which signals are handled. */
int pthread_cond_signal(pthread_cond_t *cond) __attribute__((weak, alias("cond_signal")));
int pthread_cond_broadcast(pthread_cond_t *cond) __attribute__((weak, alias("cond_broadcast")));
