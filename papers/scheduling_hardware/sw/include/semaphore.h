/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEMAPHORE_H
#define SEMAPHORE_H

#include <pthread.h>

#define SEM_VALUE_MAX 0x7fffffff

typedef struct {
    struct lock lock;
    volatile unsigned value;
    volatile unsigned sequence;
    unsigned waiting;
} sem_t;

int sem_init(sem_t *sem, int shared, unsigned value);
int sem_destroy(sem_t *sem);
int sem_wait(sem_t *sem);
int sem_trywait(sem_t *sem);
int sem_timedwait(sem_t *sem, const struct timespec *deadline);
int sem_post(sem_t *sem);
int sem_getvalue(sem_t *sem, int *value);

#endif
