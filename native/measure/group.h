/* SPDX-License-Identifier: Apache-2.0 */
/* Thread groups whose first thread leaves before the others: which threads remain, and how to
 * notice the group's end. */
#ifndef OKOSU_MEASURE_GROUP_H
#define OKOSU_MEASURE_GROUP_H

#include "run.h"

/* Trace TID without stopping it, and if `clones` the threads that it makes; returns 0 or -errno. */
int okosu_group_seize(pid_t tid, bool clones);

/* Whether the group goes on when its thread TID, held at its exit, has left. `threads`: how many it
 * has. */
bool okosu_group_goes_on(const struct okosu_run *run, const struct okosu_process *process,
                         pid_t tid, unsigned threads);

/* The first thread has left or is leaving, and is not stopped: trace every other one. */
void okosu_group_watch(struct okosu_run *run, struct okosu_process *process);

/* The process executes another program: everything known of the old one is discarded. */
void okosu_group_executed(struct okosu_run *run, struct okosu_process *process);

#endif
