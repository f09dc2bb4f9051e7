/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points of the lever threads: what makes, joins and signals threads, and what changes a
 * thread so that parked ones would differ from new ones (docs/THREADS.md). */
#include "thread_pool.h"

#include <errno.h>
#include <linux/prctl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>

#include <dlfcn.h>
#include <signal.h>

struct sched_param;

#define next okosu_threads_next

/* Functions that change threads so that the pool then cannot stand in: type, name, parameters,
 * arguments, and the result where libc has no such function. */
#define CLOSING_FUNCTIONS(X)                                                                       \
    X(int, pthread_setaffinity_np, (pthread_t id, size_t size, const cpu_set_t *set),              \
      (id, size, set), ENOSYS)                                                                     \
    X(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *set), (pid, size, set),    \
      -1)                                                                                          \
    X(int, pthread_setschedparam, (pthread_t id, int policy, const struct sched_param *p),         \
      (id, policy, p), ENOSYS)                                                                     \
    X(int, pthread_setschedprio, (pthread_t id, int priority), (id, priority), ENOSYS)             \
    X(int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *p),               \
      (pid, policy, p), -1)                                                                        \
    X(int, sched_setparam, (pid_t pid, const struct sched_param *p), (pid, p), -1)                 \
    X(int, setpriority, (__priority_which_t which, id_t who, int value), (which, who, value), -1)  \
    X(int, nice, (int by), (by), -1)                                                               \
    X(int, unshare, (int flags), (flags), -1)                                                      \
    X(int, setns, (int fd, int type), (fd, type), -1)                                              \
    X(int, capset, (void *header, const void *sets), (header, sets), -1)                           \
    X(int, setfsuid, (uid_t id), (id), -1)                                                         \
    X(int, setfsgid, (gid_t id), (id), -1)                                                         \
    X(int, personality, (unsigned long persona), (persona), -1)                                    \
    X(int, pkey_alloc, (unsigned flags, unsigned rights), (flags, rights), -1)                     \
    X(int, arch_prctl, (int code, unsigned long address), (code, address), -1)                     \
    X(int, ioperm, (unsigned long from, unsigned long count, int on), (from, count, on), -1)       \
    X(int, iopl, (int level), (level), -1)                                                         \
    X(int, pthread_setattr_default_np, (const pthread_attr_t *attr), (attr), EINVAL)               \
    X(int, pthread_getcpuclockid, (pthread_t id, clockid_t * clock), (id, clock), ENOENT)

/* Resolved when the library begins: dlsym must not be called in a signal handler or in a child of
 * fork, where some of these functions are. */
#define BEHIND(type, name, parameters, arguments, missing) type(*name) parameters;
static struct {
    CLOSING_FUNCTIONS(BEHIND)
    int (*pthread_key_create)(pthread_key_t *, void (*)(void *));
    int (*timer_create)(clockid_t, struct sigevent *restrict, timer_t *restrict);
    void *(*__res_state)(void);
} behind;

