/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a thread that runs. */
#include "backend.h"
#include "scheduling.h"

enum { THREADS = 256, GUARD = 1024 };

extern char __stack_top[], __stack_log2[], __main_stack_top[];

/* The stacks of those that have not got their slot's. */
static struct {
    unsigned handle;
    char *stack, *end;
} own_stacks[THREADS];

void stack_note(char *stack, char *end)
{
    unsigned self = thread_self(), id = self % THREADS;

    own_stacks[id].handle = self;
    own_stacks[id].stack = stack;
    own_stacks[id].end = end;
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attr)
{
    unsigned id = thread % THREADS, noted = scheduling_noted(thread);
    size_t slot = 1u << (uintptr_t)__stack_log2;
    char *end = __stack_top - id * slot, *start = end - slot;

    if (scheduling_apply(thread) != 0)
        return ESRCH;
    pthread_attr_init(attr);
    if (own_stacks[id].handle == thread) {
        start = own_stacks[id].stack;
        end = own_stacks[id].end;
        attr->guard_size = 0;
    } else {
        /* main has what is above its slot, too; nobody has the guard. */
        start += GUARD;
        if (id == 0)
            end = __main_stack_top;
    }
    attr->stack = start;
    attr->stack_size = (unsigned)(end - start);
    attr->policy = (int)(noted >> 8);
    attr->priority = (int)(noted & 0xff);
    attr->detached = join_is_detached != NULL && join_is_detached(thread);
    return 0;
}
