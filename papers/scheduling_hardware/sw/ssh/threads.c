/* SPDX-License-Identifier: Apache-2.0 */
/* The rare paths of the hardware back end: blocking, errors, settings that are made once. */
#include "backend.h"
#include "console.h"
#include "switch.h"

/* Weak: its address may be 0. */
extern char __okosu_policy[] __attribute__((weak));

extern char __threads_max[];

enum policy { POLICY_FIFO = 0, POLICY_PRIORITY = 3 };
enum { NO_STACKS_STATUS = 125 };

struct thread okosu_threads[256];

/* switch.S uses these offsets. */
_Static_assert(sizeof(struct thread) == 1 << LOG2_THREAD &&
                   offsetof(struct thread, context) == 20 &&
                   offsetof(struct thread, locals.used) == 0,
               "LOG2_THREAD, CONTEXT");

static void set_policy(unsigned policy)
{
    __asm__ volatile(ASM_COP2(PUT("%z0", 25)) : : "rJ"(policy));
}

/* A program that is linked for fewer threads than this machine has ids for would overwrite its
 * heap. */
static void check_stacks(void)
{
    unsigned ids = 1u << (COP2_READ(12) >> 8 & 15);

    if (ids <= (uintptr_t)__threads_max)
        return;
    for (const char *at = "okosu: __okosu_stacks is less than the machine's threads\n"; *at != 0;
         at++)
        console_put(CONSOLE_ERROR, *at);
    console_end(NO_STACKS_STATUS);
}

void threads_start(void)
{
    check_stacks();
    set_policy((uintptr_t)__okosu_policy);
    /* Only SOFT mode has interrupts. */
#ifdef __riscv
    __asm__ volatile("csrs mstatus,%0" : : "r"(INTERRUPTS));
#else
    __asm__ volatile("mtc0 %0,$12" : : "r"(INTERRUPTS));
#endif
}

/* The policy, if the user did not ask for another one. */
void threads_use_priorities(void)
{
    if ((uintptr_t)__okosu_policy == POLICY_FIFO)
        set_policy(POLICY_PRIORITY);
}

IN_CREATE int thread_create_failed(void)
{
    return (int)COP2_READ(5);
}

IN_JOIN int thread_join_blocked(void **value)
{
    struct answer answer = answer_of_waking();

    if (value != NULL && answer.error == 0)
        *value = (void *)answer.result;
    return (int)answer.error;
}

IN_SWITCH void thread_finish(void *value)
{
    __asm__ volatile(ASM_COP2(PUT("%z0", 17) "j soft_next\n\t" NOP) : : "rJ"(value) : "memory");
    __builtin_unreachable();
}

IN_LIB int thread_prioritise(unsigned handle, unsigned priority)
{
    int error;

    __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%z2", 24) GET("%0", 5))
                     : "=r"(error)
                     : "r"(handle), "rJ"(priority)
                     : "memory");
    return error;
}

static IN_LOCK int wait(volatile unsigned *word, unsigned kind, unsigned expected,
                        uint64_t deadline)
{
    unsigned error;

    if (deadline == NO_DEADLINE)
        __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%2", 1) PUT("%z3", 21) GET("%0", 5))
                         : "=r"(error)
                         : "r"(word), "r"(kind), "rJ"(expected)
                         : "memory");
    else
        __asm__ volatile(ASM_COP2(PUT("%1", 0) PUT("%2", 1) PUT("%4", 2) PUT("%z5", 3)
                                      PUT("%z3", 21) GET("%0", 5))
                         : "=r"(error)
                         : "r"(word), "r"(kind | WAIT_TIMED), "rJ"(expected),
                           "r"((unsigned)deadline), "rJ"((unsigned)(deadline >> 32))
                         : "memory");
    if (error == ERROR_BLOCKED)
        error = answer_of_waking().error;
    return (int)error;
}

IN_LOCK int word_wait(volatile unsigned *word, unsigned expected, uint64_t deadline)
{
    return wait(word, WAIT_COND, expected, deadline);
}

IN_LOCK void word_wake(volatile unsigned *word)
{
    __asm__ volatile(ASM_COP2(PUT("%0", 0) PUT("%1", 22) GET(ZERO, 6))
                     :
                     : "r"(word), "r"(MOST_COUNT)
                     : "memory");
}

IN_LOCK void word_wake_all(volatile unsigned *word, unsigned value)
{
    *word = value;
    word_wake(word);
}

IN_LOCK int lock_wait(struct lock *lock, uint64_t deadline)
{
    int error;

    /* If no watch is free, try again and again, and let other threads run in between. */
    while ((error = wait(&lock->word, WAIT_MUTEX, 1, deadline)) == EAGAIN) {
        if (lock_try(lock))
            return 0;
        if (deadline != NO_DEADLINE && cycle_now() >= deadline)
            return ETIMEDOUT;
        thread_yield();
    }
    return error;
}

/* The command of lock_wait_here() has not returned with the lock: the thread still has to wait for
 * it (SOFT), or no watch was free. */
IN_LOCK int lock_wait_more(struct lock *lock, unsigned error)
{
    if (error == ERROR_BLOCKED)
        error = answer_of_waking().error;
    return error == EAGAIN ? lock_wait(lock, NO_DEADLINE) : (int)error;
}

IN_LOCK bool barrier_arrive_again(pthread_barrier_t *barrier, struct answer answer)
{
    for (;;) {
        if (answer.error == ERROR_BLOCKED)
            answer = answer_of_waking();
        if (answer.error == 0)
            return answer.result;
        /* No watch is free. */
        thread_yield();
        answer = barrier_command(barrier);
    }
}
