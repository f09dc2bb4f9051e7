/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes of which it has to be known who holds them: robust ones, and those with a protocol. A
 * thread has a list of what it holds, from which its priority follows, and which is gone through
 * when it ends. A thread that has ended is in no list, and so a list's head needs its handle. */
#include "backend.h"
#include "deadline.h"
#include "scheduling.h"

enum { THREADS = 256, MOST_CEILING = 32, CHAIN = 16 };
enum state { CONSISTENT, OWNER_DIED, NOT_RECOVERABLE };

static struct lock lock;
static struct {
    unsigned handle;
    pthread_mutex_t *first;
    /* What it waits for. */
    pthread_mutex_t *wanted;
} held[THREADS];

static void enter(void)
{
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
}

static void own(unsigned handle)
{
    unsigned id = handle % THREADS;

    if (held[id].handle != handle) {
        held[id].handle = handle;
        held[id].first = held[id].wanted = NULL;
    }
}

/* Without the lock: a priority is applied with it and without it. */
unsigned held_priority(unsigned handle, unsigned priority)
{
    if (held[handle % THREADS].handle != handle)
        return priority;
    for (const pthread_mutex_t *at = held[handle % THREADS].first; at != NULL; at = at->held) {
        unsigned least = (at->kind & MUTEX_PROTECT) != 0   ? at->ceiling
                         : (at->kind & MUTEX_INHERIT) != 0 ? at->wanted
                                                           : 0;

        if (least > priority)
            priority = least;
    }
    return priority;
}

static unsigned priority_of(unsigned handle)
{
    return held_priority(handle, (unsigned)scheduling_priority(handle));
}

static void apply(unsigned handle)
{
    if (priority_of(handle) != 0)
        threads_use_priorities();
    scheduling_apply(handle);
}

/* The owner of what a thread waits for gets its priority, and so on along what that one waits
 * for. */
static void lend(pthread_mutex_t *mutex, unsigned priority)
{
    for (int step = 0; step < CHAIN && mutex != NULL && (mutex->kind & MUTEX_INHERIT) != 0;
         step++) {
        unsigned owner = mutex->owner;

        if (priority > mutex->wanted)
            mutex->wanted = (unsigned char)priority;
        if (owner == 0 || held[owner % THREADS].handle != owner)
            return;
        apply(owner);
        mutex = held[owner % THREADS].wanted;
    }
}

static void take(pthread_mutex_t *mutex, unsigned self)
{
    unsigned id = self % THREADS;

    enter();
    own(self);
    mutex->owner = self;
    mutex->depth = 1;
    mutex->held = held[id].first;
    held[id].first = mutex;
    if ((mutex->kind & (MUTEX_PROTECT | MUTEX_INHERIT)) != 0)
        apply(self);
    lock_release(&lock);
    thread_locals()->used = 1;
}

/* Out of the owner's list; then it is free for the next one. */
static void give_back(pthread_mutex_t *mutex, unsigned self)
{
    bool has_protocol = (mutex->kind & (MUTEX_PROTECT | MUTEX_INHERIT)) != 0;
    pthread_mutex_t **link;

    enter();
    for (link = &held[self % THREADS].first; *link != NULL && *link != mutex; link = &(*link)->held)
        ;
    if (*link == mutex)
        *link = mutex->held;
    mutex->owner = 0;
    mutex->depth = 0;
    if (mutex->waiting == 0)
        mutex->wanted = 0;
    lock_release(&lock);
    lock_release(&mutex->typed);
    /* Only now, or the thread would be stopped while it still has what others wait for. */
    if (has_protocol)
        scheduling_apply(self);
}

static int wait_for(pthread_mutex_t *mutex, unsigned self, const struct timespec *time)
{
    uint64_t deadline = NO_DEADLINE;
    int error = time != NULL ? deadline_of(time, &deadline) : 0;

    if (error != 0)
        return error;
    enter();
    own(self);
    held[self % THREADS].wanted = mutex;
    mutex->waiting++;
    lend(mutex, priority_of(self));
    lock_release(&lock);
    error = events_lock_wait != NULL ? events_lock_wait(&mutex->typed, deadline)
                                     : lock_wait(&mutex->typed, deadline);
    enter();
    held[self % THREADS].wanted = NULL;
    mutex->waiting--;
    lock_release(&lock);
    return error;
}

