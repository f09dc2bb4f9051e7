/* SPDX-License-Identifier: Apache-2.0 */
/* Creation, end and joining of threads in software. */
#include <stdlib.h>

#include "scheduler.h"

extern char __stack_top[], __stack_log2[];

/* switch.S loads these fields first. */
struct frame {
    thread_entry entry;
    void *argument;
#ifdef __riscv
    unsigned kept[10];
    void (*begin)(void);
    unsigned unused[3];
#else
    unsigned kept[7];
    void (*begin)(void);
    unsigned unused[2];
#endif
};

enum { STACK_HEAD = 16, GENERATION = 0x100 };

extern void scheduler_begin(void);

static struct thread_list free_threads;
/* The first id that was never used, and the number of threads that have not ended. */
static unsigned fresh = 1, alive = 1;

/* How many stacks there are; one instruction, for it is at most 256. */
ALWAYS_INLINE unsigned stacks(void)
{
    unsigned count;

#ifdef __riscv
    __asm__("addi %0,zero,%%lo(__threads_max)" : "=r"(count));
#else
    __asm__("addiu %0,$0,%%lo(__threads_max)" : "=r"(count));
#endif
    return count;
}

/* The id that was free longest, so that its old handles come back late. */
static IN_CREATE struct thread *take_free(void)
{
    struct thread *thread;

    if (fresh == stacks())
        return list_take(&free_threads);
    thread = &okosu_threads[fresh];
    thread->handle = GENERATION | fresh++;
    return thread;
}

/* From now on the handle is that of the next thread with this id. */
ALWAYS_INLINE void give_back(struct thread *thread)
{
    thread->state = FREE;
    thread->handle = (thread->handle + GENERATION) & 0xffff;
    list_append(&free_threads, thread);
}

/* The thread with this handle, or NULL. */
ALWAYS_INLINE struct thread *find(unsigned handle)
{
    struct thread *thread = &okosu_threads[handle % THREADS];

    return thread->handle == handle && thread->state != FREE ? thread : NULL;
}

struct locals *locals_of(unsigned handle)
{
    return &okosu_threads[handle % THREADS].locals;
}

IN_CREATE int thread_create(unsigned long *handle, thread_entry entry, void *argument,
                            unsigned attributes)
{
    struct thread *thread;
    struct frame *frame;

    scheduler_lock();
    thread = take_free();
    if (thread == NULL) {
        scheduler_unlock();
        return EAGAIN;
    }
    frame = (struct frame *)(__stack_top - ((thread->handle % THREADS) << (uintptr_t)__stack_log2) -
                             STACK_HEAD) -
            1;
    frame->entry = entry;
    frame->argument = argument;
    frame->begin = scheduler_begin;
    thread->sp = (uintptr_t)frame;
    thread->state = ALIVE;
    thread->priority = attributes & THREAD_PRIORITY;
    thread->detached = (attributes & THREAD_DETACHED) != 0;
    thread->joiner = NULL;
    *handle = thread->handle;
    alive++;
    scheduler_make_ready(thread);
    scheduler_unlock();
    return 0;
}

IN_JOIN int thread_join(unsigned handle, void **value)
{
    struct thread *self = thread_current();
    struct thread *thread;
    int error = 0;

    scheduler_lock();
    thread = find(handle);
    if (thread == NULL) {
        error = ESRCH;
    } else if (thread == self || self->joiner == thread) {
        error = EDEADLK;
    } else if (thread->detached || thread->joiner != NULL) {
        error = EINVAL;
    } else if (thread->state == ENDED) {
        self->value = thread->value;
        give_back(thread);
    } else {
        thread->joiner = self;
        scheduler_run_next(self);
        goto joined;
    }
    scheduler_unlock();
    if (error != 0)
        return error;
joined:
    if (value != NULL)
        *value = self->value;
    return 0;
}

IN_JOIN int thread_detach(unsigned handle)
{
    struct thread *thread;
    int error = 0;

    scheduler_lock();
    thread = find(handle);
    if (thread == NULL)
        error = ESRCH;
    else if (thread->detached || thread->joiner != NULL)
        error = EINVAL;
    else if (thread->state == ENDED)
        give_back(thread);
    else
        thread->detached = true;
    scheduler_unlock();
    return error;
}

IN_SWITCH void thread_finish(void *value)
{
    struct thread *self = thread_current();

    scheduler_lock();
    /* With the last thread the program ends, though main has not returned. */
    if (--alive == 0) {
        scheduler_unlock();
        exit(0);
    }
    if (self->joiner != NULL) {
        self->joiner->value = value;
        scheduler_make_ready(self->joiner);
        give_back(self);
    } else if (self->detached) {
        give_back(self);
    } else {
        self->value = value;
        self->state = ENDED;
    }
    /* The lock is held until the stack is left. */
    scheduler_run_next(self);
    __builtin_unreachable();
}

IN_LIB int thread_prioritise(unsigned handle, unsigned priority)
{
    struct thread *thread;

    scheduler_lock();
    thread = find(handle);
    if (thread != NULL)
        thread->priority = priority;
    scheduler_unlock();
    return thread != NULL ? 0 : ESRCH;
}
