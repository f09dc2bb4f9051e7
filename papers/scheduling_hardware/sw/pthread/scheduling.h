/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCHEDULING_H
#define SCHEDULING_H

#include <stdbool.h>

#include "machine.h"

/* The hardware's level, 0 to 15, of a priority that a thread is given from now on. Levels are in the
 * order of the priorities. */
unsigned scheduling_level_stretched(int priority);

/* Whether a priority was used that is no level; until then each is its own. */
extern volatile bool scheduling_stretched;
extern unsigned char scheduling_levels[];

ALWAYS_INLINE unsigned scheduling_level(int priority)
{
    if (priority > 15 || scheduling_stretched)
        return scheduling_level_stretched(priority);
    scheduling_levels[priority] = (unsigned char)priority;
    return (unsigned)priority;
}

/* A thread's policy (from bit 8 on) and priority; 0 if it was given none. */
unsigned scheduling_noted(unsigned handle);

/* The priority that a thread was given, or 0. */
int scheduling_priority(unsigned handle);

/* Let the hardware know a thread's priority, which is its own or that of a mutex that it holds;
 * ESRCH. */
int scheduling_apply(unsigned handle);

/* Remember a thread's policy and priority. */
void scheduling_note(unsigned handle, int policy, int priority);

/* Whether this policy has this priority. */
int scheduling_is_valid(int policy, int priority);

#endif
