/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that are legal and could tell a thread that was used before from a new one. Each case
 * ends with status 0 where it finds what POSIX and glibc promise; argv[1] names it. */
#include "threads.h"

#include <errno.h>
#include <fenv.h>
#include <limits.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define ROUNDS 200
static void results(void)
{
    pthread_t threads[8];

    for (intptr_t round = 0; round < ROUNDS; round++) {
        for (intptr_t i = 0; i < 8; i++)
            threads[i] = start(same, (void *)(round * 8 + i));
        for (intptr_t i = 0; i < 8; i++)
            CHECK(join(threads[i]) == (void *)(round * 8 + i));
    }
}

static __thread int counted, seeded = 7;
static __thread char large[3000];

static void *touch(void *arg)
{
    CHECK(counted == 0 && seeded == 7 && errno == 0 && large[2999] == 0);
    CHECK(uselocale(NULL) == LC_GLOBAL_LOCALE);
    counted = 1;
    seeded = 2;
    errno = 5;
    large[2999] = 1;
    uselocale(newlocale(LC_ALL_MASK, "C", NULL));
    return arg;
}

static void variables(void)
{
    for (int i = 0; i < ROUNDS; i++)
        join(start(touch, NULL));
}

static pthread_key_t plain, destroyed, again;
static int destructions, repeats;

static void destroy(void *value)
{
    CHECK(value == &destructions && pthread_getspecific(destroyed) == NULL);
    destructions++;
}

static void repeat(void *value)
{
    repeats++;
    pthread_setspecific(again, value);
}

static void *set_keys(void *arg)
{
    CHECK(!pthread_getspecific(plain) && !pthread_getspecific(destroyed));
    CHECK(!pthread_getspecific(again));
    pthread_setspecific(plain, &repeats);
    pthread_setspecific(destroyed, &destructions);
    pthread_setspecific(again, &repeats);
    return arg;
}

static void keys(void)
{
    CHECK(!pthread_key_create(&plain, NULL) && !pthread_key_create(&destroyed, destroy));
    for (int i = 0; i < 50; i++) /* beyond those that lie in the thread's own block */
        CHECK(!pthread_key_create(&again, repeat));
    for (int i = 0; i < ROUNDS; i++) {
        join(start(set_keys, NULL));
        CHECK(destructions == i + 1 && repeats == PTHREAD_DESTRUCTOR_ITERATIONS * (i + 1));
    }
}

static void *leave_by_exit(void *arg)
{
    pthread_exit(arg);
}

static void *sleep_long(void *arg)
{
    pause();
    return arg;
}

static void *is_cancelled_later(void *arg)
{
    (void)arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    return NULL;
}

static void *tests_cancel(void *arg)
{
    int state, type;

    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    CHECK(state == PTHREAD_CANCEL_ENABLE && type == PTHREAD_CANCEL_DEFERRED);
    for (int i = 0; i < 100; i++)
        pthread_testcancel();
    return arg;
}

static void ends(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;

        CHECK(join(start(leave_by_exit, &thread)) == &thread);
        thread = start(sleep_long, NULL);
        CHECK(pthread_cancel(thread) == 0);
        CHECK(join(thread) == PTHREAD_CANCELED);
        thread = start(is_cancelled_later, NULL);
        CHECK(pthread_cancel(thread) == 0);
        join(thread);
        CHECK(join(start(tests_cancel, &thread)) == &thread);
    }
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled = signal;
}

static void *blocks_and_gets(void *arg)
{
    sigset_t set;

    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_kill(pthread_self(), SIGUSR1);
    return arg;
}

static void *sees_mask(void *arg)
{
    sigset_t set, *wanted = arg;

    pthread_sigmask(SIG_BLOCK, NULL, &set);
    for (int i = 1; i < 32; i++)
        CHECK(sigismember(&set, i) == sigismember(wanted, i));
    CHECK(!handled);
    return NULL;
}

static void signals(void)
{
    sigset_t mask;

    signal(SIGUSR1, handle);
    for (int i = 0; i < ROUNDS; i++) {
        sigemptyset(&mask);
        if (i & 1)
            sigaddset(&mask, SIGHUP);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
        join(start(blocks_and_gets, NULL));
        join(start(sees_mask, &mask));
    }
    /* A finished thread can still be named. */
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread = start(same, NULL);
        int err = pthread_kill(thread, 0);

        CHECK(err == 0 || err == ESRCH);
        usleep(i & 1 ? 1 : 200);
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        join(thread);
        handled = 0;
    }
}

