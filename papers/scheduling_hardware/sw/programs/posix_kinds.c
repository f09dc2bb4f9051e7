/* SPDX-License-Identifier: Apache-2.0 */
/* Robust mutexes and protocols, spin locks, semaphores by name, attributes of all kinds, clocks. */
#include "conformance.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPINNERS = 4, SPINS = 50 };

static pthread_mutex_t mutex;

static void *dies(void *argument)
{
    pthread_mutex_lock(&mutex);
    return argument;
}

static void run(void *(*function)(void *))
{
    pthread_t thread;

    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
}

static void make_robust(int kind)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, kind);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

void check_robust(void)
{
    static const int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
                                PTHREAD_MUTEX_ERRORCHECK};
    pthread_mutexattr_t attr;
    int robust = -1;

    pthread_mutexattr_init(&attr);
    check(pthread_mutexattr_getrobust(&attr, &robust) == 0 && robust == PTHREAD_MUTEX_STALLED,
          "a mutex is not robust");
    check(pthread_mutexattr_setrobust(&attr, 99) == EINVAL, "it may be or not");
    for (int at = 0; at < 3; at++) {
        make_robust(kinds[at]);
        run(dies);
        check(pthread_mutex_lock(&mutex) == EOWNERDEAD, "the owner of a robust mutex has died");
        check(pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0,
              "it is repaired");
        check(pthread_mutex_lock(&mutex) == 0, "and goes on");
        check(pthread_mutex_consistent(&mutex) == EINVAL, "as it is");
        pthread_mutex_unlock(&mutex);
        run(dies);
        check(pthread_mutex_trylock(&mutex) == EOWNERDEAD, "died again");
        pthread_mutex_unlock(&mutex);
        check(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE, "not repaired, it is lost");
        check(pthread_mutex_destroy(&mutex) == 0, "but can be destroyed");
    }
    pthread_mutexattr_destroy(&attr);
}

void check_protocols(void)
{
    pthread_mutexattr_t attr;
    int value = -1;

    pthread_mutexattr_init(&attr);
    check(pthread_mutexattr_getprotocol(&attr, &value) == 0 && value == PTHREAD_PRIO_NONE,
          "a mutex has no protocol");
    check(pthread_mutexattr_setprotocol(&attr, 99) == EINVAL, "there are three");
    check(pthread_mutexattr_setprioceiling(&attr, 0) == EINVAL, "a ceiling is a priority");
    check(pthread_mutexattr_setprioceiling(&attr, 7) == 0 &&
              pthread_mutexattr_getprioceiling(&attr, &value) == 0 && value == 7,
          "of a FIFO thread");
    check(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) == 0 &&
              pthread_mutexattr_getprotocol(&attr, &value) == 0 && value == PTHREAD_PRIO_INHERIT,
          "a protocol is set");
    pthread_mutex_init(&mutex, &attr);
    check(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_trylock(&mutex) == EBUSY &&
              pthread_mutex_unlock(&mutex) == 0,
          "a mutex that lends priority is a mutex");
    check(pthread_mutex_getprioceiling(&mutex, &value) == EINVAL, "without a ceiling");
    pthread_mutex_destroy(&mutex);
    check(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0 &&
              pthread_mutexattr_getpshared(&attr, &value) == 0 && value == PTHREAD_PROCESS_SHARED,
          "a mutex may be shared");
    check(pthread_mutexattr_setpshared(&attr, 99) == EINVAL, "or not");
    pthread_mutexattr_destroy(&attr);
}

static pthread_spinlock_t spin;
static int counter;

static void *spins(void *argument)
{
    for (int at = 0; at < SPINS; at++) {
        pthread_spin_lock(&spin);
        counter++;
        pthread_spin_unlock(&spin);
    }
    return argument;
}

void check_spinlocks(void)
{
    pthread_t threads[SPINNERS];

    check(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0, "a spin lock");
    check(pthread_spin_lock(&spin) == 0 && pthread_spin_trylock(&spin) == EBUSY, "is locked");
    check(pthread_spin_unlock(&spin) == 0 && pthread_spin_trylock(&spin) == 0, "and unlocked");
    for (int at = 0; at < SPINNERS; at++)
        pthread_create(&threads[at], NULL, spins, NULL);
    pthread_spin_unlock(&spin);
    for (int at = 0; at < SPINNERS; at++)
        pthread_join(threads[at], NULL);
    check(counter == SPINNERS * SPINS, "one thread at a time");
    check(pthread_spin_destroy(&spin) == 0, "destroyed");
}

