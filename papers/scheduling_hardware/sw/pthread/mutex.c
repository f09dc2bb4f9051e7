/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes. Of a normal one, locking is one exchange and unlocking a store of 0. The word of another
 * kind is always 1, so its lockers come to mutex_lock_slowly(), as the late ones of a normal mutex do. Robust
 * mutexes and those with a protocol are locked and unlocked by posix/held.c. */
#include "backend.h"
#include "deadline.h"

IN_LOCK int pthread_mutexattr_init(pthread_mutexattr_t *attr)
{
    *attr = (pthread_mutexattr_t){.kind = PTHREAD_MUTEX_DEFAULT, .ceiling = 1};
    return 0;
}

IN_LOCK int pthread_mutexattr_destroy(pthread_mutexattr_t *attr)
{
    (void)attr;
    return 0;
}

IN_LOCK int pthread_mutexattr_settype(pthread_mutexattr_t *attr, int kind)
{
    if (kind < PTHREAD_MUTEX_NORMAL || kind > PTHREAD_MUTEX_ERRORCHECK)
        return EINVAL;
    attr->kind = kind;
    return 0;
}

IN_LOCK int pthread_mutexattr_gettype(const pthread_mutexattr_t *attr, int *kind)
{
    *kind = attr->kind;
    return 0;
}

IN_LOCK int pthread_mutexattr_setpshared(pthread_mutexattr_t *attr, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED)
        return EINVAL;
    attr->shared = shared;
    return 0;
}

IN_LOCK int pthread_mutexattr_getpshared(const pthread_mutexattr_t *attr, int *shared)
{
    *shared = attr->shared;
    return 0;
}

/* What only attributes that posix/held.c has set ask for. */
static IN_LOCK int kind_of(const pthread_mutexattr_t *attr)
{
    int kind = attr->kind;

    if (attr->robust == PTHREAD_MUTEX_ROBUST)
        kind |= MUTEX_ROBUST;
    if (attr->protocol == PTHREAD_PRIO_INHERIT)
        kind |= MUTEX_INHERIT;
    if (attr->protocol == PTHREAD_PRIO_PROTECT)
        kind |= MUTEX_PROTECT;
    return kind;
}

IN_LOCK int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    int kind = attr != NULL ? kind_of(attr) : PTHREAD_MUTEX_DEFAULT;

    *mutex =
        (pthread_mutex_t){.lock = {.word = kind != PTHREAD_MUTEX_NORMAL}, .kind = (unsigned)kind};
    if (attr != NULL)
        mutex->ceiling = (unsigned char)attr->ceiling;
    return 0;
}

IN_LOCK int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    const struct lock *lock = mutex->kind == PTHREAD_MUTEX_NORMAL ? &mutex->lock : &mutex->typed;

    return lock->word != 0 ? EBUSY : 0;
}

/* Wait for the lock until `time`, which is checked only here, where the lock is taken already. */
static IN_LOCK int wait_until(struct lock *lock, const struct timespec *time)
{
    uint64_t deadline = NO_DEADLINE;
    int error = time != NULL ? deadline_of(time, &deadline) : 0;

    if (error != 0)
        return error;
    return events_lock_wait != NULL ? events_lock_wait(lock, deadline) : lock_wait(lock, deadline);
}

/* The owner's result for locking once more; -1 for any other thread. */
static IN_LOCK int lock_again(pthread_mutex_t *mutex, unsigned self, int errorcheck)
{
    if (mutex->owner != self)
        return -1;
    if (mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
        return errorcheck;
    if (mutex->depth == UINT32_MAX)
        return EAGAIN;
    mutex->depth++;
    return 0;
}

IN_LOCK int mutex_lock_slowly(pthread_mutex_t *mutex, const struct timespec *time)
{
    unsigned self = thread_self();
    int error;

    if (mutex->kind == PTHREAD_MUTEX_NORMAL)
        return wait_until(&mutex->lock, time);
    if (mutex->kind > MUTEX_TYPE)
        return held_lock(mutex, true, time);
    error = lock_again(mutex, self, EDEADLK);
    if (error >= 0)
        return error;
    if (!lock_try(&mutex->typed)) {
        error = wait_until(&mutex->typed, time);
        if (error != 0)
            return error;
    }
    mutex->owner = self;
    mutex->depth = 1;
    return 0;
}

/* Weak: posix/locks.c has one whose wait an event can end. */
__attribute__((weak)) IN_LOCK int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (likely(lock_try(&mutex->lock)))
        return 0;
    /* There is no frame, for it would have to be taken down while others wait for the lock. */
    if (mutex->kind == PTHREAD_MUTEX_NORMAL)
        return lock_wait_here(&mutex->lock);
    return mutex_lock_slowly(mutex, NULL);
}

IN_LOCK int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *deadline)
{
    if (likely(lock_try(&mutex->lock)))
        return 0;
    return mutex_lock_slowly(mutex, deadline);
}

IN_LOCK int mutex_trylock(pthread_mutex_t *mutex)
{
    unsigned self;
    int error;

    if (likely(lock_try(&mutex->lock)))
        return 0;
    if (mutex->kind == PTHREAD_MUTEX_NORMAL)
        return EBUSY;
    if (mutex->kind > MUTEX_TYPE)
        return held_lock(mutex, false, NULL);
    self = thread_self();
    error = lock_again(mutex, self, EBUSY);
    if (error >= 0)
        return error;
    if (!lock_try(&mutex->typed))
        return EBUSY;
    mutex->owner = self;
    mutex->depth = 1;
    return 0;
}

static IN_LOCK int unlock_kind(pthread_mutex_t *mutex)
{
    if (mutex->kind > MUTEX_TYPE)
        return held_unlock(mutex);
    if (mutex->owner != thread_self())
        return EPERM;
    if (--mutex->depth == 0) {
        mutex->owner = 0;
        lock_release(&mutex->typed);
    }
    return 0;
}

IN_LOCK int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (unlikely(mutex->kind != PTHREAD_MUTEX_NORMAL))
        return unlock_kind(mutex);
    lock_release(&mutex->lock);
    return 0;
}

/* Weak: posix/locks.c has one during which signals are handled. */
int pthread_mutex_trylock(pthread_mutex_t *mutex) __attribute__((weak, alias("mutex_trylock")));
