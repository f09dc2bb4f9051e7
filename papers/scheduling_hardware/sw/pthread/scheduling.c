/* SPDX-License-Identifier: Apache-2.0 */
/* Policies and priorities of threads. The hardware has 16 priorities: 0 for SCHED_OTHER, 1 to 15
 * for the others; SCHED_RR's quantum is the machine's. */
#include "scheduling.h"

#include "backend.h"

enum { MOST_PRIORITY = 15 };

IN_LIB int sched_get_priority_min(int policy)
{
    if (policy < SCHED_OTHER || policy > SCHED_RR) {
        errno = EINVAL;
        return -1;
    }
    return policy == SCHED_OTHER ? 0 : 1;
}

IN_LIB int sched_get_priority_max(int policy)
{
    if (policy < SCHED_OTHER || policy > SCHED_RR) {
        errno = EINVAL;
        return -1;
    }
    return policy == SCHED_OTHER ? 0 : MOST_PRIORITY;
}

IN_LIB int scheduling_is_valid(int policy, int priority)
{
    if (policy == SCHED_OTHER)
        return priority == 0;
    return (policy == SCHED_FIFO || policy == SCHED_RR) && priority >= 1 &&
           priority <= MOST_PRIORITY;
}

/* Handle, policy and priority in one word: the handle tells whether the word is of an earlier
 * thread with the same id. */
IN_LIB void scheduling_note(unsigned handle, int policy, int priority)
{
    locals_of(handle)->scheduling = handle << 16 | (unsigned)policy << 8 | (unsigned)priority;
}

static IN_LIB unsigned noted(unsigned handle)
{
    unsigned scheduling = locals_of(handle)->scheduling;

    return scheduling >> 16 == handle ? scheduling & 0xffff : 0;
}

IN_LIB int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    int error;

    if (!scheduling_is_valid(policy, param->sched_priority))
        return EINVAL;
    error = thread_prioritise(thread, (unsigned)param->sched_priority);
    if (error != 0)
        return error;
    if (param->sched_priority != 0)
        threads_use_priorities();
    scheduling_note(thread, policy, param->sched_priority);
    return 0;
}

IN_LIB int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    unsigned scheduling = noted(thread);
    /* Changes nothing, but fails where there is no such thread. */
    int error = thread_prioritise(thread, scheduling & 0xff);

    if (error != 0)
        return error;
    *policy = (int)(scheduling >> 8);
    param->sched_priority = (int)(scheduling & 0xff);
    return 0;
}

IN_LIB int pthread_setschedprio(pthread_t thread, int priority)
{
    return pthread_setschedparam(thread, (int)(noted(thread) >> 8),
                                 &(struct sched_param){.sched_priority = priority});
}
