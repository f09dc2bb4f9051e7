/* SPDX-License-Identifier: Apache-2.0 */
/* worker: the thread that clears while a CPU has nothing else to do. Under SCHED_IDLE it runs where
 * nobody else wants to; on a busy machine nothing is cleared, take finds nothing, and the program
 * asks the kernel as it would have. */
#include "pool/pool.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define NS_PER_S UINT64_C(1000000000)
/* After its last work the worker looks again every NAP for as long as DOZE, so that giving a block
 * needs no system call while a program gives and takes; then it sleeps until it is woken. */
#define NAP_NS UINT64_C(200000)
#define DOZE_NS UINT64_C(100000000)

/* With the lock held. */
static void wait_until(struct okosu_zero_pool *pool, uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

    pthread_cond_timedwait(&pool->work, &pool->lock, &t);
}

/* With the lock held: `bytes` were made clean; wait as long as that should have taken. */
static void hold_rate(struct okosu_zero_pool *pool, uint64_t *next, size_t bytes)
{
    uint64_t now = okosu_pool_now();

    if (!pool->options.rate || !bytes)
        return;
    /* What was not used of the past is not made up for. */
    if (*next < now)
        *next = now;
    *next += (uint64_t)((double)bytes / (double)pool->options.rate * (double)NS_PER_S);
    while (!pool->stop && okosu_pool_now() < *next)
        wait_until(pool, *next);
}

/* With the lock held: nothing to do since `idle_from`, nor before `until` unless something comes.
 */
static void rest(struct okosu_zero_pool *pool, uint64_t idle_from, uint64_t until)
{
    uint64_t now = okosu_pool_now();

    if (now - idle_from <= DOZE_NS) {
        wait_until(pool, now + NAP_NS);
        return;
    }
    atomic_store(&pool->asleep, true);
    /* Whoever gave a block before it saw that: nobody else comes to wake. */
    if (!atomic_load(&pool->returned)) {
        if (until)
            wait_until(pool, until);
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    atomic_store(&pool->asleep, false);
}

void okosu_pool_wake(struct okosu_zero_pool *pool)
{
    if (!atomic_load(&pool->asleep))
        return;
    /* It sleeps without the lock, and between its look at `returned` and its sleep it holds it. */
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static void *run(void *arg)
{
    struct okosu_zero_pool *pool = arg;
    struct sched_param param = {0};
    uint64_t next = 0, until, worked = okosu_pool_now();
    bool did;

    /* Refused by some sandboxes: then an ordinary thread. */
    sched_setscheduler(0, SCHED_IDLE, &param);
    pthread_setname_np(pthread_self(), "okosu-zero");
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop) {
        okosu_pool_take_in(pool);
        if (okosu_pool_has_work(pool, &until)) {
            hold_rate(pool, &next, okosu_pool_step(pool, &did));
            worked = okosu_pool_now();
        } else {
            rest(pool, worked, until);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* It takes no signals: their handlers are the program's, and expect its threads. */
int okosu_pool_start(struct okosu_zero_pool *pool)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&pool->worker, NULL, run, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->has_worker = !error;
    return -error;
}

void okosu_pool_end(struct okosu_zero_pool *pool)
{
    if (!pool->has_worker)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    pthread_join(pool->worker, NULL);
    pool->has_worker = false;
}
