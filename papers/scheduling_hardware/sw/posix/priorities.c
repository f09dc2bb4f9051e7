/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with policies and priorities; such a program's threads have their creator's. */
#include <unistd.h>

#include "backend.h"
#include "deadline.h"
#include "scheduling.h"

/* Weak: its address may be 0. */
extern char __okosu_quantum[] __attribute__((weak));

NEEDS(create);

int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy)
{
    if (policy < SCHED_OTHER || policy > SCHED_RR)
        return EINVAL;
    attr->policy = policy;
    return 0;
}

int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param)
{
    if (!scheduling_is_valid(attr->policy, param->sched_priority))
        return EINVAL;
    attr->priority = param->sched_priority;
    return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
    struct locals *locals = locals_of(thread);
    unsigned before = locals->scheduling;
    int error;

    if (!scheduling_is_valid(policy, param->sched_priority))
        return EINVAL;
    scheduling_note(thread, policy, param->sched_priority);
    error = scheduling_apply(thread);
    if (error != 0)
        locals->scheduling = before;
    else if (param->sched_priority != 0)
        threads_use_priorities();
    return error;
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param)
{
    unsigned scheduling = scheduling_noted(thread);
    /* Changes nothing, but fails where there is no such thread. */
    int error = scheduling_apply(thread);

    if (error != 0)
        return error;
    *policy = (int)(scheduling >> 8);
    param->sched_priority = (int)(scheduling & 0xff);
    return 0;
}

int pthread_setschedprio(pthread_t thread, int priority)
{
    return pthread_setschedparam(thread, (int)(scheduling_noted(thread) >> 8),
                                 &(struct sched_param){.sched_priority = priority});
}

/* The scheduling of the process is that of the thread that asks. */
static int of_process(pid_t process, int error)
{
    if (process != 0 && process != getpid())
        error = process < 0 ? EINVAL : ESRCH;
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

int sched_setscheduler(pid_t process, int policy, const struct sched_param *param)
{
    int old = (int)(scheduling_noted(thread_self()) >> 8);

    if (of_process(process, param == NULL ? EINVAL : 0) != 0 ||
        of_process(0, pthread_setschedparam(thread_self(), policy, param)) != 0)
        return -1;
    return old;
}

int sched_getscheduler(pid_t process)
{
    return of_process(process, 0) != 0 ? -1 : (int)(scheduling_noted(thread_self()) >> 8);
}

int sched_setparam(pid_t process, const struct sched_param *param)
{
    int policy = (int)(scheduling_noted(thread_self()) >> 8);

    if (of_process(process, param == NULL ? EINVAL : 0) != 0)
        return -1;
    return of_process(0, pthread_setschedparam(thread_self(), policy, param));
}

int sched_getparam(pid_t process, struct sched_param *param)
{
    if (of_process(process, param == NULL ? EINVAL : 0) != 0)
        return -1;
    param->sched_priority = scheduling_priority(thread_self());
    return 0;
}

int sched_rr_get_interval(pid_t process, struct timespec *interval)
{
    if (of_process(process, interval == NULL ? EINVAL : 0) != 0)
        return -1;
    *interval = time_of_cycles((uintptr_t)__okosu_quantum);
    return 0;
}
