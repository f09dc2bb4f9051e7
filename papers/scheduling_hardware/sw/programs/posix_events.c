/* SPDX-License-Identifier: Apache-2.0 */
/* Cancellation and signals. */
#include "conformance.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <unistd.h>

static sem_t ready, go, never;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static volatile int trail, arrived;
static pthread_t joined;

static void leave_trail(void *digit)
{
    trail = 10 * trail + (int)(intptr_t)digit;
}

static void unlock(void *argument)
{
    leave_trail(argument);
    pthread_mutex_unlock(&mutex);
}

/* The value of a thread that is cancelled when it has posted `ready`. */
static void *value_of_cancelled(void *(*function)(void *))
{
    pthread_t thread;
    void *value = NULL;

    trail = 0;
    sem_init(&go, 0, 0);
    pthread_create(&thread, NULL, function, NULL);
    sem_wait(&ready);
    pthread_cancel(thread);
    sem_post(&go);
    pthread_join(thread, &value);
    return value;
}

static void *sleeps(void *argument)
{
    pthread_cleanup_push(leave_trail, (void *)1);
    pthread_cleanup_push(leave_trail, (void *)2);
    pthread_cleanup_push(leave_trail, (void *)3);
    pthread_cleanup_pop(1);
    sem_post(&ready);
    sleep(100);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return argument;
}

static void *waits_for_semaphore(void *argument)
{
    sem_post(&ready);
    sem_wait(&never);
    return argument;
}

static void *waits_for_condition(void *argument)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, (void *)4);
    sem_post(&ready);
    for (;;)
        pthread_cond_wait(&cond, &mutex);
    pthread_cleanup_pop(0);
    return argument;
}

static void *waits_on(void *argument)
{
    sem_wait(&never);
    return argument;
}

static void *joins(void *argument)
{
    pthread_t other;

    pthread_create(&other, NULL, waits_on, NULL);
    joined = other;
    sem_post(&ready);
    pthread_cleanup_push(leave_trail, (void *)5);
    pthread_join(other, NULL);
    pthread_testcancel();
    pthread_cleanup_pop(0);
    return argument;
}

static void *puts_off(void *argument)
{
    int old = -1;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    trail = old == PTHREAD_CANCEL_ENABLE;
    sem_post(&ready);
    sem_wait(&go);
    pthread_testcancel();
    trail = 10 * trail + 2;
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    pthread_testcancel();
    trail = 9;
    return argument;
}

static void *waits_for_mutex(void *argument)
{
    pthread_cleanup_push(leave_trail, (void *)6);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&ready);
    pthread_mutex_lock(&mutex);
    pthread_cleanup_pop(0);
    return argument;
}

static void *yields(void *argument)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&ready);
    for (;;)
        sched_yield();
    return argument;
}

