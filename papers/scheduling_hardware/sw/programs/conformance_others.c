/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks, barriers, semaphores, keys, scheduling. */
#include "conformance.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>

enum { PARTIES = 8, ROUNDS = 6, ITEMS = 60, SLOTS = 4 };

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static int elsewhere(void *(*function)(void *))
{
    pthread_t thread;
    void *value;

    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, &value);
    return (int)(intptr_t)value;
}

static void *try_read(void *argument)
{
    int error = pthread_rwlock_tryrdlock(&rwlock);

    if (error == 0)
        pthread_rwlock_unlock(&rwlock);
    (void)argument;
    return (void *)(intptr_t)error;
}

static void *try_write(void *argument)
{
    int error = pthread_rwlock_trywrlock(&rwlock);

    if (error == 0)
        pthread_rwlock_unlock(&rwlock);
    (void)argument;
    return (void *)(intptr_t)error;
}

static void *read_soon(void *argument)
{
    struct timespec time = soon(300);

    (void)argument;
    return (void *)(intptr_t)pthread_rwlock_timedrdlock(&rwlock, &time);
}

static void *write_soon(void *argument)
{
    struct timespec time = soon(300);

    (void)argument;
    return (void *)(intptr_t)pthread_rwlock_timedwrlock(&rwlock, &time);
}

static int shared[2];

/* Writers keep both equal; readers look. */
static void *read_and_write(void *argument)
{
    intptr_t torn = 0;

    for (int at = 0; at < 20; at++) {
        if ((at + (int)(intptr_t)argument) % 4 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            shared[0]++;
            sched_yield();
            shared[1]++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
            torn += shared[0] != shared[1];
        }
        pthread_rwlock_unlock(&rwlock);
    }
    return (void *)torn;
}

void check_rwlocks(void)
{
    pthread_t threads[PARTIES];
    intptr_t torn = 0;

    check(pthread_rwlock_rdlock(&rwlock) == 0, "lock to read");
    check(elsewhere(try_read) == 0, "others may read, too");
    check(elsewhere(try_write) == EBUSY, "but not write");
    check(elsewhere(write_soon) == ETIMEDOUT, "however long they wait");
    check(pthread_rwlock_tryrdlock(&rwlock) == 0, "read twice");
    check(pthread_rwlock_unlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0,
          "unlock twice");
    check(pthread_rwlock_wrlock(&rwlock) == 0, "lock to write");
    check(elsewhere(try_read) == EBUSY, "nobody may read");
    check(elsewhere(try_write) == EBUSY, "nor write");
    check(elsewhere(read_soon) == ETIMEDOUT, "nor by waiting");
    check(pthread_rwlock_wrlock(&rwlock) == EDEADLK, "nor the writer once more");
    check(pthread_rwlock_rdlock(&rwlock) == EDEADLK, "nor may it read");
    check(pthread_rwlock_unlock(&rwlock) == 0, "unlock what was written");
    for (intptr_t at = 0; at < PARTIES; at++)
        pthread_create(&threads[at], NULL, read_and_write, (void *)at);
    for (int at = 0; at < PARTIES; at++) {
        void *value;

        pthread_join(threads[at], &value);
        torn += (intptr_t)value;
    }
    check(torn == 0 && shared[0] == shared[1] && shared[0] == 5 * PARTIES,
          "readers and writers exclude each other");
    check(pthread_rwlock_destroy(&rwlock) == 0, "destroy a read-write lock");
}

static pthread_barrier_t barrier;
static volatile int arrived[ROUNDS];

static void *come_together(void *argument)
{
    intptr_t last = 0;

    for (int round = 0; round < ROUNDS; round++) {
        int result;

        __atomic_fetch_add(&arrived[round], 1, __ATOMIC_SEQ_CST);
        result = pthread_barrier_wait(&barrier);
        if (result == PTHREAD_BARRIER_SERIAL_THREAD)
            last++;
        else if (result != 0)
            last += 1000;
        if (arrived[round] != PARTIES)
            last += 100000;
    }
    (void)argument;
    return (void *)last;
}

