/* SPDX-License-Identifier: Apache-2.0 */
/* hand: a thread of lowest priority for work that takes long. It never holds a lock: a thread
 * that holds one and gets no CPU would keep all others waiting. */
#ifndef ZEROD_HAND_H
#define ZEROD_HAND_H

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
/* work(arg) by the hand, while the caller waits; by the caller where `hand` is NULL. */
void zerod_hand_do(struct zerod_hand *hand, void (*work)(void *arg), void *arg);
void zerod_hand_end(struct zerod_hand *hand);

#endif
