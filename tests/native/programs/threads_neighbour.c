/* SPDX-License-Identifier: Apache-2.0 */
/* A library of somebody else's that serves pthread_create, too. */
#include <dlfcn.h>
#include <pthread.h>

int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
                   void *(*routine)(void *), void *restrict arg)
{
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

    *(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
    return next(id, attr, routine, arg);
}
