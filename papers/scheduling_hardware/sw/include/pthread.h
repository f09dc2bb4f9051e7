/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX threads, as far as the machine has them: sw/README.md lists what is there and what is
 * not. */
#ifndef PTHREAD_H
#define PTHREAD_H

#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

/* Generation (bits 15:8) and id (bits 7:0). */
typedef unsigned long pthread_t;

typedef struct {
    unsigned detached;
    unsigned stack_size;
    void *stack;
    int explicit_scheduling;
    int policy;
    int priority;
    unsigned guard_size;
} pthread_attr_t;

/* 0 free, 1 taken; `waiters` is the software back end's. */
struct lock {
    volatile unsigned word;
    volatile unsigned waiters;
};

/* A normal mutex is `lock`. The other kinds leave its word at 1 for ever, which sends every locker
 * to the code that looks at `kind`, and use `typed`. Robust mutexes and those with a protocol are
 * such kinds, too (posix/held.c); what is behind `typed` is theirs. */
typedef struct okosu_mutex {
    struct lock lock;
    unsigned kind;
    unsigned owner;
    unsigned depth;
    struct lock typed;
    /* The next mutex in the list of those that the owner holds. */
    struct okosu_mutex *held;
    unsigned char state;
    unsigned char ceiling;
    /* The highest priority that has waited for the mutex since it was last free. */
    unsigned char wanted;
    unsigned waiting;
} pthread_mutex_t;

typedef struct {
    int kind;
    int shared;
    int protocol;
    int ceiling;
    int robust;
} pthread_mutexattr_t;

typedef struct {
    volatile unsigned sequence;
} pthread_cond_t;

typedef struct {
    clockid_t clock;
    int shared;
} pthread_condattr_t;

typedef struct {
    struct lock lock;
    volatile unsigned sequence;
    unsigned readers;
    unsigned writer;
    unsigned waiting;
    struct rwlock_writer *writers;
    int kind;
} pthread_rwlock_t;

typedef struct {
    int shared;
    int kind;
} pthread_rwlockattr_t;

typedef struct {
    volatile unsigned arrived;
    unsigned count;
    struct waiter *first;
} pthread_barrier_t;

typedef struct {
    int shared;
} pthread_barrierattr_t;

typedef struct {
    volatile unsigned done;
    struct lock lock;
} pthread_once_t;

typedef unsigned pthread_key_t;

/* `owner` is who has it, or 0. */
typedef struct {
    volatile unsigned word;
    volatile unsigned owner;
} pthread_spinlock_t;

enum { PTHREAD_CREATE_JOINABLE, PTHREAD_CREATE_DETACHED };
enum {
    PTHREAD_MUTEX_NORMAL,
    PTHREAD_MUTEX_RECURSIVE,
    PTHREAD_MUTEX_ERRORCHECK,
    PTHREAD_MUTEX_DEFAULT = PTHREAD_MUTEX_NORMAL
};
enum { PTHREAD_INHERIT_SCHED, PTHREAD_EXPLICIT_SCHED };
enum { PTHREAD_SCOPE_SYSTEM, PTHREAD_SCOPE_PROCESS };
enum { PTHREAD_PROCESS_PRIVATE, PTHREAD_PROCESS_SHARED };
enum { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT, PTHREAD_PRIO_PROTECT };
enum { PTHREAD_MUTEX_STALLED, PTHREAD_MUTEX_ROBUST };
enum { PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DISABLE };
enum { PTHREAD_CANCEL_DEFERRED, PTHREAD_CANCEL_ASYNCHRONOUS };

