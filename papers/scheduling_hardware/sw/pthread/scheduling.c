/* SPDX-License-Identifier: Apache-2.0 */
/* Policies and priorities of threads: 0 for SCHED_OTHER, 1 to 32 (as many as POSIX wants) for the
 * others; SCHED_RR's quantum is the machine's.
 *
 * The hardware has levels 0 to 15. A priority gets one when it is first used, so that the levels
 * are in the order of the priorities; if there is none between its neighbours', all are dealt out
 * anew. So 15 different priorities are told apart; one more shares the level of the next lower. */
#include "scheduling.h"

#include "backend.h"

enum { MOST_PRIORITY = 32, MOST_LEVEL = 15, THREADS_MOST = 256 };

static struct lock lock;
volatile bool scheduling_stretched;
/* The level of each priority in use, 0 if it is not. */
unsigned char scheduling_levels[MOST_PRIORITY + 1];

/* The level next below (-1) or above (1) a priority; 0 and MOST_LEVEL + 1 if there is none. */
static IN_LIB int neighbour(int priority, int step)
{
    for (priority += step; priority >= 1 && priority <= MOST_PRIORITY; priority += step)
        if (scheduling_levels[priority] != 0)
            return scheduling_levels[priority];
    return step < 0 ? 0 : MOST_LEVEL + 1;
}

static IN_LIB int in_use(void)
{
    int count = 0;

    for (int priority = 1; priority <= MOST_PRIORITY; priority++)
        count += scheduling_levels[priority] != 0;
    return count;
}

/* Deal the levels out evenly, room for a new priority included, and tell the back end. */
static IN_LIB void deal_out(int priority)
{
    int count, rank = 0;

    scheduling_levels[priority] = 1;
    count = in_use();
    for (int at = 1; at <= MOST_PRIORITY; at++)
        if (scheduling_levels[at] != 0)
            scheduling_levels[at] = (unsigned char)(++rank * (MOST_LEVEL + 1) / (count + 1));
    for (unsigned id = 0; id < THREADS_MOST; id++) {
        unsigned handle = locals_of(id)->scheduling >> 16;

        /* One that has ended is unknown: nothing happens. */
        if (handle != 0 && (handle & 255) == id)
            scheduling_apply(handle);
    }
}

/* As near as possible to where an equal number of lower and of higher ones would leave it; a small
 * number is its own level. */
static IN_LIB int between(int priority, int low, int high)
{
    int wanted = priority <= MOST_LEVEL ? priority : MOST_LEVEL - (MOST_PRIORITY - priority);

    if (wanted > low && wanted < high)
        return wanted;
    return (low + high) / 2;
}

IN_LIB unsigned scheduling_level_stretched(int priority)
{
    if (priority == 0)
        return 0;
    if (scheduling_levels[priority] != 0)
        return scheduling_levels[priority];
    if (!lock_try(&lock))
        lock_wait(&lock, NO_DEADLINE);
    scheduling_stretched = true;
    if (scheduling_levels[priority] == 0) {
        int low = neighbour(priority, -1), high = neighbour(priority, 1);

        if (high - low > 1)
            scheduling_levels[priority] = (unsigned char)between(priority, low, high);
        else if (in_use() < MOST_LEVEL)
            deal_out(priority);
        else
            scheduling_levels[priority] = (unsigned char)(low > 0 ? low : 1);
    }
    lock_release(&lock);
    return scheduling_levels[priority];
}

IN_LIB int sched_get_priority_min(int policy)
{
    if (policy < SCHED_OTHER || policy > SCHED_RR) {
        errno = EINVAL;
        return -1;
    }
    return policy == SCHED_OTHER ? 0 : 1;
}

IN_LIB int sched_get_priority_max(int policy)
{
    if (policy < SCHED_OTHER || policy > SCHED_RR) {
        errno = EINVAL;
        return -1;
    }
    return policy == SCHED_OTHER ? 0 : MOST_PRIORITY;
}

IN_LIB int scheduling_is_valid(int policy, int priority)
{
    if (policy == SCHED_OTHER)
        return priority == 0;
    return (policy == SCHED_FIFO || policy == SCHED_RR) && priority >= 1 &&
           priority <= MOST_PRIORITY;
}

/* Handle, policy and priority in one word: the handle tells whether the word is of an earlier
 * thread with the same id. */
IN_LIB void scheduling_note(unsigned handle, int policy, int priority)
{
    locals_of(handle)->scheduling = handle << 16 | (unsigned)policy << 8 | (unsigned)priority;
}

IN_LIB unsigned scheduling_noted(unsigned handle)
{
    unsigned scheduling = locals_of(handle)->scheduling;

    return scheduling >> 16 == handle ? scheduling & 0xffff : 0;
}

IN_LIB int scheduling_priority(unsigned handle)
{
    return (int)(scheduling_noted(handle) & 0xff);
}

IN_LIB int scheduling_apply(unsigned handle)
{
    unsigned priority = scheduling_noted(handle) & 0xff;

    if (held_priority != NULL)
        priority = held_priority(handle, priority);
    return thread_prioritise(handle, scheduling_level((int)priority));
}
