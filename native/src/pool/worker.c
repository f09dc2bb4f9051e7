/* SPDX-License-Identifier: Apache-2.0 */
/* worker: the thread that clears while a CPU is idle. It runs under SCHED_IDLE; on a busy machine
 * nothing is cleared, take finds nothing, and the program asks the kernel as it would have done
 * without the pool. */
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* After its last work the worker looks again every NAP for the time DOZE, so that giving a block
 * needs no system call while a program gives and takes; then it sleeps until it is woken. */
#define NAP_NS UINT64_C(200000)
#define DOZE_NS UINT64_C(100000000)
/* If the worker waits for a CPU this long in all, from its start, within one unit or one nap, then
 * no CPU idles: a wake-up on an idle one takes a twentieth of this. */
#define LATE_NS UINT64_C(1000000)
/* The program's thread, too, waits for a CPU if it waited LATE_NS and this fraction of its time. */
#define LATE_SHARE 20
#define STAND_BACK_LEAST_NS UINT64_C(10000000)
#define STAND_BACK_MOST_NS UINT64_C(640000000)

/* Call with the lock held. */
static void wait_until(struct okosu_zero_pool *pool, uint64_t ns)
{
    struct timespec t = okosu_timespec(ns);

    pthread_cond_timedwait(&pool->work, &pool->lock, &t);
}

/* Call with the lock held: `bytes` were made clean; wait as long as the rate demands. */
static void hold_rate(struct okosu_zero_pool *pool, uint64_t *next, size_t bytes)
{
    uint64_t now = okosu_now();

    if (!pool->options.rate || !bytes)
        return;
    /* Time in which less than the rate was cleared gives no credit for later. */
    if (*next < now)
        *next = now;
    *next += (uint64_t)((double)bytes / (double)pool->options.rate * (double)OKOSU_NS_PER_S);
    while (!pool->stop && okosu_now() < *next)
        wait_until(pool, *next);
}

/* Its own processor time. */
static uint64_t used_ns(void)
{
    return okosu_now_of(CLOCK_THREAD_CPUTIME_ID);
}

/* Call with the lock held: end the worker, and start no new one for a while that grows each
 * time. */
static void stand_back(struct okosu_zero_pool *pool)
{
    pool->away_ns = pool->away_ns ? 2 * pool->away_ns : STAND_BACK_LEAST_NS;
    if (pool->away_ns > STAND_BACK_MOST_NS)
        pool->away_ns = STAND_BACK_MOST_NS;
    atomic_store(&pool->away_until, okosu_now() + pool->away_ns);
    atomic_fetch_add(&pool->waits, 1);
}

/* Call with the lock held: whether the work since `began` had to wait for a CPU. */
static bool was_late(const struct okosu_zero_pool *pool, uint64_t began, uint64_t used)
{
    return pool->options.stand_back && okosu_now() - began > used_ns() - used + LATE_NS;
}

/* Call with the lock held: whether the calling thread, which is the program's, had to wait for a
 * CPU since the last call. Where the kernel does not tell, it is taken not to have waited. */
static bool program_waits(struct okosu_zero_pool *pool)
{
    unsigned long long ran = 0, waited = 0, since_ran, since_waited;
    long thread = syscall(SYS_gettid);
    char text[80];
    int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;

    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    if (sscanf(text, "%llu %llu", &ran, &waited) != 2)
        return false;
    since_ran = thread == pool->looked ? ran - pool->ran : ran;
    since_waited = thread == pool->looked ? waited - pool->waited : waited;
    pool->looked = thread;
    pool->ran = ran;
    pool->waited = waited;
    return since_waited > LATE_NS && since_waited * LATE_SHARE > since_ran + since_waited;
}

/* Call with the lock held. There has been nothing to do since `idle_from`, and there is nothing
 * before `until` unless the worker is woken. False: end the thread. */
