/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores: a number under a lock, and one that changes when a waiter shall look again. */
#include <semaphore.h>

#include "backend.h"
#include "deadline.h"

static IN_LOCK void sem_lock(sem_t *sem)
{
    if (!lock_try(&sem->lock))
        lock_wait(&sem->lock, NO_DEADLINE);
}

static IN_LOCK int fail(int error)
{
    errno = error;
    return -1;
}

IN_LOCK int sem_init(sem_t *sem, int shared, unsigned value)
{
    (void)shared;
    if (value > SEM_VALUE_MAX)
        return fail(EINVAL);
    *sem = (sem_t){.value = value};
    return 0;
}

IN_LOCK int sem_destroy(sem_t *sem)
{
    return sem->waiting > 0 ? fail(EBUSY) : 0;
}

/* Decrements the semaphore, waiting until `time`, or for ever if that is NULL. */
static IN_LOCK int take(sem_t *sem, const struct timespec *time)
{
    uint64_t deadline = NO_DEADLINE;
    int error = 0;

    act_at_point();
    sem_lock(sem);
    while (sem->value == 0 && error != ETIMEDOUT) {
        unsigned sequence = sem->sequence;

        if (time != NULL && deadline == NO_DEADLINE && (error = deadline_of(time, &deadline)) != 0)
            break;
        sem->waiting++;
        lock_release(&sem->lock);
        error = wait_at(&sem->sequence, sequence, deadline);
        if (error == EAGAIN && sem->sequence == sequence) {
            thread_yield();
            if (deadline != NO_DEADLINE && cycle_now() >= deadline)
                error = ETIMEDOUT;
        }
        sem_lock(sem);
        sem->waiting--;
        if (error == EINTR) {
            bool interrupted;

            /* What has woken this thread may have been meant for another one. */
            if (sem->value > 0 && sem->waiting > 0)
                word_wake_one(&sem->sequence, sem->sequence + 1);
            lock_release(&sem->lock);
            interrupted = act_at_point();
            if (interrupted)
                return EINTR;
            sem_lock(sem);
        }
    }
    if (sem->value > 0) {
        sem->value--;
        error = 0;
    }
    lock_release(&sem->lock);
    return error;
}

IN_LOCK int sem_wait(sem_t *sem)
{
    int error = take(sem, NULL);

    return error != 0 ? fail(error) : 0;
}

IN_LOCK int sem_timedwait(sem_t *sem, const struct timespec *deadline)
{
    int error = take(sem, deadline);

    return error != 0 ? fail(error) : 0;
}

IN_LOCK int sem_trywait(sem_t *sem)
{
    bool taken;

    sem_lock(sem);
    taken = sem->value > 0;
    if (taken)
        sem->value--;
    lock_release(&sem->lock);
    return taken ? 0 : fail(EAGAIN);
}

IN_LOCK int sem_post(sem_t *sem)
{
    int error = 0;

    sem_lock(sem);
    if (sem->value == SEM_VALUE_MAX)
        error = EOVERFLOW;
    else
        sem->value++;
    if (sem->waiting > 0)
        word_wake_one(&sem->sequence, sem->sequence + 1);
    lock_release(&sem->lock);
    return error != 0 ? fail(error) : 0;
}

IN_LOCK int sem_getvalue(sem_t *sem, int *value)
{
    *value = (int)sem->value;
    return 0;
}