#define RESOLVE(type, name, parameters, arguments, missing)                                        \
    *(void **)&behind.name = dlsym(RTLD_NEXT, #name);

void okosu_threads_hooks_begin(void)
{
    CLOSING_FUNCTIONS(RESOLVE)
    *(void **)&behind.pthread_key_create = dlsym(RTLD_NEXT, "pthread_key_create");
    *(void **)&behind.timer_create = dlsym(RTLD_NEXT, "timer_create");
    *(void **)&behind.__res_state = dlsym(RTLD_NEXT, "__res_state");
}

/* A library of ours (the worker of prezero) changes only the thread that calls, which is its own. */
static void changes(const void *caller, const char *why)
{
    Dl_info info;
    const char *file;

    okosu_threads_begin();
    if (!okosu_threads_open())
        return;
    file = dladdr(caller, &info) && info.dli_fname ? strrchr(info.dli_fname, '/') : NULL;
    if (file && strncmp(file, "/libokosu-", strlen("/libokosu-")) == 0)
        okosu_thread_spend();
    else
        okosu_threads_close(why, true);
}

#define CLOSING(type, name, parameters, arguments, missing)                                        \
    type name parameters;                                                                          \
    OKOSU_EXPORT type name parameters                                                              \
    {                                                                                              \
        changes(__builtin_return_address(0), "the program called " #name);                         \
        return behind.name ? behind.name arguments : (missing);                                    \
    }

CLOSING_FUNCTIONS(CLOSING)

OKOSU_EXPORT int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attr,
                                void *(*routine)(void *), void *restrict arg)
{
    okosu_threads_begin();
    if (!next.create)
        return EAGAIN;
    return okosu_thread_create(id, attr, routine, arg);
}

OKOSU_EXPORT int pthread_join(pthread_t id, void **result)
{
    struct okosu_thread *thread = okosu_thread_visit(id), *self = okosu_thread_self;
    int err;

    okosu_threads_begin();
    if (thread)
        return okosu_thread_join(thread, id, result, CLOCK_MONOTONIC, NULL, false);
    if (self)
        atomic_store(&self->joins, (uintptr_t)id);
    err = next.join(id, result);
    if (self)
        atomic_store(&self->joins, 0);
    return err;
}

OKOSU_EXPORT int pthread_tryjoin_np(pthread_t id, void **result)
{
    struct okosu_thread *thread = okosu_thread_visit(id);

    okosu_threads_begin();
    if (thread)
        return okosu_thread_join(thread, id, result, CLOCK_MONOTONIC, NULL, true);
    return next.tryjoin(id, result);
}

OKOSU_EXPORT int pthread_timedjoin_np(pthread_t id, void **result, const struct timespec *until)
{
    struct okosu_thread *thread = okosu_thread_visit(id);

    okosu_threads_begin();
    if (thread)
        return okosu_thread_join(thread, id, result, CLOCK_REALTIME, until, false);
    return next.timedjoin(id, result, until);
}

OKOSU_EXPORT int pthread_clockjoin_np(pthread_t id, void **result, clockid_t clock,
                                      const struct timespec *until)
{
    struct okosu_thread *thread;

    okosu_threads_begin();
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return EINVAL;
    thread = okosu_thread_visit(id);
    if (thread)
        return okosu_thread_join(thread, id, result, clock, until, false);
    return next.clockjoin(id, result, clock, until);
}

OKOSU_EXPORT int pthread_detach(pthread_t id)
{
    struct okosu_thread *thread = okosu_thread_visit(id);

    okosu_threads_begin();
    return thread ? okosu_thread_detach(thread, id) : next.detach(id);
}

OKOSU_EXPORT int thrd_detach(thrd_t id)
{
    return pthread_detach(id) ? thrd_error : thrd_success;
}

OKOSU_EXPORT int thrd_join(thrd_t id, int *result)
{
    void *got;

    if (pthread_join(id, &got))
        return thrd_error;
    if (result)
        *result = (int)(intptr_t)got;
    return thrd_success;
}

/* Where the first thread ends, the process ends with the last thread, of which parked ones must not
 * be one. */
OKOSU_EXPORT _Noreturn void pthread_exit(void *result)
{
    okosu_threads_begin();
    if (okosu_threads_is_first(pthread_self()))
        okosu_threads_close("the first thread has ended", false);
    next.exit(result);
    __builtin_unreachable();
}

OKOSU_EXPORT _Noreturn void thrd_exit(int result)
{
    pthread_exit((void *)(intptr_t)result);
}

OKOSU_EXPORT int pthread_cancel(pthread_t id)
{
    struct okosu_thread *thread = okosu_thread_visit(id);
    unsigned state;
    int err;

    okosu_threads_begin();
    if (!thread) {
        if (okosu_threads_is_first(id))
            okosu_threads_close("the first thread was cancelled", false);
        return next.cancel(id);
    }
    atomic_fetch_add(&thread->signallers, 1);
    state = atomic_load(&thread->state);
    while ((state & OKOSU_THREAD_PHASE) == OKOSU_THREAD_RUNS &&
           !atomic_compare_exchange_weak(&thread->state, &state, state | OKOSU_THREAD_CANCELLED))
        ;
    switch (state & OKOSU_THREAD_PHASE) {
    case OKOSU_THREAD_DONE:
        err = 0;
        break;
    case OKOSU_THREAD_IDLE:
        err = ESRCH;
        break;
    default:
        /* A thread that cancels itself may not come back from here. */
        if (thread == okosu_thread_self) {
            atomic_fetch_sub(&thread->signallers, 1);
            okosu_thread_leave(thread);
            return next.cancel(id);
        }
        err = next.cancel(id);
    }
    atomic_fetch_sub(&thread->signallers, 1);
    okosu_thread_leave(thread);
    return err;
}

/* Whether a signal may be sent to the thread, which then looks for it when it ends; if not, *err is
 * what the program is told. */
static bool may_signal(struct okosu_thread *thread, int signal, int *err)
{
    unsigned state = atomic_load(&thread->state), phase;

    do {
        phase = state & OKOSU_THREAD_PHASE;
    } while (phase == OKOSU_THREAD_RUNS &&
             !atomic_compare_exchange_weak(&thread->state, &state, state | OKOSU_THREAD_SIGNALLED));
    if (phase != OKOSU_THREAD_DONE && phase != OKOSU_THREAD_IDLE)
        return true;
    *err = phase == OKOSU_THREAD_IDLE ? ESRCH : 0;
    if (signal < 0 || signal >= NSIG || (signal >= 32 && signal < SIGRTMIN))
        *err = EINVAL;
    return false;
}

OKOSU_EXPORT int pthread_kill(pthread_t id, int signal)
{
    struct okosu_thread *thread = okosu_thread_visit(id);
    int err;

    okosu_threads_begin();
    if (!thread)
        return next.kill(id, signal);
    atomic_fetch_add(&thread->signallers, 1);
    if (may_signal(thread, signal, &err))
        err = next.kill(id, signal);
    atomic_fetch_sub(&thread->signallers, 1);
    okosu_thread_leave(thread);
    return err;
}

OKOSU_EXPORT int pthread_sigqueue(pthread_t id, int signal, const union sigval value)
{
    struct okosu_thread *thread = okosu_thread_visit(id);
    int err;

    okosu_threads_begin();
    if (!thread)
        return next.sigqueue(id, signal, value);
    atomic_fetch_add(&thread->signallers, 1);
    if (may_signal(thread, signal, &err))
        err = next.sigqueue(id, signal, value);
    atomic_fetch_sub(&thread->signallers, 1);
    okosu_thread_leave(thread);
    return err;
}

OKOSU_EXPORT int pthread_getattr_np(pthread_t id, pthread_attr_t *attr)
{
    struct okosu_thread *thread = okosu_thread_visit(id);
    int err;

    okosu_threads_begin();
    err = next.getattr(id, attr);
    if (thread) {
        if (!err && atomic_load(&thread->state) & OKOSU_THREAD_DETACHED)
            pthread_attr_setdetachstate(attr, PTHREAD_CREATE_DETACHED);
        okosu_thread_leave(thread);
    }
    return err;
}

OKOSU_EXPORT int pthread_setname_np(pthread_t id, const char *name)
{
    okosu_threads_begin();
    okosu_threads_named();
    return next.setname(id, name);
}

OKOSU_EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int err;

    okosu_threads_begin();
    err = behind.pthread_key_create ? behind.pthread_key_create(key, destructor) : EAGAIN;
    if (!err)
        okosu_state_key_made(*key);
    return err;
}

