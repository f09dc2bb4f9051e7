/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX threads, as far as the machine has them: sw/README.md lists what is there and what is
 * not. */
#ifndef PTHREAD_H
#define PTHREAD_H

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
 * to the code that looks at `kind`, and use `typed`. */
typedef struct {
    struct lock lock;
    unsigned kind;
    unsigned owner;
    unsigned depth;
    struct lock typed;
} pthread_mutex_t;

typedef struct {
    int kind;
} pthread_mutexattr_t;

typedef struct {
    volatile unsigned sequence;
} pthread_cond_t;

typedef struct {
    clockid_t clock;
} pthread_condattr_t;

typedef struct {
    struct lock lock;
    volatile unsigned sequence;
    unsigned readers;
    unsigned writer;
    unsigned waiting;
} pthread_rwlock_t;

typedef struct {
    int shared;
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

#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_KEYS_MAX 128
#define PTHREAD_STACK_MIN 4096

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
int pthread_attr_setdetachstate(pthread_attr_t *attr, int state);
int pthread_attr_getdetachstate(const pthread_attr_t *attr, int *state);
int pthread_attr_setstacksize(pthread_attr_t *attr, size_t size);
int pthread_attr_getstacksize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setstack(pthread_attr_t *attr, void *stack, size_t size);
int pthread_attr_getstack(const pthread_attr_t *attr, void **stack, size_t *size);
int pthread_attr_setguardsize(pthread_attr_t *attr, size_t size);
int pthread_attr_getguardsize(const pthread_attr_t *attr, size_t *size);
int pthread_attr_setinheritsched(pthread_attr_t *attr, int inherit);
int pthread_attr_getinheritsched(const pthread_attr_t *attr, int *inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attr, int policy);
int pthread_attr_getschedpolicy(const pthread_attr_t *attr, int *policy);
int pthread_attr_setschedparam(pthread_attr_t *attr, const struct sched_param *param);
int pthread_attr_getschedparam(const pthread_attr_t *attr, struct sched_param *param);
int pthread_attr_setscope(pthread_attr_t *attr, int scope);
int pthread_attr_getscope(const pthread_attr_t *attr, int *scope);

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param);
int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *param);
int pthread_setschedprio(pthread_t thread, int priority);

int pthread_mutexattr_init(pthread_mutexattr_t *attr);
int pthread_mutexattr_destroy(pthread_mutexattr_t *attr);
int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int kind);
int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *kind);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline);
int pthread_mutex_unlock(pthread_mutex_t *mutex);

int pthread_condattr_init(pthread_condattr_t *attr);
int pthread_condattr_destroy(pthread_condattr_t *attr);
int pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int pthread_condattr_getclock(const pthread_condattr_t *attr, clockid_t *clock);
int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr);
int pthread_cond_destroy(pthread_cond_t *cond);
int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                           const struct timespec *deadline);
int pthread_cond_signal(pthread_cond_t *cond);
int pthread_cond_broadcast(pthread_cond_t *cond);

int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attr);
int pthread_rwlock_destroy(pthread_rwlock_t *rwlock);
int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock, const struct timespec *deadline);
int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock);
int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock, const struct timespec *deadline);
int pthread_rwlock_unlock(pthread_rwlock_t *rwlock);

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attr,
                         unsigned count);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);

int pthread_once(pthread_once_t *once, void (*routine)(void));

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int pthread_key_delete(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *value);
void *pthread_getspecific(pthread_key_t key);

#endif
