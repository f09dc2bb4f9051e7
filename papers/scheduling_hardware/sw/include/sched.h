/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCHED_H
#define SCHED_H

struct sched_param {
    int sched_priority;
};

enum { SCHED_OTHER, SCHED_FIFO, SCHED_RR };

int sched_yield(void);
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);

#endif
