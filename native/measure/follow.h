/* SPDX-License-Identifier: Apache-2.0 */
/* The tracer: follows the tree by ptrace and reads each process at its end. */
#pragma once

#include "run.h"

/* A tracee has stopped: handle the reason and let it continue. */
void okosu_follow_stop(struct okosu_run *run, pid_t tid, int status);

/* A child or tracee has been reaped. */
void okosu_follow_gone(struct okosu_run *run, pid_t tid);

/* Raise the peak to the sum of what the live processes held when each was last read. */
void okosu_follow_raise_peak(struct okosu_run *run);

/* Look for descendants that ptrace did not announce, and follow them: those forked by an untraced
 * thread, and those of processes that could not be traced. Cheap where the tree has no threads. In
 * a run without tracing, this keeps the table in step with /proc. */
void okosu_follow_scan(struct okosu_run *run);
void okosu_follow_sync(struct okosu_run *run);

/* With --files: the files that the process has mapped now, read by way of its thread TID. */
void okosu_follow_read_files(struct okosu_run *run, struct okosu_process *process, pid_t tid);

/* Whether a process lives in the memory of the one that made it (vfork, CLONE_VM). */
bool okosu_follow_shares_memory(const struct okosu_process *process);
