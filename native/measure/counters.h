/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters of a program and all that it starts, in user mode, where there are any. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { OKOSU_COUNTERS = 4 };

extern const char *const okosu_counter_names[OKOSU_COUNTERS];

struct okosu_counters {
    int fds[OKOSU_COUNTERS];
    int error; /* errno of the first counter that could not be opened, 0 if all were */
    uint64_t values[OKOSU_COUNTERS];
    bool counted[OKOSU_COUNTERS];
};

/* Count for `pid` from its next exec on, with the processes and threads that it will make. A counter
 * that the processor or the kernel does not have is left out. */
void okosu_counters_open(struct okosu_counters *counters, pid_t pid);

/* Call once the program has ended: reads the counters, scaled up where they had to take turns, and
 * closes them. */
void okosu_counters_close(struct okosu_counters *counters);
