/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that have finished are parked and given the next start routine, because the kernel takes
 * longer to make a thread, and to end it, than many routines run.
 *
 * 1. A program must not be able to tell a parked thread that is started from a new one. What cannot
 * be restored makes the thread end for good, and what cannot be seen thread by thread closes the
 * pool: from then on every call is glibc's, and docs/THREADS.md lists which.
 * 2. pthread_t is that of the kernel's thread. A thread that ends by glibc's own way (cancelled, by
 * pthread_exit, spent, or the pool was closed) is also joined and detached by glibc.
 * 3. The slots are static: a pthread_t that is no thread any more is compared and never followed.
 * What may be called in a signal handler takes no lock.
 * 4. No user code runs, and no signal of the program's is handled, in a parked thread.
 * 5. A child of fork has no parked threads, and the pool is closed there: `alive` lies in a page
 * that the kernel clears in a child. */
#pragma once

#include "export.h"

#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

#define OKOSU_THREADS_MAX 128

/* The phases of a slot's thread. */
enum {
    OKOSU_THREAD_FREE,
    OKOSU_THREAD_RUNS,
    OKOSU_THREAD_DONE, /* its routine has returned, and nobody has joined it */
    OKOSU_THREAD_IDLE, /* joined or detached: the program knows it no more */
    OKOSU_THREAD_ENDS  /* it leaves by way of glibc */
};

#define OKOSU_THREAD_PHASE 0xfu
#define OKOSU_THREAD_CANCELLED 0x10u
#define OKOSU_THREAD_DETACHED 0x20u
#define OKOSU_THREAD_SIGNALLED 0x40u

/* A program may read its variable in the start routine or after pthread_create, whichever is first;
 * glibc writes it before either, and only once. */
enum { OKOSU_ID_UNWRITTEN, OKOSU_ID_BEING_WRITTEN, OKOSU_ID_WRITTEN };

/* What a new thread inherits from its creator. */
struct okosu_thread_start {
    void *(*routine)(void *);
    void *arg;
    sigset_t mask;
    uint32_t vector_control; /* of floating-point arithmetic */
    uint16_t x87_control, x87_status;
    bool rename;
    char name[16];
};

struct okosu_thread {
    _Atomic(uintptr_t) id; /* its pthread_t; 0: no thread that is ours */
    atomic_uint state;     /* phase and flags */
    atomic_uint word;      /* what it waits for while parked */
    atomic_uint visitors;  /* calls that hold this slot: it is not used for another thread */
    atomic_uint signallers;
    atomic_bool creating;  /* its creator has not yet seen its id */
    atomic_uint id_writer; /* who tells the program the id of a new thread: OKOSU_ID_... */
    pthread_t *id_place;   /* the program's variable, until it is written */
    atomic_bool spent;     /* the next thread could tell that it was used */
    atomic_bool awaited;   /* somebody waits at `done` */
    atomic_bool taken;     /* by a creator, whose start it will get */
    _Atomic(uintptr_t) joiner;
    _Atomic(uintptr_t) joins; /* the thread that this one waits for */
    sem_t done;
    void *result;
    struct okosu_thread_start start;
    size_t stack, guard;
    void **robust; /* the head of its list of robust mutexes */
    _Atomic(pid_t) tid;
    bool
        destroying; /* destructors of keys run, after which glibc runs none of thread_local objects */
    int64_t cpu_ns; /* CPU time before this start */
    struct rusage usage;

    /* Under the pool's lock. */
    bool claimed, parked, leaving, collected;
    struct okosu_thread *below;
};

/* The functions behind ours. Those that make, end or signal threads must be libc's own: another
 * library's may do something in each new thread, which a parked one would lack. */
