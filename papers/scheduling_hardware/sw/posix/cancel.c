/* SPDX-License-Identifier: Apache-2.0 */
/* Cancellation. */
#include "events.h"

int pthread_cancel(pthread_t thread)
{
    struct events *events;

    if (!events_has_thread(thread))
        return ESRCH;
    if (thread == thread_self())
        events_own();
    events_lock();
    events = events_of(thread);
    events->pending |= CANCELLATION;
    events_unlock();
    if (thread == thread_self())
        events_act(false);
    else
        events_interrupt(events, thread);
    return 0;
}

void pthread_testcancel(void)
{
    events_act(true);
}

int pthread_setcancelstate(int state, int *old)
{
    struct events *events = events_own();

    if (state != PTHREAD_CANCEL_ENABLE && state != PTHREAD_CANCEL_DISABLE)
        return EINVAL;
    if (old != NULL)
        *old = events->cancel_disabled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    events->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    events_act(false);
    return 0;
}

int pthread_setcanceltype(int type, int *old)
{
    struct events *events = events_own();

    if (type != PTHREAD_CANCEL_DEFERRED && type != PTHREAD_CANCEL_ASYNCHRONOUS)
        return EINVAL;
    if (old != NULL)
        *old = events->cancel_asynchronous ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    events->cancel_asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    events_act(false);
    return 0;
}

void okosu_cleanup_push(struct okosu_cleanup *cleanup, void (*routine)(void *), void *argument)
{
    struct events *events = events_own();

    *cleanup = (struct okosu_cleanup){routine, argument, events->cleanup};
    events->cleanup = cleanup;
}

void okosu_cleanup_pop(struct okosu_cleanup *cleanup, int execute)
{
    events_own()->cleanup = cleanup->next;
    if (execute)
        cleanup->routine(cleanup->argument);
}

static void give_up(void *data)
{
    pthread_once_t *once = data;

    lock_release(&once->lock);
}

/* If the routine is cancelled, it has never been called. */
int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (once->done)
        return 0;
    if (!lock_try(&once->lock))
        lock_wait(&once->lock, NO_DEADLINE);
    pthread_cleanup_push(give_up, once);
    if (!once->done) {
        routine();
        once->done = 1;
    }
    pthread_cleanup_pop(1);
    return 0;
}