/* The owner locks once more. */
static int lock_again(pthread_mutex_t *mutex, bool waits, const struct timespec *time)
{
    unsigned type = mutex->kind & MUTEX_TYPE;

    if (type == PTHREAD_MUTEX_RECURSIVE) {
        if (mutex->depth == UINT32_MAX)
            return EAGAIN;
        mutex->depth++;
        return 0;
    }
    if (!waits)
        return EBUSY;
    return type == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : wait_for(mutex, thread_self(), time);
}

int held_lock(pthread_mutex_t *mutex, bool waits, const struct timespec *time)
{
    unsigned self = thread_self();
    int error;

    if (mutex->owner == self)
        return lock_again(mutex, waits, time);
    if ((mutex->kind & MUTEX_PROTECT) != 0 && scheduling_priority(self) > mutex->ceiling)
        return EINVAL;
    if (!lock_try(&mutex->typed)) {
        error = waits ? wait_for(mutex, self, time) : EBUSY;
        if (error != 0)
            return error;
    }
    if (mutex->state == NOT_RECOVERABLE) {
        lock_release(&mutex->typed);
        return ENOTRECOVERABLE;
    }
    take(mutex, self);
    return mutex->state == OWNER_DIED ? EOWNERDEAD : 0;
}

int held_unlock(pthread_mutex_t *mutex)
{
    unsigned self = thread_self();

    if (mutex->owner != self)
        return EPERM;
    if (--mutex->depth > 0)
        return 0;
    if (mutex->state == OWNER_DIED)
        mutex->state = NOT_RECOVERABLE;
    give_back(mutex, self);
    return 0;
}

/* Of what the caller still holds, robust mutexes go to the next one; others stay locked. */
void held_end(void)
{
    unsigned self = thread_self(), id = self % THREADS;

    if (held[id].handle != self)
        return;
    for (pthread_mutex_t *at = held[id].first, *next; at != NULL; at = next) {
        next = at->held;
        if ((at->kind & MUTEX_ROBUST) != 0) {
            at->state = OWNER_DIED;
            give_back(at, self);
        }
    }
    held[id].handle = 0;
    held[id].first = NULL;
}

int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    if ((mutex->kind & MUTEX_ROBUST) == 0 || mutex->state != OWNER_DIED ||
        mutex->owner != thread_self())
        return EINVAL;
    mutex->state = CONSISTENT;
    return 0;
}

int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old)
{
    int error;

    if ((mutex->kind & MUTEX_PROTECT) == 0 || ceiling < 1 || ceiling > MOST_CEILING)
        return EINVAL;
    error = pthread_mutex_lock(mutex);
    if (error != 0)
        return error;
    if (old != NULL)
        *old = mutex->ceiling;
    mutex->ceiling = (unsigned char)ceiling;
    return pthread_mutex_unlock(mutex);
}

int pthread_mutex_getprioceiling(const pthread_mutex_t *mutex, int *ceiling)
{
    if ((mutex->kind & MUTEX_PROTECT) == 0)
        return EINVAL;
    *ceiling = mutex->ceiling;
    return 0;
}

int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attr, int protocol)
{
    if (protocol < PTHREAD_PRIO_NONE || protocol > PTHREAD_PRIO_PROTECT)
        return EINVAL;
    attr->protocol = protocol;
    return 0;
}

int pthread_mutexattr_getprotocol(const pthread_mutexattr_t *attr, int *protocol)
{
    *protocol = attr->protocol;
    return 0;
}

int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attr, int ceiling)
{
    if (ceiling < 1 || ceiling > MOST_CEILING)
        return EINVAL;
    attr->ceiling = ceiling;
    return 0;
}

int pthread_mutexattr_getprioceiling(const pthread_mutexattr_t *attr, int *ceiling)
{
    *ceiling = attr->ceiling;
    return 0;
}

int pthread_mutexattr_setrobust(pthread_mutexattr_t *attr, int robust)
{
    if (robust != PTHREAD_MUTEX_STALLED && robust != PTHREAD_MUTEX_ROBUST)
        return EINVAL;
    attr->robust = robust;
    return 0;
}

int pthread_mutexattr_getrobust(const pthread_mutexattr_t *attr, int *robust)
{
    *robust = attr->robust;
    return 0;
}
