/* SPDX-License-Identifier: Apache-2.0 */
/* hand: a single thread under SCHED_IDLE. */
#include "hand.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore))
        ;
}

static void *run(void *arg)
{
    struct zerod_hand *hand = arg;
    struct sched_param param = {0};

    /* Some sandboxes refuse SCHED_IDLE; the thread then has ordinary priority. */
    sched_setscheduler(0, SCHED_IDLE, &param);
    pthread_setname_np(pthread_self(), "zerod-hand");
    for (;;) {
        wait_for(&hand->begun);
        if (hand->stop)
            return NULL;
        hand->work(hand->arg);
        sem_post(&hand->ended);
    }
}

int zerod_hand_start(struct zerod_hand *hand)
{
    sigset_t all, before;
    int error;

    *hand = (struct zerod_hand){.stop = false};
    sem_init(&hand->begun, 0, 0);
    sem_init(&hand->ended, 0, 0);
    sigfillset(&all);
    /* SIGBUS stays unblocked, because the thread may touch pages that a client took away
     * (guard.c). */
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&hand->thread, NULL, run, hand);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

void zerod_hand_do(struct zerod_hand *hand, void (*work)(void *arg), void *arg)
{
    if (!hand) {
        work(arg);
        return;
    }
    hand->work = work;
    hand->arg = arg;
    sem_post(&hand->begun);
    wait_for(&hand->ended);
}

void zerod_hand_end(struct zerod_hand *hand)
{
    hand->stop = true;
    sem_post(&hand->begun);
    pthread_join(hand->thread, NULL);
    sem_destroy(&hand->begun);
    sem_destroy(&hand->ended);
}
