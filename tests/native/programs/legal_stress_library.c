/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose fork handlers take a mutex under which its threads allocate, as a logging
 * library's may. Its constructor registers them before okosu's libraries begin. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int waiting;

void library_work(volatile bool *taken);

static void before(void)
{
    atomic_fetch_add(&waiting, 1);
    pthread_mutex_lock(&mutex);
    atomic_fetch_sub(&waiting, 1);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Threads that waited in other forks are not in this process. */
static void in_child(void)
{
    atomic_store(&waiting, 0);
    pthread_mutex_unlock(&mutex);
}

void library_work(volatile bool *taken)
{
    pthread_mutex_lock(&mutex);
    *taken = true;
    while (!atomic_load(&waiting))
        sched_yield();
    free(malloc((size_t)2 << 20));
    pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void enter(void)
{
    pthread_atfork(before, in_parent, in_child);
}
