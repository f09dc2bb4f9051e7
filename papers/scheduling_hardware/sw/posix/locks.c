/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes, conditions, barriers and yields of programs with events: what waits there, or tries again and
 * again, handles signals meanwhile. */
#include "backend.h"

PART(locks);

IN_LOCK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return likely(lock_try(&mutex->lock)) ? 0 : mutex_lock_slowly(mutex, NULL);
}

IN_LOCK int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    events_act(false);
    return mutex_trylock(mutex);
}

IN_LOCK int pthread_cond_signal(pthread_cond_t *cond)
{
    events_act(false);
    return cond_signal(cond);
}

IN_LOCK int pthread_cond_broadcast(pthread_cond_t *cond)
{
    events_act(false);
    return cond_broadcast(cond);
}

IN_LOCK int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    return events_barrier(barrier) ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

IN_SWITCH int sched_yield(void)
{
    thread_yield();
    events_act(false);
    return 0;
}

IN_SWITCH int pthread_yield(void)
{
    return sched_yield();
}
