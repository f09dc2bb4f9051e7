/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks: readers, and the handle of the writer, under a lock; a number that changes when
 * waiters shall look again. Readers do not wait for waiting writers, so a thread may read-lock
 * twice. */
#include "backend.h"
#include "deadline.h"

static IN_LOCK void enter(pthread_rwlock_t *rwlock)
{
    if (!lock_try(&rwlock->lock))
        lock_wait(&rwlock->lock, NO_DEADLINE);
}

IN_LOCK int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attr)
{
    (void)attr;
    *rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    return 0;
}

IN_LOCK int pthread_rwlock_destroy(pthread_rwlock_t *rwlock)
{
    (void)rwlock;
    return 0;
}

static IN_LOCK bool is_free(const pthread_rwlock_t *rwlock, bool to_write)
{
    return rwlock->writer == 0 && (!to_write || rwlock->readers == 0);
}

static IN_LOCK int take(pthread_rwlock_t *rwlock, bool to_write, const struct timespec *time)
{
    uint64_t deadline = NO_DEADLINE;
    unsigned self = thread_self();
    int error = 0;

    enter(rwlock);
    if (rwlock->writer == self) {
        lock_release(&rwlock->lock);
        return EDEADLK;
    }
    while (!is_free(rwlock, to_write) && error != ETIMEDOUT) {
        unsigned sequence = rwlock->sequence;

        if (time != NULL && deadline == NO_DEADLINE && (error = deadline_of(time, &deadline)) != 0)
            break;
        rwlock->waiting++;
        lock_release(&rwlock->lock);
        error = word_wait(&rwlock->sequence, sequence, deadline);
        if (error == EAGAIN && rwlock->sequence == sequence) {
            thread_yield();
            if (deadline != NO_DEADLINE && cycle_now() >= deadline)
                error = ETIMEDOUT;
        }
        enter(rwlock);
        rwlock->waiting--;
    }
    if (is_free(rwlock, to_write)) {
        error = 0;
        if (to_write)
            rwlock->writer = self;
        else
            rwlock->readers++;
    }
    lock_release(&rwlock->lock);
    return error;
}

static IN_LOCK int try(pthread_rwlock_t *rwlock, bool to_write)
{
    bool taken;

    enter(rwlock);
    taken = is_free(rwlock, to_write);
    if (taken && to_write)
        rwlock->writer = thread_self();
    else if (taken)
        rwlock->readers++;
    lock_release(&rwlock->lock);
    return taken ? 0 : EBUSY;
}

IN_LOCK int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
    return take(rwlock, false, NULL);
}

IN_LOCK int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock, const struct timespec *deadline)
{
    return take(rwlock, false, deadline);
}

IN_LOCK int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock)
{
    return try(rwlock, false);
}

IN_LOCK int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
    return take(rwlock, true, NULL);
}

IN_LOCK int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock, const struct timespec *deadline)
{
    return take(rwlock, true, deadline);
}

IN_LOCK int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock)
{
    return try(rwlock, true);
}

IN_LOCK int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
    int error = 0;

    enter(rwlock);
    if (rwlock->writer != 0 && rwlock->writer == thread_self())
        rwlock->writer = 0;
    else if (rwlock->writer == 0 && rwlock->readers > 0)
        rwlock->readers--;
    else
        error = EPERM;
    if (error == 0 && rwlock->readers == 0 && rwlock->waiting > 0)
        word_wake_all(&rwlock->sequence, rwlock->sequence + 1);
    lock_release(&rwlock->lock);
    return error;
}
