/* SPDX-License-Identifier: Apache-2.0 */
/* The ready queue, the deadlines, and PEs without work. */
#include "scheduler.h"

#include "waiting.h"

extern char __okosu_policy[];

enum policy { POLICY_LIFO = 2, POLICY_PRIORITY = 3 };

struct thread okosu_threads[THREADS];
volatile unsigned scheduler_word;
struct thread_list scheduler_ready;
struct thread *scheduler_timed;
bool scheduler_priorities, scheduler_lifo;

/* switch.S uses this offset. */
_Static_assert(offsetof(struct thread, sp) == 20, "THREAD_SP");

void threads_use_priorities(void)
{
    scheduler_priorities = !scheduler_lifo;
}

void threads_start(void)
{
    scheduler_lifo = (uintptr_t)__okosu_policy == POLICY_LIFO;
    scheduler_priorities = (uintptr_t)__okosu_policy == POLICY_PRIORITY;
    okosu_threads[0].handle = 0x100;
    okosu_threads[0].state = ALIVE;
}

/* The thread is put behind all others of its priority, or behind all where priorities do not
 * count. */
IN_SWITCH void scheduler_insert(struct thread *thread)
{
    struct thread **link = &scheduler_ready.first;

    if (scheduler_priorities)
        while (*link != NULL && (*link)->priority >= thread->priority)
            link = &(*link)->next;
    thread->next = *link;
    *link = thread;
    if (thread->next == NULL)
        scheduler_ready.last = thread;
}

IN_SWITCH void scheduler_time_out(void)
{
    while (scheduler_timed != NULL && scheduler_timed->deadline <= cycle_now()) {
        struct thread *thread = scheduler_timed;

        waiting_remove(thread);
        thread->error = ETIMEDOUT;
        scheduler_make_ready(thread);
    }
}

/* An idle PE looks at the queue now and then, without the lock: all idle PEs together take a fifth
 * of the bus. */
_Noreturn void scheduler_idle(void);
IN_IDLE void scheduler_idle(void)
{
    unsigned pause = IDLE_PAUSE_PER_PE * pe_count();
    struct thread *next;

    for (;;) {
        volatile struct thread_list *ready = &scheduler_ready;
        struct thread *volatile *timed = &scheduler_timed;

        if ((ready->first != NULL || *timed != NULL) && swap_word(&scheduler_word, 1) == 0) {
            scheduler_time_out();
            next = list_take(&scheduler_ready);
            if (next != NULL)
                scheduler_resume(next);
            scheduler_unlock();
        }
        scheduler_pause(pause);
    }
}

IN_SWITCH void thread_yield(void)
{
    struct thread *self = thread_current();
    volatile struct thread_list *ready = &scheduler_ready;
    struct thread *volatile *timed = &scheduler_timed;

    if (ready->first == NULL && *timed == NULL)
        return;
    scheduler_lock();
    scheduler_make_ready(self);
    scheduler_run_next(self);
}