/* POSIX lets programs ask by #ifdef. */
#define PTHREAD_CREATE_JOINABLE PTHREAD_CREATE_JOINABLE
#define PTHREAD_CREATE_DETACHED PTHREAD_CREATE_DETACHED
#define PTHREAD_MUTEX_NORMAL PTHREAD_MUTEX_NORMAL
#define PTHREAD_MUTEX_RECURSIVE PTHREAD_MUTEX_RECURSIVE
#define PTHREAD_MUTEX_ERRORCHECK PTHREAD_MUTEX_ERRORCHECK
#define PTHREAD_MUTEX_DEFAULT PTHREAD_MUTEX_DEFAULT
#define PTHREAD_INHERIT_SCHED PTHREAD_INHERIT_SCHED
#define PTHREAD_EXPLICIT_SCHED PTHREAD_EXPLICIT_SCHED
#define PTHREAD_SCOPE_SYSTEM PTHREAD_SCOPE_SYSTEM
#define PTHREAD_SCOPE_PROCESS PTHREAD_SCOPE_PROCESS
#define PTHREAD_PROCESS_PRIVATE PTHREAD_PROCESS_PRIVATE
#define PTHREAD_PROCESS_SHARED PTHREAD_PROCESS_SHARED
#define PTHREAD_PRIO_NONE PTHREAD_PRIO_NONE
#define PTHREAD_PRIO_INHERIT PTHREAD_PRIO_INHERIT
#define PTHREAD_PRIO_PROTECT PTHREAD_PRIO_PROTECT
#define PTHREAD_MUTEX_STALLED PTHREAD_MUTEX_STALLED
#define PTHREAD_MUTEX_ROBUST PTHREAD_MUTEX_ROBUST
#define PTHREAD_CANCEL_ENABLE PTHREAD_CANCEL_ENABLE
#define PTHREAD_CANCEL_DISABLE PTHREAD_CANCEL_DISABLE
#define PTHREAD_CANCEL_DEFERRED PTHREAD_CANCEL_DEFERRED
#define PTHREAD_CANCEL_ASYNCHRONOUS PTHREAD_CANCEL_ASYNCHRONOUS

#define PTHREAD_RWLOCK_PREFER_READER_NP 0
#define PTHREAD_RWLOCK_PREFER_WRITER_NP 1
#define PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP 2

#define PTHREAD_CANCELED ((void *)-1)

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

#define PTHREAD_MUTEX_INITIALIZER                                                                  \
    {                                                                                              \
        .kind = PTHREAD_MUTEX_NORMAL                                                               \
    }
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP                                                     \
    {                                                                                              \
        .lock = {.word = 1}, .kind = PTHREAD_MUTEX_RECURSIVE                                       \
    }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP                                                    \
    {                                                                                              \
        .lock = {.word = 1}, .kind = PTHREAD_MUTEX_ERRORCHECK                                      \
    }
#define PTHREAD_COND_INITIALIZER                                                                   \
    {                                                                                              \
        .sequence = 0                                                                              \
    }
#define PTHREAD_RWLOCK_INITIALIZER                                                                 \
    {                                                                                              \
        .readers = 0                                                                               \
    }
#define PTHREAD_ONCE_INIT                                                                          \
    {                                                                                              \
        .done = 0                                                                                  \
    }

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*entry)(void *),
                   void *argument);
int pthread_join(pthread_t thread, void **value);
int pthread_detach(pthread_t thread);
void pthread_exit(void *value) __attribute__((noreturn));
pthread_t pthread_self(void);
int pthread_equal(pthread_t left, pthread_t right);
int pthread_yield(void);

int pthread_attr_init(pthread_attr_t *attr);
int pthread_attr_destroy(pthread_attr_t *attr);
/* A detach state, policy, scope or inheritance that there is not: EINVAL. A stack has at least
 * PTHREAD_STACK_MIN bytes, or EINVAL. */
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state);
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size);
int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setstack(pthread_attr_t *attr, void *stack, size_t size);
int pthread_attr_getstack(const pthread_attr_t *attr, void **stack, size_t *size);
/* What a thread has: its stack, detach state, policy and priority. ESRCH. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr);
int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size);
int pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param);
/* Only PTHREAD_SCOPE_SYSTEM; the other: ENOTSUP. */
int pthread_attr_setscope(pthread_attr_t *attr, int scope);
int pthread_attr_getscope(const pthread_attr_t *attr, int *scope);

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);
int pthread_setschedprio(pthread_t thread, int priority);

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int kind);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *kind);
/* There is one process, so nothing differs between shared and private. EINVAL: neither of them. */
int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared);
int pthread_mutexattr_getpshared(const pthread_mutexattr_t *attr, int *shared);
/* With PTHREAD_PRIO_INHERIT a thread that holds the mutex has at least the priority of each that
 * waits for it, with PTHREAD_PRIO_PROTECT at least the ceiling. A thread that is ready but does not
 * run has it from the next time on that it becomes ready. EINVAL: no such protocol. */
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol);
int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol);
/* A priority of SCHED_FIFO, 1 to 15, or EINVAL. */
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling);
int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling);
/* When a thread ends that holds a robust mutex, the next one that locks it gets it and EOWNERDEAD.
 * If that one unlocks it without pthread_mutex_consistent, all later ones get ENOTRECOVERABLE. */
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust);
int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
/* EINVAL: the mutex is not robust, or its owner has not died. */
int pthread_mutex_consistent(pthread_mutex_t *mutex);
/* EINVAL: the mutex has no ceiling, or the priority is not in 1 to 15. The mutex is locked
 * meanwhile, with the errors of that. */