struct okosu_threads_next {
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*join)(pthread_t, void **);
    int (*tryjoin)(pthread_t, void **);
    int (*timedjoin)(pthread_t, void **, const struct timespec *);
    int (*clockjoin)(pthread_t, void **, clockid_t, const struct timespec *);
    int (*detach)(pthread_t);
    int (*cancel)(pthread_t);
    int (*kill)(pthread_t, int);
    int (*sigqueue)(pthread_t, int, const union sigval);
    void (*exit)(void *);
    int (*getattr)(pthread_t, pthread_attr_t *);
    int (*setname)(pthread_t, const char *);
    int (*prctl)(int, ...);
    long (*syscall)(long, long, long, long, long, long, long);
    int (*clock_gettime)(clockid_t, struct timespec *);
    int (*getrusage)(__rusage_who_t, struct rusage *);
    int (*atexit)(void (*)(void *), void *, void *); /* of a thread_local object */
    void (*call_tls_dtors)(void);
    void *keys;
    /* libc's own, even where the program or a library has such functions too. */
    int (*clock)(clockid_t, struct timespec *);
    int (*iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
};

extern OKOSU_LOCAL struct okosu_threads_next okosu_threads_next;
extern OKOSU_LOCAL struct okosu_thread okosu_threads[OKOSU_THREADS_MAX];
extern OKOSU_LOCAL atomic_uint okosu_threads_known; /* slots that were ever used */
extern OKOSU_LOCAL __thread struct okosu_thread *okosu_thread_self
    __attribute__((tls_model("initial-exec")));

/* Resolves what is behind us; at the first call it also decides whether threads can be parked. */
void okosu_threads_begin(void);
/* Resolves the functions that threads_hooks.c only forwards to. */
void okosu_threads_hooks_begin(void);
int64_t okosu_threads_now_ns(clockid_t clock);
/* Where the library that holds an address begins; 0 where none does. */
uintptr_t okosu_threads_base_of(const void *address);
/* Whether it is the process's first thread. */
bool okosu_threads_is_first(pthread_t id);
/* Whether the pool serves this process. */
bool okosu_threads_open(void);
/* The pool serves nobody from now on. Parked threads leave; where `wait`, they have left when it
 * returns (some system calls want a process of one thread). */
void okosu_threads_close(const char *why, bool wait);
/* Whether the process is a child of fork, which has none of the threads that the slots name. */
bool okosu_threads_is_child(void);
/* This thread, if it is one of ours, is not used again. */
void okosu_thread_spend(void);
/* New threads have to be given their creator's name. */
void okosu_threads_named(void);

/* The slot of a thread that is ours, which okosu_thread_leave gives back; NULL for any other.
 * Async-signal-safe. */
struct okosu_thread *okosu_thread_visit(pthread_t id);
void okosu_thread_leave(struct okosu_thread *thread);

int okosu_thread_create(pthread_t *id, const pthread_attr_t *attr, void *(*routine)(void *),
                        void *arg);
/* `until` NULL: without end. `at_once`: do not wait. */
int okosu_thread_join(struct okosu_thread *thread, pthread_t id, void **result, clockid_t clock,
                      const struct timespec *until, bool at_once);
int okosu_thread_detach(struct okosu_thread *thread, pthread_t id);

/* threads_state.c: what a thread leaves behind. */

/* Reads the default attributes and which libraries keep their variables; NULL, or why no thread
 * can be restored here. */
const char *okosu_state_begin(void);
/* Runs the destructors of thread_local objects and of keys, as glibc does at a thread's end. */
void okosu_state_destroy(struct okosu_thread *thread);
/* Makes the calling thread as new, except what its creator decides. False: it cannot be done. All
 * signals are blocked. */
bool okosu_state_restore(struct okosu_thread *thread);
/* What the creator decides. */
void okosu_state_capture(struct okosu_thread_start *start);
void okosu_state_inherit(struct okosu_thread *thread);
/* False where the calling thread has something that parked threads would not inherit. */
bool okosu_state_inheritable(void);
/* The pool's key of an attribute; false where a parked thread cannot have it. */
bool okosu_state_key(const pthread_attr_t *attr, size_t *stack, size_t *guard);
/* Waits until nobody is sending the thread a signal; false where one is pending. All signals are
 * blocked. */
bool okosu_state_unsignalled(const struct okosu_thread *thread);
/* Whether the thread holds a robust mutex. */
bool okosu_state_robust(const struct okosu_thread *thread);
/* A key may exist. */
void okosu_state_key_made(pthread_key_t key);
