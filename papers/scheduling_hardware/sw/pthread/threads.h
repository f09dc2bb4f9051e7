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

ALWAYS_INLINE bool likely(bool condition)
{
    return __builtin_expect(condition, true);
}

ALWAYS_INLINE bool unlikely(bool condition)
{
    return __builtin_expect(condition, false);
}

#endif
