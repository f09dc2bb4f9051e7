/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's state and lock. All functions but the one that takes the lock are called with it
 * held. */
#ifndef SCHEDULER_H
#define SCHEDULER_H

#include "backend.h"

/* Pauses are in rounds of three cycles. */
enum { THREADS = 256, LOCK_PAUSE = 8, IDLE_PAUSE_PER_PE = 5 };

struct thread_list {
    struct thread *first, *last;
};

extern struct thread okosu_threads[THREADS];
extern volatile unsigned scheduler_word;
extern struct thread_list scheduler_ready;
/* The threads that wait with a deadline, the earliest first. */
extern struct thread *scheduler_timed;
extern bool scheduler_priorities, scheduler_lifo;

/* Save the caller's registers and go on as `next`, or without one (NULL) as the idle loop of this
 * PE; then release the lock. */
void scheduler_switch(struct thread *self, struct thread *next);

/* The second half: the idle loop takes up a thread. */
_Noreturn void scheduler_resume(struct thread *next);

ALWAYS_INLINE void scheduler_pause(unsigned rounds)
{
    for (; rounds > 0; rounds--)
        __asm__ volatile("");
}

/* Inline, so that waiting for the lock is booked to the operation that waits. Between tries the bus
 * is left alone for a while. */
ALWAYS_INLINE void scheduler_lock(void)
{
    while (swap_word(&scheduler_word, 1) != 0) {
        do {
            scheduler_pause(LOCK_PAUSE);
        } while (scheduler_word != 0);
    }
}

ALWAYS_INLINE void scheduler_unlock(void)
{
    __asm__ volatile("" ::: "memory");
    scheduler_word = 0;
}

ALWAYS_INLINE void list_append(struct thread_list *list, struct thread *thread)
{
    thread->next = NULL;
    if (list->first == NULL)
        list->first = thread;
    else
        list->last->next = thread;
    list->last = thread;
}

ALWAYS_INLINE struct thread *list_take(struct thread_list *list)
{
    struct thread *first = list->first;

    if (first != NULL)
        list->first = first->next;
    return first;
}

void scheduler_insert(struct thread *thread);
void scheduler_time_out(void);

ALWAYS_INLINE void scheduler_make_ready(struct thread *thread)
{
    if (unlikely(scheduler_priorities || scheduler_lifo))
        scheduler_insert(thread);
    else
        list_append(&scheduler_ready, thread);
}

/* The caller blocks, or goes to the end of the queue, and another thread runs. */
ALWAYS_INLINE void scheduler_run_next(struct thread *self)
{
    struct thread *next;

    if (unlikely(scheduler_timed != NULL))
        scheduler_time_out();
    next = list_take(&scheduler_ready);
    if (next != self)
        scheduler_switch(self, next);
    else
        scheduler_unlock();
}

#endif
