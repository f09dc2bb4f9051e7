/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities of POSIX on one PE, where the order of what happens shows them: more of them than the
 * hardware has levels between, given in any order; and what a mutex's protocol does to them. With an
 * argument the thread of middle priority yields, which it has to where nothing preempts it. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { TOP = 32, MAIN = 10, MIDDLE = 5, LOW = 1, TURNS = 300, NAP_NS = 200000 };

static pthread_mutex_t mutex;
static sem_t locked;
static int yields;
static volatile int order[TOP], ran, middle_done, mark, seen;

static pthread_t start(void *(*function)(void *), int priority)
{
    struct sched_param param = {.sched_priority = priority};
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    if (pthread_create(&thread, &attr, function, (void *)(intptr_t)priority) != 0)
        printf("no thread\n");
    return thread;
}

static void become(int priority)
{
    pthread_setschedparam(pthread_self(), SCHED_FIFO,
                          &(struct sched_param){.sched_priority = priority});
}

static void *sign(void *priority)
{
    order[ran++] = (int)(intptr_t)priority;
    return NULL;
}

/* The threads run only when main waits, the highest first. It is also the first one, for that one is
 * in the PE's prefetch slot at once, and stays there. */
static void ranks(void)
{
    static const int priorities[] = {31, 5, 20, 1, 12, 8, 28, 16, 3, 25, 10, 30, 7, 22};
    enum { COUNT = sizeof(priorities) / sizeof(priorities[0]) };
    pthread_t threads[COUNT];

    /* First each priority gets its level: a thread that is ready keeps the one that it has. */
    for (int at = 0; at < COUNT; at++)
        become(priorities[at]);
    become(TOP);
    for (int at = 0; at < COUNT; at++)
        threads[at] = start(sign, priorities[at]);
    for (int at = 0; at < COUNT; at++)
        pthread_join(threads[at], NULL);
    printf("ranks");
    for (int at = 0; at < COUNT; at++)
        printf(" %d", order[at]);
    printf("\n");
}

static void make_mutex(int protocol)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setprioceiling(&attr, MAIN);
    pthread_mutex_init(&mutex, &attr);
    sem_init(&locked, 0, 0);
}

static void *hold_and_sleep(void *argument)
{
    pthread_mutex_lock(&mutex);
    sem_post(&locked);
    nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *take_turns(void *argument)
{
    for (int turn = 0; turn < TURNS; turn++) {
        if (yields)
            sched_yield();
        else
            for (volatile int n = 0; n < TURNS / 10; n++)
                ;
    }
    middle_done = 1;
    return argument;
}

/* A thread of low priority sleeps with a mutex that main wants, while one of middle priority runs:
 * who gets on first when the sleep is over? */
static int middle_is_first(int protocol)
{
    pthread_t low, middle;
    int first;

    make_mutex(protocol);
    middle_done = 0;
    low = start(hold_and_sleep, LOW);
    sem_wait(&locked);
    /* Until it sleeps: the hardware gives a thread that is ready no other place. */
    nanosleep(&(struct timespec){0, NAP_NS / 4}, NULL);
    middle = start(take_turns, MIDDLE);
    pthread_mutex_lock(&mutex);
    first = middle_done;
    pthread_mutex_unlock(&mutex);
    pthread_join(low, NULL);
    pthread_join(middle, NULL);
    return first;
}

static void *hold_and_post(void *argument)
{
    pthread_mutex_lock(&mutex);
    sem_post(&locked);
    sched_yield();
    seen = mark;
    pthread_mutex_unlock(&mutex);
    return argument;
}

/* A thread of low priority wakes main while it holds a mutex: does main run at once? */
static int main_is_first(int protocol)
{
    pthread_t low;

    make_mutex(protocol);
    mark = 0;
    become(MIDDLE);
    low = start(hold_and_post, LOW);
    sem_wait(&locked);
    mark = 1;
    pthread_join(low, NULL);
    become(MAIN);
    return seen;
}

int main(int argc, char **argv)
{
    (void)argv;
    yields = argc > 1;
    ranks();
    become(MAIN);
    printf("middle first: none %d, inherit %d\n", middle_is_first(PTHREAD_PRIO_NONE),
           middle_is_first(PTHREAD_PRIO_INHERIT));
    printf("main first: none %d, protect %d\n", main_is_first(PTHREAD_PRIO_NONE),
           main_is_first(PTHREAD_PRIO_PROTECT));
    return 0;
}
