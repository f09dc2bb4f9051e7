/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of threads. */
#include "backend.h"
#include "scheduling.h"

extern char __stack_log2[];

IN_LIB int pthread_attr_init(pthread_attr_t *attr)
{
    *attr = (pthread_attr_t){.stack_size = 1u << (uintptr_t)__stack_log2, .guard_size = 1024};
    return 0;
}

IN_LIB int pthread_attr_destroy(pthread_attr_t *attr)
{
    (void)attr;
    return 0;
}

IN_LIB int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state)
{
    *state = attr->detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE;
    return 0;
}

IN_LIB int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size)
{
    if (size < PTHREAD_STACK_MIN)
        return EINVAL;
    attr->stack_size = size;
    return 0;
}

IN_LIB int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size)
{
    *size = attr->stack_size;
    return 0;
}

IN_LIB int pthread_attr_setstack(pthread_attr_t *attr, void *stack, size_t size)
{
    if (size < PTHREAD_STACK_MIN)
        return EINVAL;
    attr->stack = stack;
    attr->stack_size = size;
    return 0;
}

IN_LIB int pthread_attr_getstack(const pthread_attr_t *attr, void **stack, size_t *size)
{
    *stack = attr->stack;
    *size = attr->stack_size;
    return 0;
}

IN_LIB int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size)
{
    attr->guard_size = size;
    return 0;
}

IN_LIB int pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size)
{
    *size = attr->guard_size;
    return 0;
}

IN_LIB int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit)
{
    if (inherit != PTHREAD_INHERIT_SCHED && inherit != PTHREAD_EXPLICIT_SCHED)
        return EINVAL;
    attr->explicit_scheduling = inherit == PTHREAD_EXPLICIT_SCHED;
    return 0;
}

IN_LIB int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit)
{
    *inherit = attr->explicit_scheduling ? PTHREAD_EXPLICIT_SCHED : PTHREAD_INHERIT_SCHED;
    return 0;
}

IN_LIB int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy)
{
    *policy = attr->policy;
    return 0;
}

IN_LIB int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param)
{
    param->sched_priority = attr->priority;
    return 0;
}

/* There is only one process, so that the scope is always the same. */
IN_LIB int pthread_attr_setscope(pthread_attr_t *attr, int scope)
{
    (void)attr;
    return scope == PTHREAD_SCOPE_SYSTEM ? 0 : scope == PTHREAD_SCOPE_PROCESS ? ENOTSUP : EINVAL;
}

IN_LIB int pthread_attr_getscope(const pthread_attr_t *attr, int *scope)
{
    (void)attr;
    *scope = PTHREAD_SCOPE_SYSTEM;
    return 0;
}
