/* SPDX-License-Identifier: Apache-2.0 */
/* Joining in programs with detached threads, signals or cancellation. */
#include "events.h"

PART(join);

enum { THREADS = 256 };

/* The last thread of each id that was detached. */
static unsigned short detached[THREADS];

int pthread_attr_setdetachstate(pthread_attr_t *attr, int state)
{
    if (state != PTHREAD_CREATE_JOINABLE && state != PTHREAD_CREATE_DETACHED)
        return EINVAL;
    attr->detached = state == PTHREAD_CREATE_DETACHED;
    return 0;
}

void join_note_detached(unsigned handle)
{
    detached[handle % THREADS] = (unsigned short)handle;
}

bool join_is_detached(unsigned handle)
{
    return handle != 0 && detached[handle % THREADS] == handle;
}

/* A detached thread that has ended is unknown to the back end, and yet it is not joinable. */
static int or_detached(unsigned handle, int error)
{
    return error == ESRCH && join_is_detached(handle) ? EINVAL : error;
}

static __attribute__((noinline)) int join_interruptibly(pthread_t thread, void **value)
{
    int error = join_is_detached(thread) ? 0 : events_await_end(thread);

    return error != 0 ? error : or_detached(thread, thread_join(thread, value));
}

IN_JOIN int pthread_join(pthread_t thread, void **value)
{
    int error;

    if (events_await_end != NULL)
        return join_interruptibly(thread, value);
    error = thread_join(thread, value);
    return likely(error != ESRCH) ? error : or_detached(thread, error);
}

IN_JOIN int pthread_detach(pthread_t thread)
{
    int error = thread_detach(thread);

    if (error == 0)
        join_note_detached(thread);
    return or_detached(thread, error);
}