void check_barriers(void)
{
    pthread_t threads[PARTIES];
    intptr_t last = 0;

    check(pthread_barrier_init(&barrier, NULL, 0) == EINVAL, "a barrier for nobody");
    check(pthread_barrier_init(&barrier, NULL, PARTIES) == 0, "a barrier for eight");
    for (int at = 0; at < PARTIES; at++)
        pthread_create(&threads[at], NULL, come_together, NULL);
    for (int at = 0; at < PARTIES; at++) {
        void *value;

        pthread_join(threads[at], &value);
        last += (intptr_t)value;
    }
    check(last % 1000 == ROUNDS, "one of them is told so each time");
    check(last < 1000, "none goes on before all have come");
    check(pthread_barrier_destroy(&barrier) == 0, "destroy a barrier");
    pthread_barrier_init(&barrier, NULL, 1);
    check(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD, "a barrier for one");
    pthread_barrier_destroy(&barrier);
}

static sem_t free_slots, items, access_one;
static int slots[SLOTS], put_at, got_at;

static void *produce(void *argument)
{
    for (int at = 1; at <= ITEMS; at++) {
        sem_wait(&free_slots);
        sem_wait(&access_one);
        slots[put_at++ % SLOTS] = at;
        sem_post(&access_one);
        sem_post(&items);
    }
    return argument;
}

static void *consume(void *argument)
{
    intptr_t sum = 0;

    for (int at = 1; at <= ITEMS; at++) {
        sem_wait(&items);
        sem_wait(&access_one);
        sum += slots[got_at++ % SLOTS];
        sem_post(&access_one);
        sem_post(&free_slots);
    }
    (void)argument;
    return (void *)sum;
}

void check_semaphores(void)
{
    pthread_t threads[4];
    struct timespec time;
    void *value;
    intptr_t sum = 0;
    int count = -1;

    check(sem_init(&items, 0, 2) == 0, "a semaphore of two");
    check(sem_wait(&items) == 0 && sem_trywait(&items) == 0, "can be taken twice");
    check(sem_trywait(&items) == -1 && errno == EAGAIN, "not three times");
    time = soon(300);
    check(sem_timedwait(&items, &time) == -1 && errno == ETIMEDOUT && has_passed(&time),
          "nor by waiting");
    check(sem_post(&items) == 0 && sem_getvalue(&items, &count) == 0 && count == 1, "post");
    check(sem_destroy(&items) == 0, "destroy a semaphore");
    check(sem_init(&items, 0, 0x80000000u) == -1 && errno == EINVAL, "one can be too large");

    sem_init(&items, 0, 0);
    sem_init(&free_slots, 0, SLOTS);
    sem_init(&access_one, 0, 1);
    for (int at = 0; at < 4; at++)
        pthread_create(&threads[at], NULL, at < 2 ? produce : consume, NULL);
    for (int at = 0; at < 4; at++) {
        pthread_join(threads[at], &value);
        sum += (intptr_t)value;
    }
    check(sum == ITEMS * (ITEMS + 1), "two producers, two consumers");
}

static pthread_key_t key, stubborn;
static volatile int destroyed, rounds;

static void destroy(void *value)
{
    __atomic_fetch_add(&destroyed, (int)(intptr_t)value, __ATOMIC_SEQ_CST);
}

static void put_again(void *value)
{
    rounds++;
    if ((intptr_t)value > 1)
        pthread_setspecific(stubborn, (void *)((intptr_t)value - 1));
}

static void *own_value(void *argument)
{
    intptr_t before = (intptr_t)pthread_getspecific(key);

    pthread_setspecific(key, argument);
    sched_yield();
    return (void *)(before == 0 && pthread_getspecific(key) == argument ? (intptr_t)1 : 0);
}

static void *leave_value(void *argument)
{
    pthread_setspecific(stubborn, argument);
    pthread_exit(NULL);
}

