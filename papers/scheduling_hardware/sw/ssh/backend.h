/* SPDX-License-Identifier: Apache-2.0 */
/* Threads by the scheduling hardware: each operation is a COP2 command (doc/INTERFACES.md).
 *
 * In SOFT mode a command that blocks answers ERROR_BLOCKED, and soft_switch() saves the registers
 * and fetches another thread; in the other modes the hardware does that and the answer is the one
 * of the waking. So one program runs in all of them. */
#ifndef BACKEND_H
#define BACKEND_H

#include "threads.h"

enum { ERROR_BLOCKED = 255, MOST_COUNT = 4095 };
enum wait_kind { WAIT_MUTEX = 1, WAIT_COND = 2, WAIT_TIMED = 0x100 };

struct thread {
    struct locals locals;
    /* SOFT: s0 to s7, fp, sp, ra (switch.S); on RISC-V s0 to s11, sp, ra, in a struct of 128 bytes. */
#ifdef __riscv
    unsigned context[27];
#else
    unsigned context[11];
#endif
};

extern struct thread okosu_threads[];

/* The answer to a command. */
struct answer {
    unsigned result, error;
};

/* Save the caller and run another thread. Returns when the caller goes on, with the answer of its
 * wake-up: the result, and in the upper half the error. */
uint64_t soft_switch(void);

ALWAYS_INLINE struct answer answer_of_waking(void)
{
    uint64_t both = soft_switch();

    return (struct answer){(unsigned)both, (unsigned)(both >> 32)};
}

void threads_start(void);
void threads_use_priorities(void);
_Noreturn void thread_finish(void *value);
int thread_create_failed(void);
int thread_join_blocked(void **value);
int thread_prioritise(unsigned handle, unsigned priority);
int word_wait(volatile unsigned *word, unsigned expected, uint64_t deadline);
void word_wake_all(volatile unsigned *word, unsigned value);
void word_wake(volatile unsigned *word);
int lock_wait(struct lock *lock, uint64_t deadline);
int lock_wait_more(struct lock *lock, unsigned error);
bool barrier_arrive_again(pthread_barrier_t *barrier, struct answer answer);

ALWAYS_INLINE unsigned thread_self(void)
{
    return COP2_READ(7);
}

ALWAYS_INLINE struct locals *locals_of(unsigned handle)
{
    return &okosu_threads[handle & 255].locals;
}

ALWAYS_INLINE struct locals *thread_locals(void)
{
    return locals_of(thread_self());
}

ALWAYS_INLINE int thread_create(unsigned long *handle, thread_entry entry, void *argument,
                                unsigned attributes)
{
    unsigned created;

    if (__builtin_constant_p(attributes) && attributes == 0)
        __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%z2", 16) GET("%0", 6))
                         : "=r"(created)
                         : "r"(entry), "rJ"(argument)
                         : "memory");
    else
        __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%z2", 1) PUT("%z3", 16) GET("%0", 6))
                         : "=r"(created)
                         : "r"(entry), "rJ"(attributes), "rJ"(argument)
                         : "memory");
    /* No handle is 0: thread 0 was not created. */
    if (unlikely(created == 0))
        return thread_create_failed();
    *handle = created;
    return 0;
}

ALWAYS_INLINE int thread_join(unsigned handle, void **value)
{
    struct answer answer;

    __asm__ volatile(ASM_COP2(PUT("%2", 18) GET("%0", 5) GET("%1", 6))
                     : "=r"(answer.error), "=r"(answer.result)
                     : "r"(handle)
                     : "memory");
    if (unlikely(answer.error == ERROR_BLOCKED))
        return thread_join_blocked(value);
    if (value != NULL && answer.error == 0)
        *value = (void *)answer.result;
    return (int)answer.error;
}

ALWAYS_INLINE int thread_detach(unsigned handle)
{
    int error;

    __asm__ volatile(ASM_COP2(PUT("%1", 19) GET("%0", 5)) : "=r"(error) : "r"(handle) : "memory");
    return error;
}

ALWAYS_INLINE void thread_yield(void)
{
    unsigned error;

    __asm__ volatile(ASM_COP2(PUT(ZERO, 20) GET("%0", 5)) : "=r"(error) : : "memory");
    if (unlikely(error == ERROR_BLOCKED))
        soft_switch();
}

/* The store wakes the waiters, for SSH-m sees it on the bus. */
ALWAYS_INLINE void word_wake_one(volatile unsigned *word, unsigned value)
{
    *word = value;
}

ALWAYS_INLINE bool lock_try(struct lock *lock)
{
    return swap_word(&lock->word, 1) == 0;
}

/* lock_wait() without a deadline, for a caller that has nothing to save. */
ALWAYS_INLINE int lock_wait_here(struct lock *lock)
{
    unsigned error;

    __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%2", 1) PUT("%2", 21) GET("%0", 5))
                     : "=r"(error)
                     : "r"(&lock->word), "r"(WAIT_MUTEX)
                     : "memory");
    if (likely(error == 0))
        return 0;
    return lock_wait_more(lock, error);
}

/* A waiter is woken likewise, and the lock handed to it. */
ALWAYS_INLINE void lock_release(struct lock *lock)
{
    __asm__ volatile("" ::: "memory");
    lock->word = 0;
}

ALWAYS_INLINE struct answer barrier_command(pthread_barrier_t *barrier)
{
    struct answer answer;

    __asm__ volatile(ASM_COP2(PUT("%2", 0) PUT("%3", 23) GET("%0", 5) GET("%1", 6))
                     : "=r"(answer.error), "=r"(answer.result)
                     : "r"(&barrier->arrived), "r"(barrier->count)
                     : "memory");
    return answer;
}

/* All others go on at the same time, so nothing here may use the memory bus after the command. */
ALWAYS_INLINE bool barrier_arrive(pthread_barrier_t *barrier)
{
    struct answer answer = barrier_command(barrier);

    if (unlikely(answer.error != 0))
        return barrier_arrive_again(barrier, answer);
    return answer.result;
}

#endif