void check_named_semaphores(void)
{
    static const char name[] = "/okosu-conformance";
    static char long_name[NAME_MAX + 10];
    sem_t *sem, *same;
    int value = -1;

    sem_unlink(name);
    check(sem_open(name, 0) == SEM_FAILED && errno == ENOENT, "no semaphore has this name");
    sem = sem_open(name, O_CREAT | O_EXCL, S_IRUSR | S_IWUSR, 3);
    check(sem != SEM_FAILED && sem_getvalue(sem, &value) == 0 && value == 3, "now one has");
    check(sem_open(name, O_CREAT | O_EXCL, S_IRUSR | S_IWUSR, 3) == SEM_FAILED && errno == EEXIST,
          "only one can have it");
    same = sem_open(name, O_CREAT, S_IRUSR | S_IWUSR, 9);
    check(sem_wait(same) == 0 && sem_getvalue(sem, &value) == 0 && value == 2, "it is the same");
    check(sem_close(same) == 0, "closed");
    check(sem_unlink(name) == 0 && sem_open(name, 0) == SEM_FAILED && errno == ENOENT,
          "a name can be taken away");
    check(sem_post(sem) == 0 && sem_getvalue(sem, &value) == 0 && value == 3,
          "from a semaphore that goes on");
    check(sem_unlink(name) == -1 && errno == ENOENT, "once");
    check(sem_close(sem) == 0, "it ends when it is closed");
    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[0] = '/';
    check(sem_open(long_name, O_CREAT, S_IRUSR | S_IWUSR, 0) == SEM_FAILED &&
              (errno == ENAMETOOLONG || errno == EINVAL),
          "a name may be too long");
}

static sem_t joined;

static void *waits(void *argument)
{
    sem_wait(&joined);
    return argument;
}

void check_kinds(void)
{
    pthread_rwlockattr_t rwlock;
    pthread_barrierattr_t barrier;
    pthread_condattr_t cond;
    pthread_attr_t attr;
    pthread_t thread;
    clockid_t clock = -1;
    int value = -1;

    pthread_rwlockattr_init(&rwlock);
    check(pthread_rwlockattr_getpshared(&rwlock, &value) == 0 && value == PTHREAD_PROCESS_PRIVATE &&
              pthread_rwlockattr_setpshared(&rwlock, 99) == EINVAL,
          "read-write locks have attributes");
    pthread_barrierattr_init(&barrier);
    check(pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED) == 0 &&
              pthread_barrierattr_getpshared(&barrier, &value) == 0 &&
              value == PTHREAD_PROCESS_SHARED,
          "barriers have");
    pthread_condattr_init(&cond);
    check(pthread_condattr_setclock(&cond, CLOCK_MONOTONIC) == 0 &&
              pthread_condattr_getclock(&cond, &clock) == 0 && clock == CLOCK_MONOTONIC,
          "conditions have a clock");
    check(pthread_condattr_setclock(&cond, CLOCK_PROCESS_CPUTIME_ID) == EINVAL, "of two");
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sem_init(&joined, 0, 0);
    pthread_create(&thread, &attr, waits, NULL);
    check(pthread_join(thread, NULL) == EINVAL, "a detached thread is not joined");
    sem_post(&joined);
    check(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1000}, NULL) == 0 &&
              clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, -1}, NULL) == EINVAL,
          "sleep by a clock");
    check(sysconf(_SC_THREADS) > 0 && sysconf(_SC_SPIN_LOCKS) > 0 && sysconf(_SC_BARRIERS) > 0,
          "the system tells what it has");
    check(sysconf(12345) == -1 && errno == EINVAL, "and knows what it is asked");
}

void (*const groups[])(void) = {
    check_cancellation, check_signals,          check_robust, check_protocols,
    check_spinlocks,    check_named_semaphores, check_kinds,
};
const unsigned groups_count = sizeof(groups) / sizeof(groups[0]);
