/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include <limits.h>
#include <pthread.h>

typedef struct {
    struct lock lock;
    volatile unsigned value;
    volatile unsigned sequence;
    unsigned waiting;
} sem_t;

#define SEM_FAILED ((sem_t *)0)

/* -1 and EINVAL: a value above SEM_VALUE_MAX. There is one process, so `shared` makes no
 * difference. */
int sem_init(sem_t *sem, int shared, unsigned value);
/* -1 and EBUSY: threads wait. */
int sem_destroy(sem_t *sem);
/* Cancellation points. -1 and EINTR: a signal was handled meanwhile, and not with SA_RESTART. */
int sem_wait(sem_t *sem);
int sem_trywait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *deadline);
int sem_post(sem_t *sem);
int sem_getvalue(sem_t *sem, int *value);

/* Semaphores by name: a name of at most NAME_MAX (255) bytes, a slash at its beginning
 * included, which is the only one. `flags` holds O_CREAT, which is followed by a mode and the value, and O_EXCL. The same
 * name gives the same semaphore until it is unlinked. SEM_FAILED and EINVAL, ENAMETOOLONG, ENOENT,
 * EEXIST, or ENOSPC. */
sem_t *sem_open(const char *name, int flags, ...);
/* -1 and EINVAL: no semaphore that sem_open gave. */
int sem_close(sem_t *sem);
/* -1 and ENOENT, or ENAMETOOLONG. */
int sem_unlink(const char *name);

#endif