static bool rest(struct okosu_zero_pool *pool, uint64_t idle_from, uint64_t until)
{
    uint64_t now = okosu_now(), used = used_ns();

    if (now - idle_from <= DOZE_NS) {
        wait_until(pool, now + NAP_NS);
        if (!was_late(pool, now + NAP_NS, used))
            return true;
        stand_back(pool);
        return false;
    }
    /* A process ends only when all its threads have ended, and a thread of lowest priority may take
     * long to. */
    if (pool->options.stand_back)
        return false;
    atomic_store(&pool->asleep, true);
    /* A thread that took or gave a block before `asleep` was set has not woken the worker, so
     * the worker looks once more. */
    if (!okosu_pool_has_work(pool, &until)) {
        if (until)
            wait_until(pool, until);
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    atomic_store(&pool->asleep, false);
    return true;
}

/* A program must not wait for a thread of lowest priority, so this only tries the lock: if it is
 * taken, a thread is in the pool already, and a sleeping worker that misses this call sees the work
 * at the next one. */
void okosu_pool_wake(struct okosu_zero_pool *pool)
{
    uint64_t until;
    int cancel;

    if (!atomic_load(&pool->asleep))
        return;
    if (pool->options.stand_back && okosu_now() < atomic_load(&pool->away_until))
        return;
    /* The caller may have been cancelled, and must not end while it holds the lock. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (pthread_mutex_trylock(&pool->lock))
        goto out;
    if (!pool->options.stand_back)
        pthread_cond_signal(&pool->work);
    else if (!pool->has_worker && !pool->stop && okosu_pool_has_work(pool, &until)) {
        if (program_waits(pool) || okosu_pool_start(pool))
            stand_back(pool);
    }
    pthread_mutex_unlock(&pool->lock);
out:
    pthread_setcancelstate(cancel, NULL);
}

/* Call with the lock held: do one unit of the work there is. False: end the thread. */
static bool work(struct okosu_zero_pool *pool, uint64_t *next)
{
    uint64_t began = okosu_now(), used = used_ns();
    bool did;
    size_t cleaned = okosu_pool_step(pool, &did);

    if (was_late(pool, began, used)) {
        stand_back(pool);
        return false;
    }
    pool->away_ns /= 2;
    hold_rate(pool, next, cleaned);
    return true;
}

/* A thread that was joined, or has detached itself, is one of the process's for a moment more, or
 * as long as it gets no CPU. */
static void wait_for_end(pid_t thread)
{
    const struct timespec moment = {.tv_nsec = 100000};

    for (int i = 0; thread && i < 10000 && !syscall(SYS_tgkill, getpid(), thread, 0); i++)
        nanosleep(&moment, NULL);
}

static void *run(void *arg)
{
    struct okosu_zero_pool *pool = arg;
    struct sched_param param = {0};
    uint64_t next = 0, until, worked = okosu_now();
    bool stays;

    /* Some sandboxes refuse SCHED_IDLE; the worker then has ordinary priority. */
    sched_setscheduler(0, SCHED_IDLE, &param);
    wait_for_end(pool->worker_id);
    pool->worker_id = (pid_t)syscall(SYS_gettid);
    pthread_setname_np(pthread_self(), "okosu-zero");
    pthread_mutex_lock(&pool->lock);
    stays = !was_late(pool, pool->started, 0);
    if (!stays)
        stand_back(pool);
    while (stays && !pool->stop) {
        if (okosu_pool_has_work(pool, &until)) {
            stays = work(pool, &next);
            worked = okosu_now();
        } else {
            stays = rest(pool, worked, until);
        }
    }
    if (!pool->stop) {
        pthread_detach(pthread_self());
        pool->has_worker = false;
        atomic_store(&pool->asleep, true);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* The worker blocks all signals: the program's handlers expect to run on the program's own
 * threads. */
int okosu_pool_start(struct okosu_zero_pool *pool)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pool->started = okosu_now();
    error = pthread_create(&pool->worker, NULL, run, pool);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->has_worker = !error;
    atomic_store(&pool->asleep, error != 0);
    return -error;
}

void okosu_pool_end(struct okosu_zero_pool *pool)
{
    bool joins;

    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    joins = pool->has_worker;
    pthread_cond_signal(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    if (joins)
        pthread_join(pool->worker, NULL);
    pool->has_worker = false;
    wait_for_end(pool->worker_id);
}
