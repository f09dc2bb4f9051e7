/* SPDX-License-Identifier: Apache-2.0 */
/* Thread groups whose first thread leaves before the others: which threads remain, and how to
 * notice the group's end. */
#pragma once

#include "run.h"

/* Trace TID without stopping it, and if `clones` the threads that it makes; returns 0 or -errno. */
int okosu_group_seize(pid_t tid, bool clones);

/* Whether the group goes on when its thread TID, held at its exit, has left. `threads`: how many it
 * has. */
bool okosu_group_goes_on(const struct okosu_run *run, const struct okosu_process *process,
                         pid_t tid, unsigned threads);

/* The first thread leaves or has left: trace every other one. False: one of them could not be
 * traced yet, because it executes a program. */
bool okosu_group_watch(struct okosu_run *run, struct okosu_process *process);

/* The first thread is stopped at its exit, and the group goes on: see to it that what the group
 * does next is traced from its beginning. */
void okosu_group_hold(struct okosu_run *run, struct okosu_process *process);

/* Try again to trace the processes that are held. */
void okosu_group_watch_held(struct okosu_run *run);

/* The process executes another program: everything known of the old one is discarded. */
void okosu_group_executed(struct okosu_run *run, struct okosu_process *process);