int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old);
int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling);

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
/* CLOCK_REALTIME or CLOCK_MONOTONIC, which are the same clock here; others: EINVAL. */
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock);
int pthread_condattr_setpshared(pthread_condattr_t *attr, int shared);
int pthread_condattr_getpshared(const pthread_condattr_t *attr, int *shared);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
/* Cancellation points; a signal that is handled meanwhile makes them return 0. */
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *deadline);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

int pthread_rwlockattr_init(pthread_rwlockattr_t *attr);
int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attr);
int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int shared);
int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t *attr, int *shared);
/* With PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP readers wait for all writers that wait; with the
 * other two a reader of SCHED_FIFO or SCHED_RR waits for those of its own or a higher priority, and
 * others for none, so that they may lock twice. EINVAL: no such kind. */
int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *attr, int kind);
int pthread_rwlockattr_getkind_np(const pthread_rwlockattr_t *attr, int *kind);
int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attr);
int pthread_rwlock_destroy(pthread_rwlock_t *rwlock);
int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock, const struct timespec *deadline);
int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock, const struct timespec *deadline);
int pthread_rwlock_unlock(pthread_rwlock_t *rwlock);

int pthread_barrierattr_init(pthread_barrierattr_t *attr);
int pthread_barrierattr_destroy(pthread_barrierattr_t *attr);
int pthread_barrierattr_setpshared(pthread_barrierattr_t *attr, int shared);
int pthread_barrierattr_getpshared(const pthread_barrierattr_t *attr, int *shared);
/* EINVAL: the count is 0, or above 4095. */
int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                         unsigned count);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);

/* Spin locks. Who waits lets other threads of its PE run now and then, for nothing else would.
 * pthread_spin_lock by the owner: EDEADLK; destroy of a locked one: EBUSY. */
int pthread_spin_init(pthread_spinlock_t *spin, int shared);
int pthread_spin_destroy(pthread_spinlock_t *spin);
int pthread_spin_lock(pthread_spinlock_t *spin);
int pthread_spin_trylock(pthread_spinlock_t *spin);
int pthread_spin_unlock(pthread_spinlock_t *spin);

int pthread_once(pthread_once_t *once, void (*routine)(void));

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

/* Cancellation. Points of it are pthread_testcancel, pthread_cond_wait and _timedwait,
 * pthread_join, sem_wait and sem_timedwait, sleep, usleep, nanosleep and clock_nanosleep, sigwait,
 * sigwaitinfo, sigtimedwait, sigsuspend, and pause. Nothing interrupts a computation, so that a
 * thread of type PTHREAD_CANCEL_ASYNCHRONOUS ends not at once but in the next call that waits (for a
 * lock or at a barrier, too) or yields, or in pthread_setcanceltype or pthread_setcancelstate. */
int pthread_cancel(pthread_t thread);
void pthread_testcancel(void);
/* EINVAL: no such state or type. The old one is not stored where `old` is NULL. */
int pthread_setcancelstate(int state, int *old);
int pthread_setcanceltype(int type, int *old);

struct okosu_cleanup {
    void (*routine)(void *);
    void *argument;
    struct okosu_cleanup *next;
};
void okosu_cleanup_push(struct okosu_cleanup *cleanup, void (*routine)(void *), void *argument);
void okosu_cleanup_pop(struct okosu_cleanup *cleanup, int execute);

#define pthread_cleanup_push(routine, argument)                                                    \
    do {                                                                                           \
        struct okosu_cleanup okosu_cleanup;                                                        \
        okosu_cleanup_push(&okosu_cleanup, routine, argument);
#define pthread_cleanup_pop(execute)                                                               \
    okosu_cleanup_pop(&okosu_cleanup, execute);                                                    \
    }                                                                                              \
    while (0)

/* 0, as libraries that call it demand; but fork() fails, and nothing ever calls the functions. */
int pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));
/* A hint that nothing looks at. */
int pthread_getconcurrency(void);
int pthread_setconcurrency(int level);

#endif