static void *sees_rounding(void *arg)
{
    CHECK(fegetround() == (int)(intptr_t)arg);
    fesetround(FE_UPWARD);
    return NULL;
}

static void rounding(void)
{
    static const int modes[] = {FE_TONEAREST, FE_DOWNWARD, FE_TOWARDZERO};

    for (int i = 0; i < ROUNDS; i++) {
        fesetround(modes[i % 3]);
        join(start(sees_rounding, (void *)(intptr_t)modes[i % 3]));
    }
}

static pthread_mutex_t robust;

static void *dies_with_mutex(void *arg)
{
    CHECK(pthread_mutex_lock(&robust) == 0);
    return arg;
}

static void robustness(void)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    for (int i = 0; i < ROUNDS; i++) {
        join(start(dies_with_mutex, NULL));
        CHECK(pthread_mutex_lock(&robust) == EOWNERDEAD);
        CHECK(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
    }
}

static void *joins_itself(void *arg)
{
    CHECK(pthread_join(pthread_self(), NULL) == EDEADLK);
    return arg;
}

static void *detaches_itself(void *arg)
{
    pthread_attr_t attr;
    int state;

    CHECK(pthread_detach(pthread_self()) == 0);
    CHECK(pthread_getattr_np(pthread_self(), &attr) == 0);
    CHECK(pthread_attr_getdetachstate(&attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED);
    pthread_attr_destroy(&attr);
    CHECK(pthread_join(pthread_self(), NULL) == EINVAL);
    return arg;
}

static void *waits_for(void *arg)
{
    pthread_join(*(pthread_t *)arg, NULL);
    return arg;
}

static void joins(void)
{
    struct timespec past = {0};
    pthread_t thread, waiter;

    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&gate);
        thread = start(passes_gate, &past);
        CHECK(pthread_tryjoin_np(thread, NULL) == EBUSY);
        CHECK(pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT);
        CHECK(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
        waiter = start(waits_for, &thread);
        CHECK(pthread_cancel(waiter) == 0);
        CHECK(join(waiter) == PTHREAD_CANCELED);
        pthread_mutex_unlock(&gate);
        CHECK(join(thread) == &past);
        join(start(joins_itself, NULL));
        start(detaches_itself, NULL);
        thread = start(same, NULL);
        CHECK(pthread_detach(thread) == 0);
    }
}

static void *sees_name(void *arg)
{
    char name[16];

    CHECK(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0 && !strcmp(name, arg));
    pthread_setname_np(pthread_self(), "another");
    return NULL;
}

static void names(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "made by %d", i / 2);
        pthread_setname_np(pthread_self(), name);
        join(start(sees_name, name));
    }
}

static void *forks(void *arg)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(join(start(same, arg)) == arg);
        return arg; /* the last thread of the child: it ends with status 0 */
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return arg;
}

static void forking(void)
{
    for (int i = 0; i < 20; i++) {
        join(start(same, NULL));
        join(start(forks, NULL));
    }
}

static void *sees_clock(void *arg)
{
    struct timespec t;

    CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0);
    CHECK(t.tv_sec == 0 && t.tv_nsec < 20000000);
    for (volatile int i = 0; i < 10000000; i++)
        ;
    return arg;
}

static void clocks(void)
{
    for (int i = 0; i < 5; i++)
        join(start(sees_clock, NULL));
}

static void *ends_late(void *arg)
{
    usleep(20000);
    return arg;
}

/* The process ends with its last thread, with status 0. */
static void first_exits(void)
{
    for (int i = 0; i < 4; i++)
        join(start(same, NULL));
    start(same, NULL);
    start(ends_late, NULL);
    pthread_exit(NULL);
}

static const struct named_case cases[] = {{"results", results},
                                          {"variables", variables},
                                          {"keys", keys},
                                          {"ends", ends},
                                          {"signals", signals},
                                          {"rounding", rounding},
                                          {"robust", robustness},
                                          {"joins", joins},
                                          {"names", names},
                                          {"forking", forking},
                                          {"clocks", clocks},
                                          {"first-exits", first_exits},
                                          {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argv[1]);
}
