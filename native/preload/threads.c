/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: who is parked, started, joined and sent away (see thread_pool.h). */
#include "thread_pool.h"

#include "companion.h"
#include "lock.h"
#include "proof.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPIN_NS 20000
#define MOST_CREDIT 8
#define PROBE_EACH 64
#define PARKED_S 1            /* how long a thread waits before it leaves */
#define AT_FIRST_NS 10000000  /* how long until what is not needed of its stack is given back */
#define WATCH_NS 250000000    /* how often a joiner looks whether the thread still exists */
#define STACK_KEPT (64 << 10) /* what stays in memory of the stack of a thread that sleeps */

enum { WAIT, SLEEPS, START, LEAVE };

struct okosu_threads_next okosu_threads_next;
struct okosu_thread okosu_threads[OKOSU_THREADS_MAX];
atomic_uint okosu_threads_known;
__thread struct okosu_thread *okosu_thread_self;

static struct okosu_lock lock;
static struct okosu_thread *parked;
static atomic_uint spinning, running = 1;
static atomic_int credit = MOST_CREDIT; /* how many waits in vain it takes until none spins */
static unsigned cpus;
static atomic_bool named;
static pthread_t first_thread;
static const char *volatile closed_because = "";

/* The first word is 1 while the pool is open. The page is zero in a child of fork. */
static atomic_uint *alive;

static atomic_size_t made, served, passed;

