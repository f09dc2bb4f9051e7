/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: actions, masks, and who gets them. signal.h says when they are delivered. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "deadline.h"
#include "events.h"

enum { KILLED_STATUS = 128, THREADS = 256, PROCESS = 1 };

#define BIT(signal) (1ul << (signal))
#define NOT_BLOCKED (BIT(SIGKILL) | BIT(SIGSTOP))
/* What does nothing unless it is handled; nothing stops, and so nothing goes on either. */
#define IGNORED                                                                                    \
    (BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) |     \
     BIT(SIGURG) | BIT(SIGWINCH))

static struct sigaction actions[NSIG];
/* Of each signal: whether it came from kill(), not from a thread; for siginfo_t. */
static volatile unsigned from_kill;

static bool is_signal(int signal)
{
    return signal > 0 && signal < NSIG;
}

static int failed(int error)
{
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

static bool is_ignored(int signal)
{
    if (actions[signal].sa_handler == SIG_IGN)
        return true;
    return actions[signal].sa_handler == SIG_DFL && (IGNORED & BIT(signal)) != 0;
}

/* Takes the lowest of the signals that is pending for the thread or for the program; 0: another
 * thread was faster. */
static int take(struct events *events, unsigned signals)
{
    int signal = 0;

    events_lock();
    signals &= events->pending | events_of_process;
    if (signals != 0) {
        signal = __builtin_ctz(signals);
        if ((events->pending & BIT(signal)) != 0)
            events->pending &= ~BIT(signal);
        else
            events_of_process &= ~BIT(signal);
    }
    events_unlock();
    return signal;
}

bool signals_handle(struct events *events, unsigned signals)
{
    int signal = take(events, signals), error = errno;
    sigset_t mask = events->mask;
    struct sigaction action;
    siginfo_t information = {.si_signo = signal, .si_pid = PROCESS};

    if (signal == 0 || is_ignored(signal))
        return false;
    action = actions[signal];
    if (action.sa_handler == SIG_DFL)
        _exit(KILLED_STATUS + signal);
    if (((unsigned)action.sa_flags & SA_RESETHAND) != 0)
        actions[signal].sa_handler = SIG_DFL;
    events->mask |= action.sa_mask & ~NOT_BLOCKED;
    if ((action.sa_flags & SA_NODEFER) == 0)
        events->mask |= BIT(signal);
    information.si_code = (from_kill & BIT(signal)) != 0 ? SI_USER : SI_TKILL;
    if ((action.sa_flags & SA_SIGINFO) != 0)
        action.sa_sigaction(signal, &information, NULL);
    else
        action.sa_handler(signal);
    events->mask = mask;
    errno = error;
    return (action.sa_flags & SA_RESTART) == 0;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (!is_signal(signal) || (action != NULL && (BIT(signal) & NOT_BLOCKED) != 0))
        return failed(EINVAL);
    events_lock();
    if (old != NULL)
        *old = actions[signal];
    if (action != NULL) {
        actions[signal] = *action;
        if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
            events_have_handlers = true;
    }
    events_unlock();
    return 0;
}

sighandler_t signal(int signal, sighandler_t handler)
{
    struct sigaction action = {.sa_flags = SA_RESTART}, old;

    action.sa_handler = handler;
    return sigaction(signal, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

int sigemptyset(sigset_t *set)
{
    *set = 0;
    return 0;
}

int sigfillset(sigset_t *set)
{
    *set = ~1ul;
    return 0;
}

int sigaddset(sigset_t *set, int signal)
{
    if (!is_signal(signal))
        return failed(EINVAL);
    *set |= BIT(signal);
    return 0;
}

int sigdelset(sigset_t *set, int signal)
{
    if (!is_signal(signal))
        return failed(EINVAL);
    *set &= ~BIT(signal);
    return 0;
}

int sigismember(const sigset_t *set, int signal)
{
    if (!is_signal(signal))
        return failed(EINVAL);
    return (*set & BIT(signal)) != 0;
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    struct events *events = events_own();
    sigset_t mask = events->mask;

    if (set != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK)
        return EINVAL;
    if (old != NULL)
        *old = mask;
    if (set == NULL)
        return 0;
    if (how == SIG_BLOCK)
        mask |= *set;
    else if (how == SIG_UNBLOCK)
        mask &= ~*set;
    else
        mask = *set;
    events->mask = mask & ~(NOT_BLOCKED | CANCELLATION);
    events_act(false);
    return 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    return failed(pthread_sigmask(how, set, old));
}

int sigpending(sigset_t *set)
{
    const struct events *events = events_own();

    *set = (events->pending | events_of_process) & events->mask;
    return 0;
}

int pthread_kill(pthread_t thread, int signal)
{
    struct events *events;

    if (signal != 0 && !is_signal(signal))
        return EINVAL;
    if (!events_has_thread(thread))
        return ESRCH;
    if (signal == 0)
        return 0;
    if (thread == thread_self())
        events_own();
    events_lock();
    events = events_of(thread);
    from_kill &= ~BIT(signal);
    if (!is_ignored(signal) || (events->mask & BIT(signal)) != 0)
        events->pending |= BIT(signal);
    events_unlock();
    if (thread == thread_self())
        events_act(false);
    else
        events_interrupt(events, thread);
    return 0;
}

int raise(int signal)
{
    return failed(pthread_kill(pthread_self(), signal));
}

/* Who is woken for a signal to the program: one that waits for it, one that waits for something
 * else, or any that does not block it (and will come to the signal sooner or later). NULL: all
 * block it. With the lock held. */
static struct events *taker_of(unsigned signals)
{
    struct events *found = NULL;

    for (unsigned id = 0; id < THREADS; id++) {
        struct events *events = events_by_id(id);

        if (events == NULL)
            continue;
        if ((events->awaited & signals) != 0)
            return events;
        if ((signals & ~events->mask) != 0 && (found == NULL || (found->waits & 1) == 0))
            found = events;
    }
    return found;
}

/* An ignored signal stays pending only for sigwait(). */
static bool is_blocked_by_all(int signal)
{
    const struct events *taker = taker_of(BIT(signal));

    return taker == NULL || (taker->awaited & BIT(signal)) != 0;
}

/* Wakes a thread for what is pending for the program. */
void signals_pass_on(void)
{
    struct events *taker;
    unsigned handle = 0;

    events_lock();
    taker = taker_of(events_of_process);
    if (taker != NULL)
        handle = taker->handle;
    events_unlock();
    if (taker != NULL && handle != thread_self())
        events_interrupt(taker, handle);
}

int kill(pid_t process, int signal)
{
    if (signal != 0 && !is_signal(signal))
        return failed(EINVAL);
    if (process != getpid() && process != 0)
        return failed(ESRCH);
    if (signal == 0)
        return 0;
    events_own();
    events_lock();
    from_kill |= BIT(signal);
    if (!is_ignored(signal) || is_blocked_by_all(signal))
        events_of_process |= BIT(signal);
    events_unlock();
    /* If the caller does not block it, it has been delivered when kill() returns. */
    events_act(false);
    if ((events_of_process & BIT(signal)) != 0)
        signals_pass_on();
    return 0;
}

/* Wait for one of a set of signals, which it returns, 0 if a handler ran, -1 if the time is over. */
static int await(sigset_t set, uint64_t deadline)
{
    struct events *events = events_own();
    volatile unsigned nothing = 0;
    bool interrupted = false;
    int signal = 0;

    events->awaited = set;
    while (!interrupted && (signal = take(events, set)) == 0) {
        int error = events_wait(&nothing, 0, deadline, true);

        if (error == ETIMEDOUT ||
            (error == EAGAIN && deadline != NO_DEADLINE && cycle_now() >= deadline)) {
            signal = -1;
            break;
        }
        if (error == EAGAIN)
            thread_yield();
        /* Those of the set are taken, not handled, even if they are not blocked. */
        events->mask |= set;
        interrupted = events_act(true);
    }
    events->awaited = 0;
    return signal;
}

/* await() with the mask of before behind it, cancelled or not. */
static void put_mask_back(void *mask)
{
    struct events *events = events_own();

    events->awaited = 0;
    events->mask = *(sigset_t *)mask;
}

static int await_masked(sigset_t set, uint64_t deadline)
{
    sigset_t mask = events_own()->mask;
    int signal;

    pthread_cleanup_push(put_mask_back, &mask);
    signal = await(set, deadline);
    pthread_cleanup_pop(1);
    return signal;
}

int sigwait(const sigset_t *set, int *signal)
{
    int taken;

    act_at_point();
    /* A handler of another signal does not end it. */
    while ((taken = await_masked(*set & ~1ul, NO_DEADLINE)) <= 0)
        ;
    *signal = taken;
    return 0;
}

int sigtimedwait(const sigset_t *set, siginfo_t *information, const struct timespec *span)
{
    uint64_t deadline = NO_DEADLINE, end;
    int signal;

    act_at_point();
    if (span != NULL) {
        if (deadline_of(span, &deadline) != 0)
            return failed(EINVAL);
        end = cycle_now();
        deadline += end;
    }
    signal = await_masked(*set & ~1ul, deadline);
    if (signal <= 0)
        return failed(signal == 0 ? EINTR : EAGAIN);
    if (information != NULL)
        *information = (siginfo_t){
            .si_signo = signal,
            .si_code = (from_kill & BIT(signal)) != 0 ? SI_USER : SI_TKILL,
            .si_pid = PROCESS,
        };
    return signal;
}

int sigwaitinfo(const sigset_t *set, siginfo_t *information)
{
    return sigtimedwait(set, information, NULL);
}

/* Until a handler has run. */
static int suspend(void)
{
    volatile unsigned nothing = 0;

    while (!events_act(true))
        if (events_wait(&nothing, 0, NO_DEADLINE, true) == EAGAIN)
            thread_yield();
    return failed(EINTR);
}

int sigsuspend(const sigset_t *mask)
{
    struct events *events = events_own();
    sigset_t before = events->mask;

    events->mask = *mask & ~(NOT_BLOCKED | CANCELLATION);
    pthread_cleanup_push(put_mask_back, &before);
    suspend();
    pthread_cleanup_pop(1);
    return failed(EINTR);
}

int pause(void)
{
    return suspend();
}

void okosu_save_mask(sigjmp_buf environment, int save)
{
    environment->has_mask = save;
    if (save)
        environment->mask = events_own()->mask;
}

void siglongjmp(sigjmp_buf environment, int value)
{
    if (environment->has_mask)
        events_own()->mask = environment->mask;
    longjmp(environment, value);
}

/* alarm(): a thread that sleeps until then. It ends when there is nothing to wait for, so that it
 * does not keep alive a program whose other threads have ended. */
static struct {
    volatile unsigned sequence;
    bool runs;
    uint64_t deadline;
} alarm_state;

static void *ring(void *argument)
{
    (void)argument;
    for (;;) {
        unsigned sequence = alarm_state.sequence;
        uint64_t deadline;
        bool due;

        events_lock();
        deadline = alarm_state.deadline;
        due = deadline != NO_DEADLINE && cycle_now() >= deadline;
        if (due)
            alarm_state.deadline = NO_DEADLINE;
        alarm_state.runs = !due && deadline != NO_DEADLINE;
        events_unlock();
        if (due)
            kill(PROCESS, SIGALRM);
        if (due || deadline == NO_DEADLINE)
            return NULL;
        if (word_wait(&alarm_state.sequence, sequence, deadline) == EAGAIN)
            thread_yield();
    }
}

unsigned alarm(unsigned seconds)
{
    const struct timespec span = {.tv_sec = seconds};
    uint64_t now = cycle_now(), deadline = NO_DEADLINE, before;
    bool starts;

    if (seconds != 0) {
        deadline_of(&span, &deadline);
        deadline += now;
    }
    events_lock();
    before = alarm_state.deadline;
    alarm_state.deadline = deadline;
    starts = seconds != 0 && !alarm_state.runs;
    if (starts)
        alarm_state.runs = true;
    events_unlock();
    word_wake_all(&alarm_state.sequence, alarm_state.sequence + 1);
    if (starts) {
        pthread_t thread;
        pthread_attr_t attr;
        sigset_t mask = events_own()->mask;

        pthread_attr_init(&attr);
        pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
        events_own()->mask = ~(NOT_BLOCKED | CANCELLATION);
        /* POSIX gives alarm() no error; where no thread is left, no alarm comes. */
        if (pthread_create(&thread, &attr, ring, NULL) != 0)
            alarm_state.runs = false;
        events_own()->mask = mask;
    }
    if (before == NO_DEADLINE || before <= now)
        return 0;
    return (unsigned)time_of_cycles(before - now).tv_sec + 1;
}

void abort(void)
{
    if (actions[SIGABRT].sa_handler != SIG_DFL)
        raise(SIGABRT);
    fputs("okosu: abort called\n", stderr);
    _exit(KILLED_STATUS + SIGABRT);
}