static void *exits(void *argument)
{
    pthread_cleanup_push(leave_trail, (void *)1);
    pthread_cleanup_push(leave_trail, (void *)2);
    pthread_exit(argument);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void once_cancelled(void)
{
    arrived++;
    if (arrived == 1) {
        sem_post(&ready);
        sleep(100);
    }
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *calls_once(void *argument)
{
    pthread_once(&once, once_cancelled);
    return argument;
}

void check_cancellation(void)
{
    pthread_t thread;
    void *value = NULL;

    sem_init(&ready, 0, 0);
    sem_init(&never, 0, 0);
    check(value_of_cancelled(sleeps) == PTHREAD_CANCELED && trail == 321,
          "a sleeping thread is cancelled; its handlers run, the last first");
    check(value_of_cancelled(waits_for_semaphore) == PTHREAD_CANCELED, "at a semaphore");
    check(value_of_cancelled(waits_for_condition) == PTHREAD_CANCELED && trail == 4,
          "at a condition");
    check(pthread_mutex_trylock(&mutex) == 0, "whose mutex the handler had");
    check(value_of_cancelled(joins) == PTHREAD_CANCELED && trail == 5, "in a join");
    sem_post(&never);
    check(pthread_join(joined, NULL) == 0, "of a thread that can still be joined");
    trail = 0;
    check(value_of_cancelled(puts_off) == PTHREAD_CANCELED && trail == 12,
          "when it allows it again");
    check(value_of_cancelled(waits_for_mutex) == PTHREAD_CANCELED && trail == 6,
          "of asynchronous type, at a mutex");
    check(value_of_cancelled(yields) == PTHREAD_CANCELED, "and yielding");
    pthread_mutex_unlock(&mutex);
    trail = 0;
    pthread_create(&thread, NULL, exits, &ready);
    pthread_join(thread, &value);
    check(value == &ready && trail == 21, "an exit calls the handlers, too");
    arrived = 0;
    check(value_of_cancelled(calls_once) == PTHREAD_CANCELED, "in what is done once");
    check(pthread_once(&once, once_cancelled) == 0 && arrived == 2, "which was then not done");
    check(pthread_setcancelstate(99, NULL) == EINVAL && pthread_setcanceltype(99, NULL) == EINVAL,
          "only in ways that there are");
}

static volatile int handled, handled_by_other;
static volatile bool finished;
static pthread_t main_thread;

static void handle(int signal)
{
    handled = signal;
    handled_by_other = !pthread_equal(pthread_self(), main_thread);
}

static void post(int signal)
{
    (void)signal;
    sem_post(&never);
}

static void on_signal(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_flags = flags};

    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static void *is_interrupted(void *argument)
{
    intptr_t result;

    sem_post(&ready);
    result = sem_wait(&never) == -1 && errno == EINTR;
    finished = true;
    (void)argument;
    return (void *)result;
}

static void *is_not_interrupted(void *argument)
{
    intptr_t result;

    sem_post(&ready);
    result = sem_wait(&never) == 0 && argument == NULL;
    finished = true;
    return (void *)result;
}

static void *locks(void *argument)
{
    sem_post(&ready);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return argument;
}

static void *comes_to_barrier(void *argument)
{
    sem_post(&ready);
    pthread_barrier_wait(&barrier);
    return argument;
}

static void *takes_signal(void *argument)
{
    sigset_t set;
    int signal = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sem_post(&ready);
    sigwait(&set, &signal);
    (void)argument;
    return (void *)(intptr_t)signal;
}

static void *has_mask(void *argument)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    (void)argument;
    return (void *)(intptr_t)(sigismember(&mask, SIGUSR2) == 1 && sigismember(&mask, SIGUSR1) == 0);
}

static intptr_t signalled(void *(*function)(void *), int signal)
{
    pthread_t thread;
    void *value = NULL;

    handled = 0;
    finished = false;
    pthread_create(&thread, NULL, function, NULL);
    sem_wait(&ready);
    /* The first one may come before the thread waits. */
    while (!finished) {
        usleep(200);
        pthread_kill(thread, signal);
    }
    pthread_join(thread, &value);
    return (intptr_t)value;
}

static void check_waits(void)
{
    pthread_t thread;

    on_signal(SIGUSR1, handle, 0);
    check(signalled(is_interrupted, SIGUSR1) && handled == SIGUSR1 && handled_by_other,
          "a signal to a thread is handled by it, and ends its wait");
    on_signal(SIGUSR1, post, SA_RESTART);
    check(signalled(is_not_interrupted, SIGUSR1), "not with SA_RESTART");
    on_signal(SIGUSR1, handle, 0);
    handled = 0;
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, locks, NULL);
    sem_wait(&ready);
    usleep(200);
    pthread_kill(thread, SIGUSR1);
    for (int at = 0; at < 10000 && handled == 0; at++)
        usleep(100);
    check(handled == SIGUSR1, "one who waits for a mutex handles it");
    pthread_mutex_unlock(&mutex);
    check(pthread_join(thread, NULL) == 0, "and goes on waiting");
    handled = 0;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, comes_to_barrier, NULL);
    sem_wait(&ready);
    usleep(200);
    pthread_kill(thread, SIGUSR1);
    for (int at = 0; at < 10000 && handled == 0; at++)
        usleep(100);
    check(handled == SIGUSR1, "so at a barrier");
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
}

