/* SPDX-License-Identifier: Apache-2.0 */
/* Read-write locks: readers, and the handle of the writer, under a lock; a number that changes when
 * waiters shall look again. Readers do not wait for waiting writers, so a thread may read-lock
 * twice; those that have priorities do. */
#include "backend.h"
#include "deadline.h"
#include "scheduling.h"

/* A writer that waits; it lies on that one's stack. */
struct rwlock_writer {
    struct rwlock_writer *next;
    int priority;
};

static IN_LOCK void enter(pthread_rwlock_t *rwlock)
{
    if (!lock_try(&rwlock->lock))
        lock_wait(&rwlock->lock, NO_DEADLINE);
}

IN_LOCK int pthread_rwlockattr_init(pthread_rwlockattr_t *attr)
{
    *attr = (pthread_rwlockattr_t){.shared = PTHREAD_PROCESS_PRIVATE};
    return 0;
}

IN_LOCK int pthread_rwlockattr_destroy(pthread_rwlockattr_t *attr)
{
    (void)attr;
    return 0;
}

IN_LOCK int pthread_rwlockattr_setpshared(pthread_rwlockattr_t *attr, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED)
        return EINVAL;
    attr->shared = shared;
    return 0;
}

IN_LOCK int pthread_rwlockattr_getpshared(const pthread_rwlockattr_t *attr, int *shared)
{
    *shared = attr->shared;
    return 0;
}

IN_LOCK int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *attr, int kind)
{
    if (kind < PTHREAD_RWLOCK_PREFER_READER_NP ||
        kind > PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        return EINVAL;
    attr->kind = kind;
    return 0;
}

IN_LOCK int pthread_rwlockattr_getkind_np(const pthread_rwlockattr_t *attr, int *kind)
{
    *kind = attr->kind;
    return 0;
}

IN_LOCK int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attr)
{
    *rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    if (attr != NULL)
        rwlock->kind = attr->kind;
    return 0;
}

IN_LOCK int pthread_rwlock_destroy(pthread_rwlock_t *rwlock)
{
    (void)rwlock;
    return 0;
}

static IN_LOCK bool is_free(const pthread_rwlock_t *rwlock, bool to_write)
{
    if (rwlock->writer != 0)
        return false;
    if (to_write)
        return rwlock->readers == 0;
    if (rwlock->writers != NULL) {
        int priority = scheduling_priority(thread_self());

        if (rwlock->kind == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
            return false;
        for (const struct rwlock_writer *at = rwlock->writers; at != NULL; at = at->next)
            if (priority > 0 && at->priority >= priority)
                return false;
    }
    return true;
}

/* A writer does not wait any more; readers may have waited because of it only. */
static IN_LOCK void leave(pthread_rwlock_t *rwlock, const struct rwlock_writer *writer)
{
    struct rwlock_writer **link = &rwlock->writers;

    while (*link != writer)
        link = &(*link)->next;
    *link = writer->next;
    if (rwlock->writer == 0 && rwlock->waiting > 0)
        word_wake_all(&rwlock->sequence, rwlock->sequence + 1);
}

static IN_LOCK int wait_here(volatile unsigned *word, unsigned expected, uint64_t deadline)
{
    return events_wait != NULL ? events_wait(word, expected, deadline, false)
                               : word_wait(word, expected, deadline);
}

static IN_LOCK int take(pthread_rwlock_t *rwlock, bool to_write, const struct timespec *time)
{
    uint64_t deadline = NO_DEADLINE;
    unsigned self = thread_self();
    struct rwlock_writer waiting = {NULL, 0};
    bool registered = false;
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
        if (to_write && !registered) {
            waiting = (struct rwlock_writer){rwlock->writers, scheduling_priority(self)};
            rwlock->writers = &waiting;
            registered = true;
        }
        rwlock->waiting++;
        lock_release(&rwlock->lock);
        error = wait_here(&rwlock->sequence, sequence, deadline);
        if (error == EAGAIN && rwlock->sequence == sequence) {
            thread_yield();
            if (deadline != NO_DEADLINE && cycle_now() >= deadline)
                error = ETIMEDOUT;
        }
        enter(rwlock);
        rwlock->waiting--;
        if (error == EINTR) {
            /* The thread may end here, and is then no writer any more that waits. */
            if (registered)
                leave(rwlock, &waiting);
            registered = false;
            lock_release(&rwlock->lock);
            events_act(false);
            enter(rwlock);
        }
    }
    if (registered)
        leave(rwlock, &waiting);
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
        error = rwlock->writer != 0 ? EPERM : EINVAL;
    if (error == 0 && rwlock->readers == 0 && rwlock->waiting > 0)
        word_wake_all(&rwlock->sequence, rwlock->sequence + 1);
    lock_release(&rwlock->lock);
    return error;
}
