/* SPDX-License-Identifier: Apache-2.0 */
/* toggles OPERATION COUNT: an operation of threads so many times, and nothing else that would be
 * more of it with another COUNT. What one operation takes is the difference of two runs. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 16 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static unsigned count, turns;

static void *nothing(void *argument)
{
    return argument;
}

static void *create_and_join(void *argument)
{
    pthread_t thread;

    for (unsigned turn = 0; turn < count; turn++) {
        if (pthread_create(&thread, NULL, nothing, NULL) != 0)
            abort();
        pthread_join(thread, NULL);
    }
    return argument;
}

static void *yield(void *argument)
{
    for (unsigned turn = 0; turn < count; turn++)
        sched_yield();
    return argument;
}

static void *lock(void *argument)
{
    for (unsigned turn = 0; turn < count; turn++) {
        pthread_mutex_lock(&mutex);
        turns++;
        pthread_mutex_unlock(&mutex);
    }
    return argument;
}

static void *meet(void *argument)
{
    for (unsigned turn = 0; turn < count; turn++)
        pthread_barrier_wait(&barrier);
    return argument;
}

/* What each of `threads` threads does; main alone where there is one. */
static const struct operation {
    const char *name;
    void *(*does)(void *);
    unsigned threads;
} OPERATIONS[] = {
    {"create", create_and_join, 1}, {"yield", yield, 8},  {"lock", lock, 1},
    {"contend", lock, 4},           {"barrier", meet, 4},
};

int main(int argc, char **argv)
{
    pthread_t threads[MOST_THREADS];
    const struct operation *operation = OPERATIONS;

    if (argc != 3)
        return 2;
    while (strcmp(operation->name, argv[1]) != 0)
        if (++operation == OPERATIONS + sizeof(OPERATIONS) / sizeof(*OPERATIONS))
            return 2;
    count = strtoul(argv[2], NULL, 10);
    pthread_barrier_init(&barrier, NULL, operation->threads);
    if (operation->threads == 1) {
        operation->does(NULL);
        return 0;
    }
    for (unsigned at = 0; at < operation->threads; at++)
        if (pthread_create(&threads[at], NULL, operation->does, NULL) != 0)
            abort();
    for (unsigned at = 0; at < operation->threads; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
