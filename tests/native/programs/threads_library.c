/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is loaded late, with thread-local variables, their destructors and its own
 * constructors (threads_left.c). */
#include <stdatomic.h>
#include <stdlib.h>

int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library);
extern void *__dso_handle;

static __thread int dynamic, destroyed;
static __thread char large[5000] = {1};
static atomic_int ended;
static int *constructed;

__attribute__((constructor)) static void construct(void)
{
    constructed = malloc(sizeof(*constructed));
    *constructed = 7;
}

__attribute__((destructor)) static void destruct(void)
{
    free(constructed);
}

static void destroy(void *value)
{
    if (*(int *)value != 2 || *constructed != 7)
        abort();
    atomic_fetch_add(&ended, 1);
}

int count_dynamic(void)
{
    if (large[0] != 1 || large[4999] != dynamic)
        abort();
    return large[4999] = (char)++dynamic;
}

int count_destroyed(void)
{
    if (!destroyed)
        __cxa_thread_atexit_impl(destroy, &destroyed, &__dso_handle);
    return ++destroyed;
}

int destructions(void)
{
    return atomic_load(&ended);
}