void check_keys(void)
{
    pthread_t threads[PARTIES];
    intptr_t right = 0;

    check(pthread_key_create(&key, destroy) == 0, "a key");
    check(pthread_getspecific(key) == NULL, "has no value at first");
    check(pthread_setspecific(key, &right) == 0 && pthread_getspecific(key) == &right, "then one");
    for (intptr_t at = 0; at < PARTIES; at++)
        pthread_create(&threads[at], NULL, own_value, (void *)(at + 1));
    for (int at = 0; at < PARTIES; at++) {
        void *value;

        pthread_join(threads[at], &value);
        right += (intptr_t)value;
    }
    check(right == PARTIES, "each thread has its own");
    check(destroyed == PARTIES * (PARTIES + 1) / 2, "each is destroyed with its thread");
    check(pthread_getspecific(key) == &right, "others are not");
    pthread_key_create(&stubborn, put_again);
    pthread_create(&threads[0], NULL, leave_value, (void *)3);
    pthread_join(threads[0], NULL);
    check(rounds == 3, "destructors run again while there are values");
    check(pthread_key_delete(key) == 0, "delete a key");
    check(pthread_setspecific(key, &right) == EINVAL, "there it is no more");
    check(pthread_key_delete(key) == EINVAL, "nor can be deleted");
    pthread_key_delete(stubborn);
}

static volatile int wanted;

static void *spin(void *argument)
{
    while (!wanted)
        sched_yield();
    return argument;
}

void check_scheduling(void)
{
    struct sched_param param = {.sched_priority = 0};
    pthread_attr_t attr;
    pthread_t thread;
    int policy = -1;

    check(sched_yield() == 0, "yield");
    check(sched_get_priority_min(SCHED_FIFO) == 1 && sched_get_priority_max(SCHED_FIFO) >= 15,
          "priorities");
    check(sched_get_priority_max(99) == -1 && errno == EINVAL, "of policies that are");
    check(pthread_getschedparam(pthread_self(), &policy, &param) == 0 && policy == SCHED_OTHER &&
              param.sched_priority == 0,
          "a thread's policy");
    pthread_create(&thread, NULL, spin, NULL);
    check(pthread_setschedparam(thread, SCHED_OTHER, &param) == 0, "can be set");
    param.sched_priority = 1;
    check(pthread_setschedparam(thread, SCHED_OTHER, &param) == EINVAL, "with its priorities only");
    check(pthread_setschedparam(thread, 99, &param) == EINVAL, "if there is such a policy");
    wanted = 1;
    check(pthread_join(thread, NULL) == 0, "who yields lets others run");

    pthread_attr_init(&attr);
    check(pthread_attr_setschedpolicy(&attr, SCHED_RR) == 0 &&
              pthread_attr_getschedpolicy(&attr, &policy) == 0 && policy == SCHED_RR,
          "a policy in attributes");
    check(pthread_attr_setschedpolicy(&attr, 99) == EINVAL, "not any");
    param.sched_priority = 5;
    check(pthread_attr_setschedparam(&attr, &param) == 0, "a priority in attributes");
    param.sched_priority = 0;
    check(pthread_attr_getschedparam(&attr, &param) == 0 && param.sched_priority == 5,
          "which stays");
    check(pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED) == 0 &&
              pthread_attr_getinheritsched(&attr, &policy) == 0 && policy == PTHREAD_EXPLICIT_SCHED,
          "whether they count");
    check(pthread_attr_setinheritsched(&attr, 99) == EINVAL, "yes or no");
    check(pthread_attr_setscope(&attr, PTHREAD_SCOPE_SYSTEM) == 0, "threads of the system");
    check(pthread_attr_setscope(&attr, PTHREAD_SCOPE_PROCESS) == ENOTSUP, "not of the process");
    pthread_attr_destroy(&attr);
}

void (*const groups[])(void) = {
    check_threads,  check_attributes, check_mutexes, check_conditions, check_rwlocks,
    check_barriers, check_semaphores, check_keys,    check_scheduling,
};
const unsigned groups_count = sizeof(groups) / sizeof(groups[0]);