OKOSU_EXPORT int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
OKOSU_EXPORT int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    return pthread_key_create(key, destructor);
}

OKOSU_EXPORT int tss_create(tss_t *key, tss_dtor_t destructor)
{
    return pthread_key_create(key, destructor) ? thrd_error : thrd_success;
}

/* The resolver's state of this thread, which the program may change. */
void *__res_state(void);
OKOSU_EXPORT void *__res_state(void)
{
    okosu_threads_begin();
    okosu_thread_spend();
    return behind.__res_state ? behind.__res_state() : NULL;
}

/* What a key's destructor registers of a thread_local object is never run by glibc, which has run
 * these before. It would be run for the next thread, whose object is another. */
int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library);
OKOSU_EXPORT int __cxa_thread_atexit_impl(void (*destructor)(void *), void *object, void *library)
{
    okosu_threads_begin();
    if (okosu_thread_self && okosu_thread_self->destroying)
        return 0;
    return next.atexit ? next.atexit(destructor, object, library) : -1;
}

/* Options that change nothing of the calling thread that its threads inherit. */
static bool is_harmless(int option)
{
    static const int options[] = {
        PR_GET_PDEATHSIG,    PR_GET_DUMPABLE,        PR_SET_DUMPABLE,
        PR_GET_NAME,         PR_GET_SECCOMP,         PR_CAPBSET_READ,
        PR_GET_SECUREBITS,   PR_GET_TIMERSLACK,      PR_SET_MM,
        PR_SET_PTRACER,      PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER,
        PR_GET_NO_NEW_PRIVS, PR_SET_THP_DISABLE,     PR_GET_THP_DISABLE,
        0x53564d41 /* PR_SET_VMA */};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        if (option == options[i])
            return true;
    }
    return false;
}

