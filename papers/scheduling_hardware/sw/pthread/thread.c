/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: creation, end, joining. */
#include <stdlib.h>

#include "backend.h"
#include "keys.h"
#include "scheduling.h"

extern char __stack_top[], __stack_log2[];

/* What a new thread needs beyond a function and its argument. */
struct start {
    thread_entry entry;
    void *argument;
    /* The thread's own stack, freed at its end, and where it ends; NULL: the stack of its slot. */
    void *allocated;
    char *stack, *stack_end;
};

/* The o32 area for a function's arguments. */
enum { STACK_HEAD = 16 };

static uintptr_t slot_end(void)
{
    return (uintptr_t)__stack_top - ((thread_self() & 255) << (uintptr_t)__stack_log2) - STACK_HEAD;
}

/* Call `function(argument)` on another stack; it must not return. */
static _Noreturn void call_on(uintptr_t stack, void (*function)(void *), void *argument)
{
#ifdef __riscv
    __asm__ volatile("mv a0,%2\n\tmv t0,%1\n\tmv sp,%0\n\tjr t0"
                     :
                     : "r"(stack), "r"(function), "r"(argument)
                     : "a0", "t0", "memory");
#else
    __asm__ volatile("move $4,%2\n\tmove $25,%1\n\tmove $29,%0\n\tjr $25"
                     :
                     : "r"(stack), "r"(function), "r"(argument)
                     : "$4", "$25", "memory");
#endif
    __builtin_unreachable();
}

static void run_start(void *data)
{
    struct start start = *(struct start *)data;

    free(data);
    pthread_exit(start.entry(start.argument));
}

static IN_CREATE void *run_on_own_stack(void *data)
{
    struct start *start = data;
    struct locals *locals = thread_locals();

    locals->stack = start->allocated;
    locals->used |= start->allocated != NULL;
    if (stack_note != NULL)
        stack_note(start->stack, start->stack_end);
    call_on((uintptr_t)start->stack_end - STACK_HEAD, run_start, start);
}

/* A thread that asks for another size gets a stack of its own, for all slots have one size. */
static IN_CREATE int create_with_stack(pthread_t *thread, const pthread_attr_t *attr,
                                       thread_entry entry, void *argument, unsigned attributes)
{
    struct start *start = malloc(sizeof(*start));
    char *stack = attr->stack != NULL ? attr->stack : malloc(attr->stack_size);
    void *allocated = attr->stack != NULL ? NULL : stack;
    int error = EAGAIN;

    if (start != NULL && stack != NULL) {
        *start = (struct start){entry, argument, allocated, stack,
                                (char *)((uintptr_t)(stack + attr->stack_size) & ~(uintptr_t)7)};
        error = thread_create(thread, run_on_own_stack, start, attributes);
    }
    if (error != 0) {
        free(allocated);
        free(start);
    }
    return error;
}

static IN_CREATE __attribute__((noinline)) int
create_with(pthread_t *thread, const pthread_attr_t *attr, thread_entry entry, void *argument)
{
    unsigned attributes = attr->detached ? THREAD_DETACHED : 0;
    pthread_t created = 0;
    int error;

    if (attr->explicit_scheduling) {
        attributes |= scheduling_level(attr->priority);
        if (attr->priority != 0)
            threads_use_priorities();
    }
    if (attr->stack != NULL || attr->stack_size > 1u << (uintptr_t)__stack_log2)
        error = create_with_stack(&created, attr, entry, argument, attributes);
    else
        error = thread_create(&created, entry, argument, attributes);
    if (error != 0)
        return error;
    if (attr->explicit_scheduling)
        scheduling_note(created, attr->policy, attr->priority);
    if (attr->detached && join_note_detached != NULL)
        join_note_detached(created);
    *thread = created;
    return 0;
}

IN_CREATE int thread_create_plain(pthread_t *thread, const pthread_attr_t *attr, thread_entry entry,
                                  void *argument)
{
    return attr != NULL ? create_with(thread, attr, entry, argument)
                        : thread_create(thread, entry, argument, 0);
}

/* Weak are the functions that posix/ replaces in programs with signals, cancellation or priorities,
 * so that they cost nothing in others. */
__attribute__((weak)) IN_CREATE int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                                   thread_entry entry, void *argument)
{
    if (unlikely(attr != NULL))
        return create_with(thread, attr, entry, argument);
    return thread_create(thread, entry, argument, 0);
}

__attribute__((weak)) IN_JOIN int pthread_join(pthread_t thread, void **value)
{
    return thread_join(thread, value);
}

__attribute__((weak)) IN_JOIN int pthread_detach(pthread_t thread)
{
    return thread_detach(thread);
}

/* A thread cannot free the stack that it runs on. */
struct last_words {
    void *stack;
    void *value;
};

static IN_SWITCH void finish_without_stack(void *data)
{
    struct last_words last = *(struct last_words *)data;

    free(last.stack);
    thread_finish(last.value);
}

static IN_SWITCH void clean(struct locals *locals, void *value)
{
    struct last_words last = {locals->stack, value};
    struct last_words *kept = (struct last_words *)(slot_end() - sizeof(last));

    /* The cleanup handlers and the destructors may still look at what the thread is. */
    if (events_clean != NULL)
        events_clean();
    keys_destroy_values(locals);
    if (held_end != NULL)
        held_end();
    if (events_end != NULL)
        events_end();
    locals->used = 0;
    locals->error = 0;
    locals->stack = NULL;
    if (last.stack != NULL) {
        *kept = last;
        call_on((uintptr_t)kept - STACK_HEAD, finish_without_stack, kept);
    }
}

IN_SWITCH void pthread_exit(void *value)
{
    struct locals *locals = thread_locals();

    if (locals->used)
        clean(locals, value);
    thread_finish(value);
}

IN_LIB pthread_t pthread_self(void)
{
    return thread_self();
}

IN_LIB int pthread_equal(pthread_t left, pthread_t right)
{
    return left == right;
}

__attribute__((weak)) IN_SWITCH int sched_yield(void)
{
    thread_yield();
    return 0;
}

__attribute__((weak)) IN_SWITCH int pthread_yield(void)
{
    thread_yield();
    return 0;
}
