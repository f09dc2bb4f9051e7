/* SPDX-License-Identifier: Apache-2.0 */
/* Misuse that POSIX leaves undefined and Linux lets hang or crash: here the call returns
 * an error. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST = 300 };

static sem_t go, done;
static int failures;

static void check(int holds, const char *what)
{
    failures += !holds;
    printf("%s %s\n", holds ? "ok" : "NOT OK", what);
}

static void *wait_to_go(void *argument)
{
    sem_wait(&go);
    return argument;
}

static void *nothing(void *argument)
{
    return argument;
}

static void *join_it(void *argument)
{
    int error = pthread_join(*(pthread_t *)argument, NULL);

    if (error != 0)
        sem_post(&done);
    return (void *)(intptr_t)error;
}

static pthread_t ring[2];

static void *join_the_other(void *argument)
{
    int other = *(int *)argument;
    int error;

    sem_wait(&go);
    error = pthread_join(ring[other], NULL);
    if (error == EDEADLK)
        sem_post(&done);
    return NULL;
}

static void check_joining(void)
{
    pthread_t target, joiners[2];
    void *values[2];
    int others[2] = {1, 0};

    /* Either of the two can lose. */
    pthread_create(&target, NULL, wait_to_go, NULL);
    pthread_create(&joiners[0], NULL, join_it, &target);
    pthread_create(&joiners[1], NULL, join_it, &target);
    sem_wait(&done);
    sem_post(&go);
    pthread_join(joiners[0], &values[0]);
    pthread_join(joiners[1], &values[1]);
    check((intptr_t)values[0] + (intptr_t)values[1] == EINVAL, "of two joiners one gets EINVAL");

    pthread_create(&ring[0], NULL, join_the_other, &others[0]);
    pthread_create(&ring[1], NULL, join_the_other, &others[1]);
    sem_post(&go);
    sem_post(&go);
    check(sem_wait(&done) == 0, "of two that join each other one gets EDEADLK");
}

static void check_handles(void)
{
    struct sched_param param = {0};
    pthread_t old, thread;
    void *value = NULL;
    int policy;

    pthread_create(&old, NULL, nothing, NULL);
    pthread_join(old, NULL);
    check(pthread_join(old, NULL) == ESRCH, "join what was joined");
    check(pthread_detach(old) == ESRCH, "detach it");
    check(pthread_getschedparam(old, &policy, &param) == ESRCH, "ask for its policy");
    check(pthread_setschedparam(old, SCHED_OTHER, &param) == ESRCH, "set it");
    check(pthread_join(12345, NULL) == ESRCH, "join what never was");
    /* An id is granted again after all others; the old handle stays unknown. */
    for (int at = 0; at < MOST; at++) {
        pthread_create(&thread, NULL, nothing, (void *)9);
        failures += thread == old;
        pthread_join(thread, at % 2 == 0 ? &value : NULL);
    }
    check(pthread_join(old, NULL) == ESRCH, "join it after its id was used again");
    check((uintptr_t)value == 9, "others are joined as ever");
}

static void check_ids(void)
{
    static pthread_t threads[MOST];
    int count = 0, error = 0;

    while (count < MOST && (error = pthread_create(&threads[count], NULL, wait_to_go, NULL)) == 0)
        count++;
    check(error == EAGAIN && count >= 16, "threads run out");
    for (int at = 0; at < count; at++)
        sem_post(&go);
    for (int at = 0; at < count; at++)
        if (pthread_join(threads[at], NULL) != 0)
            error = -1;
    check(error == EAGAIN, "all that were made end");
    check(pthread_create(&threads[0], NULL, nothing, NULL) == 0 &&
              pthread_join(threads[0], NULL) == 0,
          "and there are ids again");
}

int main(void)
{
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    check_handles();
    check_ids();
    check_joining();
    printf("%d failed\n", failures);
    return failures != 0;
}
