/* SPDX-License-Identifier: Apache-2.0 */
/* Threads in software, for comparison: a ready queue in shared memory under one lock, which is
 * taken by the exchange. Of the scheduling hardware nothing is used but what any multiprocessor
 * has: the number of the PE and the cycle counter.
 *
 * The running thread is in register k1, or RISC-V's tp, which compilers leave alone. */
#ifndef BACKEND_H
#define BACKEND_H

#include "threads.h"

enum thread_state { FREE, ALIVE, ENDED };

struct thread {
    struct locals locals;
    /* The stack pointer; its registers are saved there (switch.S). */
    unsigned sp;
    enum thread_state state;
    /* The next thread in the list that this one is in: of free, of ready, or of waiting threads. */
    struct thread *next;
    unsigned handle;
    unsigned priority;
    bool detached;
    struct thread *joiner;
    /* The value that it returned, or that of the thread that it joined. */
    void *value;
    /* The word that it is blocked at, and its deadline; and its place in the list of threads with a
     * deadline. */
    const volatile unsigned *word;
    uint64_t deadline;
    struct thread *next_timed;
    int error;
};

_Noreturn void okosu_main(void);
void threads_start(void);
void threads_use_priorities(void);
_Noreturn void thread_finish(void *value);
int thread_create(unsigned long *handle, thread_entry entry, void *argument, unsigned attributes);
int thread_join(unsigned handle, void **value);
int thread_detach(unsigned handle);
void thread_yield(void);
int thread_prioritise(unsigned handle, unsigned priority);
struct locals *locals_of(unsigned handle);
int word_wait(volatile unsigned *word, unsigned expected, uint64_t deadline);
void word_wake_one(volatile unsigned *word, unsigned value);
void word_wake_all(volatile unsigned *word, unsigned value);
void word_wake(volatile unsigned *word);
int lock_wait(struct lock *lock, uint64_t deadline);
void lock_hand_over(struct lock *lock);
bool barrier_arrive(pthread_barrier_t *barrier);

ALWAYS_INLINE struct thread *thread_current(void)
{
    struct thread *current;

#ifdef __riscv
    __asm__("mv %0,tp" : "=r"(current));
#else
    __asm__("move %0,$27" : "=r"(current));
#endif
    return current;
}

ALWAYS_INLINE unsigned thread_self(void)
{
    return thread_current()->handle;
}

ALWAYS_INLINE struct locals *thread_locals(void)
{
    return &thread_current()->locals;
}

ALWAYS_INLINE bool lock_try(struct lock *lock)
{
    return swap_word(&lock->word, 1) == 0;
}

ALWAYS_INLINE int lock_wait_here(struct lock *lock)
{
    return lock_wait(lock, NO_DEADLINE);
}

/* The store comes before the load on the bus, and a waiter announces itself before its last try:
 * one of the two sees the other. */
ALWAYS_INLINE void lock_release(struct lock *lock)
{
    __asm__ volatile("" ::: "memory");
    lock->word = 0;
    if (unlikely(lock->waiters != 0))
        lock_hand_over(lock);
}

#endif
