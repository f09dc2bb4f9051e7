/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

/* The hardware counts in 12 bits. */
enum { MOST_AT_A_BARRIER = 4095 };

IN_LOCK int pthread_barrierattr_init(pthread_barrierattr_t *attr)
{
    attr->shared = PTHREAD_PROCESS_PRIVATE;
    return 0;
}

IN_LOCK int pthread_barrierattr_destroy(pthread_barrierattr_t *attr)
{
    (void)attr;
    return 0;
}

IN_LOCK int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED)
        return EINVAL;
    attr->shared = shared;
    return 0;
}

IN_LOCK int pthread_barrierattr_getpshared(const pthread_barrierattr_t *attr, int *shared)
{
    *shared = attr->shared;
    return 0;
}

IN_LOCK int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                                 unsigned count)
{
    (void)attr;
    if (count == 0 || count > MOST_AT_A_BARRIER)
        return EINVAL;
    *barrier = (pthread_barrier_t){.count = count};
    return 0;
}

IN_LOCK int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    (void)barrier;
    return 0;
}

/* Weak: posix/locks.c has one whose wait an event can end. */
__attribute__((weak)) IN_LOCK int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    return barrier_arrive(barrier) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