static void note_prctl(int option)
{
    if (option == PR_SET_NAME)
        okosu_threads_named();
    else if (option == PR_SET_PDEATHSIG)
        okosu_thread_spend();
    else if (!is_harmless(option))
        okosu_threads_close("the program changed a thread by prctl", true);
}

int prctl(int option, ...);
OKOSU_EXPORT int prctl(int option, ...)
{
    unsigned long words[4];
    va_list more;

    va_start(more, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(more, unsigned long);
    va_end(more);
    okosu_threads_begin();
    note_prctl(option);
    if (!next.prctl)
        return (int)next.syscall(SYS_prctl, option, (long)words[0], (long)words[1], (long)words[2],
                                 (long)words[3], 0);
    return next.prctl(option, words[0], words[1], words[2], words[3]);
}

/* Numbers of calls that change the calling thread so that parked ones would differ from new
 * ones. */
static bool changes_threads(long number)
{
    static const short numbers[] = {
        SYS_setuid,
        SYS_setgid,
        SYS_setreuid,
        SYS_setregid,
        SYS_setresuid,
        SYS_setresgid,
        SYS_setfsuid,
        SYS_setfsgid,
        SYS_setgroups,
        SYS_capset,
        SYS_unshare,
        SYS_setns,
        SYS_seccomp,
        SYS_landlock_restrict_self,
        SYS_sched_setaffinity,
        SYS_sched_setattr,
        SYS_sched_setparam,
        SYS_sched_setscheduler,
        SYS_setpriority,
        SYS_ioprio_set,
        SYS_set_mempolicy,
        SYS_keyctl,
        SYS_add_key,
        SYS_request_key,
        SYS_personality,
        SYS_set_robust_list,
        SYS_set_tid_address,
        SYS_rseq,
        SYS_timer_create,
        SYS_pkey_alloc,
        SYS_perf_event_open,
        SYS_ptrace,
        SYS_exit,
        SYS_chroot,
        SYS_setsid,
#ifdef __x86_64__
        SYS_arch_prctl,
        SYS_iopl,
        SYS_ioperm,
        SYS_modify_ldt,
        SYS_set_thread_area,
#endif
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        if (number == numbers[i])
            return true;
    }
    return false;
}

/* libc's is declared with a list of arguments; one of seven registers and stack words is passed on
 * by a jump, so that a child of vfork returns to where it was called from. */
OKOSU_EXPORT long okosu_syscall(long number, long a, long b, long c, long d, long e,
                                long f) __asm__("syscall");
long okosu_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    okosu_threads_begin();
    if (number == SYS_prctl)
        note_prctl((int)a);
    else if (number == SYS_io_uring_setup || number == SYS_io_uring_enter)
        okosu_thread_spend(); /* what a thread has submitted is cancelled when it ends */
    else if (changes_threads(number))
        okosu_threads_close("the program changed a thread by a system call", true);
    return next.syscall(number, a, b, c, d, e, f);
}

