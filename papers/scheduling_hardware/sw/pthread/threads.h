/* SPDX-License-Identifier: Apache-2.0 */
/* The small interface between the pthread library and its two back ends.
 *
 * A back end is a folder with a backend.h that includes this file and defines, inline or not, what
 * is listed here. Errors are errno's numbers, 0 if there is none. A deadline is a cycle, 0 for
 * none.
 *
 * - void threads_start(void): once, on PE 0, before main
 * - okosu_wait_for_threads: where the other PEs go at reset
 * - okosu_thread_exit: where a thread's function returns to, with its value
 * - unsigned thread_self(void): handle of the caller
 * - struct locals *thread_locals(void): the caller's
 * - struct locals *locals_of(unsigned handle)
 * - int thread_create(unsigned long *handle, entry, argument, attributes): EAGAIN
 * - _Noreturn void thread_finish(void *value)
 * - int thread_join(unsigned handle, void **value): value may be NULL; ESRCH, EINVAL, EDEADLK
 * - int thread_detach(unsigned handle): ESRCH, EINVAL
 * - void thread_yield(void)
 * - int thread_prioritise(unsigned handle, unsigned priority): ESRCH
 * - void threads_use_priorities(void): from now on priorities count
 *
 * - int word_wait(word, expected, deadline): blocks while *word is `expected`, until it is woken;
 *   EAGAIN: it differed, or there is no room for one more to wait (the caller looks again and
 *   yields), ETIMEDOUT
 * - void word_wake_one(word, value): stores value, then wakes one (or more) of those who wait
 * - void word_wake_all(word, value)
 * - void word_wake(word): wakes all who wait at the word, which stays what it is; they look again
 *
 * - bool lock_try(struct lock *): one exchange
 * - int lock_wait(struct lock *, deadline): takes the lock that lock_try did not get; ETIMEDOUT
 * - int lock_wait_here(struct lock *): the same without a deadline, inline
 * - void lock_release(struct lock *)
 * - bool barrier_arrive(pthread_barrier_t *): blocks until all have come; true in one of them */
#ifndef THREADS_H
#define THREADS_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine.h"

#define NO_DEADLINE UINT64_C(0)

enum thread_attributes { THREAD_PRIORITY = 0xf, THREAD_DETACHED = 0x10 };

typedef void *(*thread_entry)(void *);

/* The data of a thread beside its context. `used`: something has to be cleaned up when it ends. */
struct locals {
    unsigned used;
    int error;
    struct key_value *values;
    void *stack;
    /* Handle, policy and priority (scheduling.c), void for a later thread of the same id. */
    unsigned scheduling;
};

/* Undo what `locals` says, on the thread's end; does not return if the thread has a stack of its
 * own. */
void locals_clean(struct locals *locals, void *value);

/* What a program pays for only if it uses it (posix/): these symbols are not there unless something
 * that the program calls brings them. */

/* word_wait() that an event for the thread ends, too: EINTR. */
int events_wait(volatile unsigned *word, unsigned expected, uint64_t deadline, bool is_point)
    __attribute__((weak));
/* lock_wait(), during which signals are handled, and a thread of the asynchronous type is
 * cancelled. */
int events_lock_wait(struct lock *lock, uint64_t deadline) __attribute__((weak));
/* barrier_arrive(), likewise. */
bool events_barrier(pthread_barrier_t *barrier) __attribute__((weak));
/* Handle the caller's signals and, at a cancellation point or if it is asynchronous, its
 * cancellation, of which this does not return. Returns whether a wait has to give EINTR: a handler
 * ran, and not with SA_RESTART. No lock of the library may be held. */
bool events_act(bool is_point) __attribute__((weak));
/* The caller ends: its cleanup handlers, then, when its values are destroyed, what it holds. */
void events_clean(void) __attribute__((weak));
void events_end(void) __attribute__((weak));
void held_end(void) __attribute__((weak));
/* The priority that a thread has by the mutexes that it holds and by its own one. */
unsigned held_priority(unsigned handle, unsigned own) __attribute__((weak));
/* Brings a part of posix/ into every program that has this one. */
#define NEEDS(part)                                                                                \
    extern const char okosu_part_##part;                                                           \
    static const void *const needs_##part __attribute__((used)) = &okosu_part_##part
#define PART(part)                                                                                 \
    extern const char okosu_part_##part;                                                           \
    const char okosu_part_##part = 0

/* The thread was created detached: joining it is EINVAL after its end, too. */
void join_note_detached(unsigned handle) __attribute__((weak));
bool join_is_detached(unsigned handle) __attribute__((weak));
/* The caller runs on a stack of its own. */
void stack_note(char *stack, char *end) __attribute__((weak));
/* Locks a robust mutex, or one with a protocol, until a time (none: NULL) if `waits`. */
int held_lock(pthread_mutex_t *mutex, bool waits, const struct timespec *time)
    __attribute__((weak));
int held_unlock(pthread_mutex_t *mutex) __attribute__((weak));

/* Bits of a mutex's kind, above its type. */
enum { MUTEX_TYPE = 3, MUTEX_ROBUST = 4, MUTEX_INHERIT = 8, MUTEX_PROTECT = 16 };

/* The functions of these names without a look at events. */
int cond_signal(pthread_cond_t *cond);
int cond_broadcast(pthread_cond_t *cond);
int mutex_trylock(pthread_mutex_t *mutex);

/* The slow paths of pthread_mutex_lock and pthread_mutex_timedlock. */
int mutex_lock_slowly(pthread_mutex_t *mutex, const struct timespec *time);

/* pthread_create, for those that do more. */
int thread_create_plain(pthread_t *thread, const pthread_attr_t *attr, thread_entry entry,
                        void *argument);

ALWAYS_INLINE bool act_at_point(void)
{
    return events_act != NULL && events_act(true);
}

/* Wait at a word, interruptibly. */
ALWAYS_INLINE int wait_at(volatile unsigned *word, unsigned expected, uint64_t deadline)
{
    extern int word_wait(volatile unsigned *, unsigned, uint64_t);

    return events_wait != NULL ? events_wait(word, expected, deadline, true)
                               : word_wait(word, expected, deadline);
}

ALWAYS_INLINE bool likely(bool condition)
{
    return __builtin_expect(condition, true);
}

ALWAYS_INLINE bool unlikely(bool condition)
{
    return __builtin_expect(condition, false);
}

#endif