int64_t okosu_threads_now_ns(clockid_t clock)
{
    struct timespec t = {0};

    okosu_threads_next.clock(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void pause_cpu(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void futex_wake(atomic_uint *word)
{
    okosu_threads_next.syscall(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

/* Nothing here may call malloc, for the first call may come from malloc itself, where a library that
 * replaces libc's makes its keys; dlsym and dladdr call it only where they fail. */
struct resolving {
    uintptr_t libc;
    bool missing, foreign;
};

uintptr_t okosu_threads_base_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? (uintptr_t)info.dli_fbase : 0;
}

static void find(struct resolving *all, void *slot, const char *name)
{
    *(void **)slot = dlsym(RTLD_NEXT, name);
    all->missing |= *(void **)slot == NULL;
}

static void find_libcs(struct resolving *all, void *slot, const char *name)
{
    find(all, slot, name);
    all->foreign |= okosu_threads_base_of(*(void **)slot) != all->libc;
}

static int clock_by_number(clockid_t clock, struct timespec *t)
{
    return (int)okosu_threads_next.syscall(SYS_clock_gettime, clock, (long)t, 0, 0, 0, 0);
}

static const char *resolve(void)
{
    struct okosu_threads_next *n = &okosu_threads_next;
    struct resolving all = {0};

    find(&all, &n->call_tls_dtors, "__call_tls_dtors");
    all.libc = okosu_threads_base_of(*(void **)&n->call_tls_dtors);
    find_libcs(&all, &n->keys, "__pthread_keys");
    find_libcs(&all, &n->create, "pthread_create");
    find_libcs(&all, &n->join, "pthread_join");
    find_libcs(&all, &n->tryjoin, "pthread_tryjoin_np");
    find_libcs(&all, &n->timedjoin, "pthread_timedjoin_np");
    find_libcs(&all, &n->clockjoin, "pthread_clockjoin_np");
    find_libcs(&all, &n->detach, "pthread_detach");
    find_libcs(&all, &n->cancel, "pthread_cancel");
    find_libcs(&all, &n->kill, "pthread_kill");
    find_libcs(&all, &n->sigqueue, "pthread_sigqueue");
    find_libcs(&all, &n->exit, "pthread_exit");
    find_libcs(&all, &n->getattr, "pthread_getattr_np");
    find_libcs(&all, &n->atexit, "__cxa_thread_atexit_impl");
    find_libcs(&all, &n->iterate, "dl_iterate_phdr");
    find(&all, &n->setname, "pthread_setname_np");
    find(&all, &n->prctl, "prctl");
    find(&all, &n->syscall, "syscall");
    find(&all, &n->clock_gettime, "clock_gettime");
    find(&all, &n->getrusage, "getrusage");
    /* A library that tells programs another time must not make ours wait. */
    n->clock = okosu_threads_base_of(*(void **)&n->clock_gettime) == all.libc ? n->clock_gettime
                                                                              : clock_by_number;
    okosu_threads_hooks_begin();
    if (all.missing)
        return "this libc lacks a function that is needed";
    return all.foreign ? "another library serves threads too" : NULL;
}

static const char *open_pool(void)
{
    cpu_set_t mask;
    const char *why;
    void *page;

#ifndef __x86_64__
    return "only the state of x86-64 threads is known";
#endif
    why = okosu_state_begin();
    if (why)
        return why;
    page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, (size_t)sysconf(_SC_PAGESIZE), MADV_WIPEONFORK))
        return "the kernel clears no page in children of fork";
    CPU_ZERO(&mask); /* the kernel writes only as many bytes as it has CPUs */
    if (okosu_threads_next.syscall(SYS_sched_getaffinity, 0, sizeof(mask), (long)&mask, 0, 0, 0) >
        0)
        cpus = (unsigned)CPU_COUNT_S(sizeof(mask), &mask);
    /* A child that asked to be signalled when the thread that forked it ends must be. */
    if (pthread_atfork(NULL, okosu_thread_spend, NULL))
        return "libc takes no handler of fork";
    alive = page;
    atomic_store(alive, 1);
    atomic_store(alive + 1, 1);
    return NULL;
}

void okosu_threads_begin(void)
{
    static atomic_uint begun;
    static _Atomic(uintptr_t) beginner;
    const char *why;
    unsigned none = 0;

    if (atomic_load_explicit(&begun, memory_order_acquire) == 2)
        return;
    if (!atomic_compare_exchange_strong(&begun, &none, 1)) {
        /* What resolves the functions may call ours, in the same thread or in others. */
        while (atomic_load(&begun) != 2 && atomic_load(&beginner) != (uintptr_t)pthread_self())
            sched_yield();
        return;
    }
    atomic_store(&beginner, (uintptr_t)pthread_self());
    why = resolve();
    if (!why)
        why = open_pool();
    if (why)
        closed_because = why;
    atomic_store_explicit(&begun, 2, memory_order_release);
}

__attribute__((constructor)) static void enter(void)
{
    first_thread = pthread_self();
    okosu_threads_begin();
}

bool okosu_threads_open(void)
{
    return alive && atomic_load_explicit(alive, memory_order_relaxed);
}

/* A closed pool still knows its threads, but a child of fork has none of them: the second word of the
 * page is 1 as long as the process lives. */
bool okosu_threads_is_child(void)
{
    return alive && !atomic_load_explicit(alive + 1, memory_order_relaxed);
}

struct okosu_thread *okosu_thread_visit(pthread_t id)
{
    unsigned known = atomic_load_explicit(&okosu_threads_known, memory_order_acquire);

    if (!known || okosu_threads_is_child())
        return NULL;
    for (unsigned i = 0; i < known; i++) {
        struct okosu_thread *t = &okosu_threads[i];

        if (atomic_load_explicit(&t->id, memory_order_acquire) != (uintptr_t)id)
            continue;
        atomic_fetch_add(&t->visitors, 1);
        if (atomic_load(&t->id) == (uintptr_t)id)
            return t;
        atomic_fetch_sub(&t->visitors, 1);
    }
    return NULL;
}

void okosu_thread_leave(struct okosu_thread *thread)
{
    atomic_fetch_sub(&thread->visitors, 1);
}

void okosu_thread_spend(void)
{
    if (okosu_thread_self)
        atomic_store(&okosu_thread_self->spent, true);
}

void okosu_threads_named(void)
{
    atomic_store(&named, true);
}

static unsigned phase_of(const struct okosu_thread *thread)
{
    return atomic_load(&thread->state) & OKOSU_THREAD_PHASE;
}

static void unlink_parked(struct okosu_thread *thread)
{
    for (struct okosu_thread **at = &parked; *at; at = &(*at)->below) {
        if (*at == thread) {
            *at = thread->below;
            break;
        }
    }
    thread->parked = false;
}

static void park(struct okosu_thread *thread)
{
    thread->below = parked;
    thread->parked = true;
    parked = thread;
}

/* The thread is joined or detached, and has been made as new before. */
static void let_go(struct okosu_thread *thread)
{
    okosu_lock_take(&lock);
    if (okosu_threads_open() && !thread->leaving)
        park(thread);
    okosu_lock_release(&lock);
}

static void send(struct okosu_thread *thread, unsigned what)
{
    if (atomic_exchange(&thread->word, what) == SLEEPS)
        futex_wake(&thread->word);
}

/* Waits until the kernel has none of these threads any more. */
static void wait_until_gone(const pid_t *tids, unsigned count)
{
    while (count) {
        if (okosu_threads_next.syscall(SYS_tgkill, getpid(), tids[count - 1], 0, 0, 0, 0))
            count--;
        else
            sched_yield();
    }
}

void okosu_threads_close(const char *why, bool wait)
{
    pthread_t idle[OKOSU_THREADS_MAX];
    pid_t done[OKOSU_THREADS_MAX];
    unsigned idle_count = 0, done_count = 0;
    int was, saved = errno;

    okosu_threads_begin();
    if (!alive || okosu_threads_is_child())
        return;
    okosu_lock_take(&lock);
    if (atomic_exchange(alive, 0))
        closed_because = why;
    for (unsigned i = 0; i < atomic_load(&okosu_threads_known); i++) {
        struct okosu_thread *t = &okosu_threads[i];
        unsigned phase = phase_of(t);

        if (!t->claimed || atomic_load(&t->taken) || t == okosu_thread_self)
            continue;
        if (phase != OKOSU_THREAD_IDLE && phase != OKOSU_THREAD_DONE)
            continue;
        if (t->parked)
            unlink_parked(t);
        if (phase == OKOSU_THREAD_DONE) {
            done[done_count++] = atomic_load(&t->tid);
        } else if (wait && !t->collected) {
            t->collected = true;
            idle[idle_count++] = (pthread_t)atomic_load(&t->id);
        }
        send(t, LEAVE);
    }
    okosu_lock_release(&lock);
    if (wait && idle_count + done_count) {
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
        while (idle_count)
            okosu_threads_next.join(idle[--idle_count], NULL);
        wait_until_gone(done, done_count);
        pthread_setcancelstate(was, NULL);
    }
    errno = saved;
}

/* The slot is given up, and the thread is glibc's from now on. */
static void give_up(struct okosu_thread *thread)
{
    while (atomic_load(&thread->creating))
        sched_yield();
    atomic_store(&thread->id, 0);
    atomic_store(&thread->tid, 0);
    okosu_thread_self = NULL;
    atomic_fetch_sub(&running, 1);
    if (atomic_load(&thread->awaited))
        sem_post(&thread->done);
    okosu_lock_take(&lock);
    thread->claimed = false;
    okosu_lock_release(&lock);
}

/* It ends by way of glibc, which also serves who joins it. */
static void end_for_good(struct okosu_thread *thread)
{
    unsigned state = atomic_exchange(&thread->state, OKOSU_THREAD_ENDS);

    if (state & OKOSU_THREAD_DETACHED)
        okosu_threads_next.detach(pthread_self());
    give_up(thread);
}

/* A cancelled thread, or one that called pthread_exit, unwinds through here. */
static void unwound(void *data)
{
    if (!okosu_threads_is_child())
        end_for_good(data);
}

static bool must_end(const struct okosu_thread *thread)
{
    return !okosu_threads_open() || atomic_load(&thread->spent) ||
           (atomic_load(&thread->state) & OKOSU_THREAD_CANCELLED) || okosu_state_robust(thread);
}

/* Runs the start routine and what glibc runs at its end. False: glibc is to do the latter. */
static bool live(struct okosu_thread *thread)
{
    volatile bool through = false;

    pthread_cleanup_push(unwound, thread);
    thread->result = thread->start.routine(thread->start.arg);
    if (!must_end(thread)) {
        okosu_state_destroy(thread);
        through = !must_end(thread);
    }
    pthread_cleanup_pop(0);
    return through;
}

/* From RUNS to DONE, or to IDLE where nobody will join it. False: it was cancelled, or a signal was
 * sent to it that it does not take any more. All signals are blocked. */
static bool finish(struct okosu_thread *thread)
{
    unsigned state = atomic_load(&thread->state), next;

    do {
        if (state & OKOSU_THREAD_SIGNALLED) {
            if (!okosu_state_unsignalled(thread))
                return false;
            state = atomic_fetch_and(&thread->state, ~OKOSU_THREAD_SIGNALLED);
            state &= ~OKOSU_THREAD_SIGNALLED;
        }
        if (state & OKOSU_THREAD_CANCELLED)
            return false;
        next = state & OKOSU_THREAD_DETACHED ? OKOSU_THREAD_IDLE : OKOSU_THREAD_DONE;
    } while (!atomic_compare_exchange_weak(&thread->state, &state, next));
    if (next == OKOSU_THREAD_IDLE)
        let_go(thread);
    if (atomic_load(&thread->awaited))
        sem_post(&thread->done);
    return true;
}

/* A thread that spins must not take the CPU from one that works: from one of the program's, of
 * which is known how many run, or from another program's, of which nothing is known but that what was
 * waited for did not come. Then only one wait in PROBE_EACH spins, until it comes again. */
static bool may_spin(unsigned working)
{
    static atomic_uint waits;

    if (cpus < 2 || working + atomic_load_explicit(&spinning, memory_order_relaxed) > cpus)
        return false;
    return atomic_load_explicit(&credit, memory_order_relaxed) > 0 ||
           atomic_fetch_add_explicit(&waits, 1, memory_order_relaxed) % PROBE_EACH == 0;
}

/* Waits for a short time until the phase, or the word of a parked thread, is no longer `value`. */
static void spin(const atomic_uint *word, unsigned mask, unsigned value)
{
    int64_t until = okosu_threads_now_ns(CLOCK_MONOTONIC) + SPIN_NS;
    int left = atomic_load_explicit(&credit, memory_order_relaxed);
    bool came = false;

    atomic_fetch_add(&spinning, 1);
    do {
        for (int i = 0; i < 32 && !came; i++) {
            pause_cpu();
            came = (atomic_load_explicit(word, memory_order_acquire) & mask) != value;
        }
    } while (!came && okosu_threads_now_ns(CLOCK_MONOTONIC) < until);
    atomic_fetch_sub(&spinning, 1);
    if (came ? left < MOST_CREDIT : left > 0)
        atomic_store_explicit(&credit, came ? left + 1 : left - 1, memory_order_relaxed);
}

/* Gives back the pages of the stack that only deep calls of the last routine used. glibc has the
 * thread's own block at the stack's upper end, so that this address less the size lies above the
 * lower end, by no more than what is added. pthread_getattr_np would tell the end exactly, but calls
 * malloc, which may be the program's. */
static void drop_stack(const struct okosu_thread *thread)
{
    uintptr_t low = ((uintptr_t)pthread_self() - thread->stack + STACK_KEPT) & ~(uintptr_t)4095;
    uintptr_t high = ((uintptr_t)__builtin_frame_address(0) - STACK_KEPT) & ~(uintptr_t)4095;

    if (thread->stack > 2 * STACK_KEPT && high > low)
        madvise((void *)low, high - low, MADV_DONTNEED);
}

static void futex_wait(atomic_uint *word, unsigned value, const struct timespec *limit)
{
    okosu_threads_next.syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, (long)limit, 0, 0);
}

/* Returns START, LEAVE, or WAIT when time is up. */
static unsigned await(struct okosu_thread *thread)
{
    static const struct timespec at_first = {.tv_nsec = AT_FIRST_NS}, then = {.tv_sec = PARKED_S};
    int64_t since = 0;
    unsigned word = WAIT;

    if (may_spin(atomic_load_explicit(&running, memory_order_relaxed)))
        spin(&thread->word, ~0u, WAIT);
    if (!atomic_compare_exchange_strong(&thread->word, &word, SLEEPS))
        return word;
    /* What glibc sends to all threads, as for setuid, ends a wait early. */
    for (;;) {
        futex_wait(&thread->word, SLEEPS, since ? &then : &at_first);
        word = atomic_load(&thread->word);
        if (word != SLEEPS)
            return word;
        if (!since) {
            drop_stack(thread);
            since = okosu_threads_now_ns(CLOCK_MONOTONIC);
        } else if (okosu_threads_now_ns(CLOCK_MONOTONIC) - since >= PARKED_S * 1000000000LL) {
            break;
        }
    }
    return atomic_compare_exchange_strong(&thread->word, &word, WAIT) ? WAIT : word;
}

/* Waits for the next start; all signals are blocked. False: the thread is to leave. */
static bool wait_parked(struct okosu_thread *thread)
{
    for (;;) {
        unsigned word = await(thread);

        if (word == START)
            return true;
        okosu_lock_take(&lock);
        /* Whoever has taken it sends a start. */
        if (!atomic_load(&thread->taken)) {
            if (thread->parked)
                unlink_parked(thread);
            thread->leaving = true;
        }
        okosu_lock_release(&lock);
        if (thread->leaving)
            return false;
    }
}

/* A thread that nobody has joined can still be, by way of glibc. */
static void depart(struct okosu_thread *thread)
{
    unsigned done = OKOSU_THREAD_DONE;
    bool joined;

    if (!atomic_compare_exchange_strong(&thread->state, &done, OKOSU_THREAD_ENDS)) {
        okosu_lock_take(&lock);
        joined = thread->collected;
        atomic_store(&thread->state, OKOSU_THREAD_ENDS);
        okosu_lock_release(&lock);
        if (!joined)
            okosu_threads_next.detach(pthread_self());
    }
    give_up(thread);
}

/* Writes the program's variable unless it is written already; returns when it is. Its creator may
 * reuse the variable after pthread_create, and the start routine at once. */
static void write_id(struct okosu_thread *thread, pthread_t id)
{
    unsigned writer = OKOSU_ID_UNWRITTEN;

    if (atomic_compare_exchange_strong(&thread->id_writer, &writer, OKOSU_ID_BEING_WRITTEN)) {
        *thread->id_place = id;
        atomic_store(&thread->id_writer, OKOSU_ID_WRITTEN);
        return;
    }
    while (atomic_load(&thread->id_writer) != OKOSU_ID_WRITTEN)
        sched_yield();
}

static void *thread_main(void *data)
{
    struct okosu_thread *thread = data;
    void *result;
    size_t length;
    sigset_t all, before;
    int was;

    write_id(thread, pthread_self());
    atomic_store(&thread->id, (uintptr_t)pthread_self());
    okosu_thread_self = thread;
    thread->tid = gettid();
    thread->robust = NULL;
    okosu_threads_next.syscall(SYS_get_robust_list, 0, (long)&thread->robust, (long)&length, 0, 0,
                               0);
    sigfillset(&all);
    for (;;) {
        bool through = live(thread);

        result = thread->result; /* the slot may soon be another thread's */
        if (okosu_threads_is_child())
            return result;
        if (!through) {
            end_for_good(thread);
            return result;
        }
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        atomic_store(&thread->word, WAIT);
        if (!okosu_threads_open() || !okosu_state_restore(thread) || !finish(thread)) {
            pthread_sigmask(SIG_SETMASK, &before, NULL);
            pthread_setcancelstate(was, NULL);
            end_for_good(thread);
            return result;
        }
        atomic_fetch_sub(&running, 1);
        if (!wait_parked(thread)) {
            atomic_fetch_add(&running, 1);
            depart(thread);
            return result;
        }
        atomic_store(&thread->taken, false);
        okosu_state_inherit(thread);
    }
}

static void prepare(struct okosu_thread *thread, const struct okosu_thread_start *start)
{
    thread->start = *start;
    while (sem_trywait(&thread->done) == 0)
        ;
    atomic_store(&thread->joiner, 0);
    atomic_store(&thread->joins, 0);
    atomic_store(&thread->awaited, false);
    atomic_store(&thread->spent, false);
    atomic_fetch_add(&running, 1);
}

static struct okosu_thread *take_parked(size_t stack, size_t guard)
{
    struct okosu_thread *t;

    okosu_lock_take(&lock);
    for (t = parked; t && (t->stack != stack || t->guard != guard); t = t->below)
        ;
    if (t) {
        unlink_parked(t);
        atomic_store(&t->taken, true);
    }
    okosu_lock_release(&lock);
    return t;
}

static struct okosu_thread *claim(size_t stack, size_t guard)
{
    struct okosu_thread *found = NULL;

    okosu_lock_take(&lock);
    for (unsigned i = 0; i < OKOSU_THREADS_MAX && !found; i++) {
        struct okosu_thread *t = &okosu_threads[i];

        if (t->claimed || atomic_load(&t->id) || atomic_load(&t->visitors))
            continue;
        found = t;
        t->claimed = true;
        t->parked = t->leaving = t->collected = false;
        atomic_store(&t->taken, false);
        t->stack = stack;
        t->guard = guard;
        t->cpu_ns = 0;
        t->destroying = false;
        atomic_store(&t->tid, 0);
        atomic_store(&t->id_writer, OKOSU_ID_UNWRITTEN);
        atomic_store(&t->signallers, 0);
        atomic_store(&t->creating, true);
        sem_init(&t->done, 0, 0);
        if (i >= atomic_load(&okosu_threads_known))
            atomic_store(&okosu_threads_known, i + 1);
    }
    okosu_lock_release(&lock);
    return found;
}

static int create_new(struct okosu_thread *thread, pthread_t *id, const pthread_attr_t *attr)
{
    pthread_t new;
    int err;

    atomic_store(&thread->state, OKOSU_THREAD_RUNS);
    thread->id_place = id;
    err = okosu_threads_next.create(&new, attr, thread_main, thread);
    if (err) {
        atomic_fetch_sub(&running, 1);
        okosu_lock_take(&lock);
        thread->claimed = false;
        okosu_lock_release(&lock);
        return err;
    }
    write_id(thread, new);
    atomic_store(&thread->id, (uintptr_t) new);
    atomic_store(&thread->creating, false);
    atomic_fetch_add(&made, 1);
    return 0;
}

static int pass(pthread_t *id, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
    atomic_fetch_add_explicit(&passed, 1, memory_order_relaxed);
    return okosu_threads_next.create(id, attr, routine, arg);
}

int okosu_thread_create(pthread_t *id, const pthread_attr_t *attr, void *(*routine)(void *),
                        void *arg)
{
    struct okosu_thread_start start = {
        .routine = routine, .arg = arg, .rename = atomic_load(&named)};
    struct okosu_thread *thread;
    size_t stack, guard;
    int saved = errno, err;

    if (!okosu_threads_open() || !okosu_state_key(attr, &stack, &guard))
        return pass(id, attr, routine, arg);
    if (!okosu_state_inheritable()) {
        okosu_threads_close("a thread has what parked ones would not inherit", false);
        return pass(id, attr, routine, arg);
    }
    okosu_state_capture(&start);
    thread = take_parked(stack, guard);
    if (thread) {
        prepare(thread, &start);
        atomic_store(&thread->state, OKOSU_THREAD_RUNS);
        *id = (pthread_t)atomic_load(&thread->id);
        atomic_fetch_add_explicit(&served, 1, memory_order_relaxed);
        send(thread, START);
        errno = saved;
        return 0;
    }
    thread = claim(stack, guard);
    if (!thread)
        return pass(id, attr, routine, arg);
    prepare(thread, &start);
    err = create_new(thread, id, attr);
    errno = saved;
    if (err != EAGAIN)
        return err;
    /* The limit of threads may be that of those that are parked. */
    okosu_threads_close("a thread could not be made", true);
    return pass(id, attr, routine, arg);
}

struct waiting {
    struct okosu_thread *thread;
    struct okosu_thread *self;
};

static void end_wait(const struct waiting *w)
{
    atomic_store(&w->thread->awaited, false);
    if (w->self)
        atomic_store(&w->self->joins, 0);
}

static void stop_waiting(void *data)
{
    struct waiting *w = data;

    end_wait(w);
    atomic_store(&w->thread->joiner, 0);
    okosu_thread_leave(w->thread);
}

/* Waits for a phase beyond RUNS. 0; ETIMEDOUT; EINVAL for a time that is none; -1 where the kernel's
 * thread ended unseen (by a system call of its own) and glibc has joined it. */
static int wait_done(struct okosu_thread *thread, pthread_t id, void **result, clockid_t clock,
                     const struct timespec *until)
{
    /* This thread is one of those that run, and does nothing else. */
    if (may_spin(1))
        spin(&thread->state, OKOSU_THREAD_PHASE, OKOSU_THREAD_RUNS);
    if (phase_of(thread) != OKOSU_THREAD_RUNS)
        return 0;
    if (until && (until->tv_nsec < 0 || until->tv_nsec >= 1000000000))
        return EINVAL;
    atomic_store(&thread->awaited, true);
    while (phase_of(thread) == OKOSU_THREAD_RUNS) {
        int64_t watch = okosu_threads_now_ns(clock) + WATCH_NS;
        struct timespec limit = timespec_of(watch);
        bool last = until && (until->tv_sec < limit.tv_sec ||
                              (until->tv_sec == limit.tv_sec && until->tv_nsec <= limit.tv_nsec));

        if (last)
            limit = *until;
        if (sem_clockwait(&thread->done, clock, &limit) == 0 || errno != ETIMEDOUT)
            continue;
        if (phase_of(thread) != OKOSU_THREAD_RUNS)
            break;
        if (last)
            return ETIMEDOUT;
        if (okosu_threads_next.tryjoin(id, result) == 0)
            return -1;
    }
    return 0;
}

/* The thread has ended without telling: its slot is free again. */
static void forget(struct okosu_thread *thread)
{
    atomic_store(&thread->state, OKOSU_THREAD_ENDS);
    atomic_store(&thread->id, 0);
    atomic_fetch_sub(&running, 1);
    okosu_lock_take(&lock);
    thread->claimed = false;
    okosu_lock_release(&lock);
}

static int join_ending(pthread_t id, void **result, clockid_t clock, const struct timespec *until,
                       bool at_once)
{
    if (at_once)
        return okosu_threads_next.tryjoin(id, result);
    if (until)
        return okosu_threads_next.clockjoin(id, result, clock, until);
    return okosu_threads_next.join(id, result);
}

/* Gives back the visit. */
int okosu_thread_join(struct okosu_thread *thread, pthread_t id, void **result, clockid_t clock,
                      const struct timespec *until, bool at_once)
{
    struct waiting waiting = {.thread = thread, .self = okosu_thread_self};
    unsigned state = atomic_load(&thread->state), done = OKOSU_THREAD_DONE;
    uintptr_t nobody = 0;
    int saved = errno;
    volatile int err = 0;
    void *told;

    if ((state & OKOSU_THREAD_PHASE) == OKOSU_THREAD_ENDS) {
        okosu_thread_leave(thread);
        return join_ending(id, result, clock, until, at_once);
    }
    if ((state & OKOSU_THREAD_PHASE) == OKOSU_THREAD_IDLE)
        err = ESRCH;
    else if (state & OKOSU_THREAD_DETACHED)
        err = EINVAL;
    else if (at_once && (state & OKOSU_THREAD_PHASE) == OKOSU_THREAD_RUNS)
        err = EBUSY;
    else if (pthread_equal(id, pthread_self()) ||
             atomic_load(&thread->joins) == (uintptr_t)pthread_self())
        err = EDEADLK;
    else if (!atomic_compare_exchange_strong(&thread->joiner, &nobody, (uintptr_t)pthread_self()))
        err = EINVAL;
    if (err) {
        okosu_thread_leave(thread);
        return err;
    }
    if (waiting.self)
        atomic_store(&waiting.self->joins, (uintptr_t)id);
    pthread_cleanup_push(stop_waiting, &waiting);
    err = wait_done(thread, id, result, clock, until);
    if (err == -1)
        forget(thread);
    pthread_cleanup_pop(0);
    errno = saved;
    if (err) {
        stop_waiting(&waiting);
        return err == -1 ? 0 : err;
    }
    /* Once it is idle, another creator may have the thread: nothing of it is read or written then. */
    told = thread->result;
    end_wait(&waiting);
    if (atomic_compare_exchange_strong(&thread->state, &done, OKOSU_THREAD_IDLE)) {
        if (result)
            *result = told;
        let_go(thread);
        okosu_thread_leave(thread);
        return 0;
    }
    okosu_thread_leave(thread);
    if ((done & OKOSU_THREAD_PHASE) != OKOSU_THREAD_ENDS)
        return EINVAL; /* it was detached meanwhile */
    return join_ending(id, result, clock, until, at_once);
}

/* Gives back the visit. */
int okosu_thread_detach(struct okosu_thread *thread, pthread_t id)
{
    unsigned state = atomic_load(&thread->state), next;

    do {
        unsigned phase = state & OKOSU_THREAD_PHASE;

        if (phase == OKOSU_THREAD_ENDS) {
            okosu_thread_leave(thread);
            return okosu_threads_next.detach(id);
        }
        if (phase == OKOSU_THREAD_IDLE || state & OKOSU_THREAD_DETACHED) {
            okosu_thread_leave(thread);
            return phase == OKOSU_THREAD_IDLE ? ESRCH : EINVAL;
        }
        next = phase == OKOSU_THREAD_DONE ? OKOSU_THREAD_IDLE : state | OKOSU_THREAD_DETACHED;
    } while (!atomic_compare_exchange_weak(&thread->state, &state, next));
    if (next == OKOSU_THREAD_IDLE)
        let_go(thread);
    okosu_thread_leave(thread);
    return 0;
}

static void forked(bool inert)
{
    const struct okosu_thread *self = okosu_thread_self;

    (void)inert;
    /* Here the thread is glibc's, which does not know yet that it was detached. */
    if (self && atomic_load(&self->state) & OKOSU_THREAD_DETACHED)
        okosu_threads_next.detach(pthread_self());
    atomic_store(&made, 0);
    atomic_store(&served, 0);
    atomic_store(&passed, 0);
}

static void filtered(void)
{
    okosu_threads_close("the program filters system calls", true);
}

static void evidence(struct okosu_proof *proof)
{
    static char text[1024];
    struct okosu_line l = OKOSU_LINE(text);
    struct okosu_json json = {.line = &l};

    okosu_proof_open(&json, proof);
    okosu_json_string(&json, "by", "threads");
    okosu_json_unsigned(&json, "served", atomic_load(&served));
    okosu_json_unsigned(&json, "made", atomic_load(&made));
    okosu_json_unsigned(&json, "passed", atomic_load(&passed));
    okosu_json_string(&json, "closed",
                      okosu_threads_is_child() ? "a child of fork" : closed_because);
    okosu_proof_close(&json, proof);
}

bool okosu_threads_is_first(pthread_t id)
{
    return pthread_equal(id, first_thread);
}

OKOSU_EXPORT const struct okosu_companion okosu_companion_threads = {
    .library = "libokosu-threads.so",
    .begin = okosu_threads_begin,
    .forked = forked,
    .filtered = filtered,
    .evidence = evidence,
};