static void check_masks(void)
{
    sigset_t set, mask;
    pthread_t thread;
    void *value = NULL;
    int signal = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    check(pthread_sigmask(SIG_BLOCK, &set, &mask) == 0 && !sigismember(&mask, SIGUSR2),
          "a signal is blocked");
    on_signal(SIGUSR2, handle, 0);
    handled = 0;
    kill(getpid(), SIGUSR2);
    sigpending(&mask);
    check(handled == 0 && sigismember(&mask, SIGUSR2), "and pending");
    check(sigwait(&set, &signal) == 0 && signal == SIGUSR2 && handled == 0, "until it is awaited");
    sigpending(&mask);
    check(!sigismember(&mask, SIGUSR2), "then not any more");
    pthread_create(&thread, NULL, has_mask, NULL);
    pthread_join(thread, &value);
    check(value != NULL, "a new thread has its creator's mask");
    pthread_create(&thread, NULL, takes_signal, NULL);
    sem_wait(&ready);
    kill(getpid(), SIGUSR2);
    pthread_join(thread, &value);
    check((intptr_t)value == SIGUSR2, "a signal to the program goes to who waits for it");
    raise(SIGUSR2);
    check(pthread_sigmask(SIG_SETMASK, &(sigset_t){0}, NULL) == 0 && handled == SIGUSR2 &&
              !handled_by_other,
          "one that is not blocked any more is handled at once");
    check(pthread_sigmask(99, &set, NULL) == EINVAL, "there are three ways to set a mask");
}

static sigjmp_buf place;
static jmp_buf nearby;
static volatile int jumps = 1;

static void jump(int signal)
{
    siglongjmp(place, signal);
}

static void jump_back(int depth)
{
    volatile char frame[64];

    frame[depth % 64] = (char)depth;
    if (depth > 0)
        jump_back(depth - 1);
    else if (jumps)
        longjmp(nearby, 0);
    frame[0]++;
}

static void check_jumps(void)
{
    volatile int kept = 1;
    sigset_t mask;
    int came;

    came = setjmp(nearby);
    if (came == 0) {
        kept = 2;
        jump_back(5);
    }
    check(came == 1 && kept == 2, "a jump out of five calls; a value of 0 is 1");
    on_signal(SIGUSR1, jump, 0);
    came = sigsetjmp(place, 1);
    if (came == 0)
        raise(SIGUSR1);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    check(came == SIGUSR1 && !sigismember(&mask, SIGUSR1),
          "a jump out of a handler, with the mask of before");
    on_signal(SIGUSR1, SIG_IGN, 0);
    check(raise(SIGUSR1) == 0, "a signal is ignored");
    on_signal(SIGUSR1, handle, (int)SA_RESETHAND);
    handled = 0;
    raise(SIGUSR1);
    check(handled == SIGUSR1, "is handled once");
    {
        struct sigaction action;

        sigaction(SIGUSR1, NULL, &action);
        check(action.sa_handler == SIG_DFL, "if that was asked for");
    }
    check(sigaction(SIGKILL, &(struct sigaction){.sa_flags = 0}, NULL) == -1 && errno == EINVAL,
          "never one");
    check(pthread_kill(pthread_self(), 0) == 0 && pthread_kill(pthread_self(), 999) == EINVAL,
          "if there is such a signal");
    on_signal(SIGALRM, handle, 0);
    handled = 0;
    alarm(1);
    check(alarm(0) == 1 && handled == 0, "an alarm is taken back");
}

void check_signals(void)
{
    main_thread = pthread_self();
    check_waits();
    check_masks();
    check_jumps();
}
