/* SPDX-License-Identifier: Apache-2.0 */
/* SCHED_OTHER has priority 0, SCHED_FIFO and SCHED_RR have 1 to 15: the hardware's priorities. Of
 * equal threads each runs until it waits or yields, or, where the machine has a quantum
 * (__okosu_quantum), for that long. */
#ifndef SCHED_H
#define SCHED_H

#include <sys/types.h>
#include <time.h>

struct sched_param {
    int sched_priority;
};

enum { SCHED_OTHER, SCHED_FIFO, SCHED_RR };

/* POSIX lets programs ask by #ifdef. */
#define SCHED_OTHER SCHED_OTHER
#define SCHED_FIFO SCHED_FIFO
#define SCHED_RR SCHED_RR

int sched_yield(void);
int sched_get_priority_min(int policy);
int sched_get_priority_max(int policy);

/* Of the calling thread: `process` is 0 or getpid(), any other ESRCH. -1 and EINVAL: a policy or a
 * priority that there is not. sched_setscheduler returns the policy of before. */
int sched_setparam(pid_t process, const struct sched_param *param);
int sched_getparam(pid_t process, struct sched_param *param);
int sched_setscheduler(pid_t process, int policy, const struct sched_param *param);
int sched_getscheduler(pid_t process);
/* The machine's quantum; 0 where it has none. */
int sched_rr_get_interval(pid_t process, struct timespec *interval);

#endif
