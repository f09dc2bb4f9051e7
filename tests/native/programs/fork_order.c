/* SPDX-License-Identifier: Apache-2.0 */
/* A library whose fork handlers take a mutex under which its threads allocate, as a logging
 * library's may. Its constructor registers them. */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t taken;
static volatile int forking;

static void before(void)
{
    forking = 1;
    pthread_mutex_lock(&mutex);
}

static void after(void)
{
    pthread_mutex_unlock(&mutex);
}

/* Allocates under the mutex at the very moment when fork() waits for it. */
static void *allocate(void *arg)
{
    pthread_mutex_lock(&mutex);
    pthread_barrier_wait(&taken);
    while (!forking)
        ;
    free(malloc((size_t)4 << 20));
    pthread_mutex_unlock(&mutex);
    return arg;
}

__attribute__((constructor)) static void enter(void)
{
    pthread_atfork(before, after, after);
}

int fork_order(void);

/* 0: the fork came to pass, and the child could allocate. */
int fork_order(void)
{
    pthread_t thread;
    int status = 1;
    pid_t pid;

    alarm(600); /* the dead-lock would otherwise hang the test */
    free(malloc((size_t)4 << 20));
    pthread_barrier_init(&taken, NULL, 2);
    if (pthread_create(&thread, NULL, allocate, NULL))
        return 1;
    pthread_barrier_wait(&taken);
    pid = fork();
    if (pid == 0) {
        free(malloc((size_t)5 << 20));
        _exit(0);
    }
    pthread_join(thread, NULL);
    waitpid(pid, &status, 0);
    return status;
}