static bool is_of_thread(clockid_t clock)
{
    return clock == CLOCK_THREAD_CPUTIME_ID || (clock < 0 && (clock & 4));
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer);
OKOSU_EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event,
                              timer_t *restrict timer)
{
    if (is_of_thread(clock) || (event && event->sigev_notify == SIGEV_THREAD_ID))
        okosu_threads_close("the program made a timer of a thread", false);
    return behind.timer_create ? behind.timer_create(clock, event, timer) : -1;
}

/* The slot of the thread that a clock belongs to; NULL for other clocks and threads. The kernel
 * numbers the clock of a thread by its complement, shifted by 3 bits that hold the kind. */
static const struct okosu_thread *whose(clockid_t clock)
{
    pid_t tid = ~(clock >> 3);

    if (okosu_threads_is_child())
        return NULL;
    if (clock == CLOCK_THREAD_CPUTIME_ID || (is_of_thread(clock) && tid == 0))
        return okosu_thread_self;
    for (unsigned i = 0; is_of_thread(clock) && i < atomic_load(&okosu_threads_known); i++) {
        if (atomic_load(&okosu_threads[i].tid) == tid)
            return &okosu_threads[i];
    }
    return NULL;
}

/* The CPU time of a thread counts from its start. */
OKOSU_EXPORT int clock_gettime(clockid_t clock, struct timespec *t)
{
    const struct okosu_thread *thread;
    int64_t ns;
    int err;

    if (!next.clock_gettime)
        okosu_threads_begin();
    if (!next.clock_gettime)
        return -1;
    err = next.clock_gettime(clock, t);
    if (err || !is_of_thread(clock))
        return err;
    thread = whose(clock);
    if (thread && thread->cpu_ns) {
        ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec - thread->cpu_ns;
        if (ns < 0) /* in a child of vfork, whose clock is another */
            return 0;
        t->tv_sec = ns / 1000000000;
        t->tv_nsec = ns % 1000000000;
    }
    return 0;
}

static void subtract_time(struct timeval *from, const struct timeval *what)
{
    int64_t us = (from->tv_sec - what->tv_sec) * 1000000 + from->tv_usec - what->tv_usec;

    if (us < 0)
        us = 0;
    from->tv_sec = us / 1000000;
    from->tv_usec = us % 1000000;
}

OKOSU_EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
    const struct okosu_thread *self = okosu_thread_self;
    int err;

    okosu_threads_begin();
    err = next.getrusage(who, usage);
    if (err || who != RUSAGE_THREAD || !self || !self->cpu_ns || okosu_threads_is_child())
        return err;
    subtract_time(&usage->ru_utime, &self->usage.ru_utime);
    subtract_time(&usage->ru_stime, &self->usage.ru_stime);
    usage->ru_minflt -= self->usage.ru_minflt;
    usage->ru_majflt -= self->usage.ru_majflt;
    usage->ru_inblock -= self->usage.ru_inblock;
    usage->ru_oublock -= self->usage.ru_oublock;
    usage->ru_nvcsw -= self->usage.ru_nvcsw;
    usage->ru_nivcsw -= self->usage.ru_nivcsw;
    return 0;
}
