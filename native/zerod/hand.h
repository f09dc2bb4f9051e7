/* SPDX-License-Identifier: Apache-2.0 */
/* hand: a thread of lowest priority for work that takes long. It never holds a lock, because other
 * threads would wait for the lock while it gets no CPU. */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>

struct zerod_hand {
    sem_t begun, ended;
    void (*work)(void *arg);
    void *arg;
    bool stop;
    pthread_t thread;
};

/* 0 or -errno. */
int zerod_hand_start(struct zerod_hand *hand);
/* The hand calls work(arg) while the caller waits; where `hand` is NULL the caller does it. */
void zerod_hand_do(struct zerod_hand *hand, void (*work)(void *arg), void *arg);
void zerod_hand_end(struct zerod_hand *hand);
