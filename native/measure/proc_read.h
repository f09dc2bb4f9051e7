/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what okosu-measure needs to know of one thread or process from /proc. */
#pragma once

#include "proc_parse.h"

struct okosu_pids {
    pid_t *items;
    size_t count, room;
};

/* One row of a listing of /proc. */
struct okosu_proc_row {
    pid_t pid, ppid;
    char state;
    uint64_t start; /* ticks since boot */
};

struct okosu_proc_rows {
    struct okosu_proc_row *items;
    size_t count, room;
};

/* Read /proc/PID/task/TID/FILE as okosu_file_slurp() does. */
long okosu_proc_slurp(pid_t pid, pid_t tid, const char *file, char *text, size_t size);

/* Each reads a file of /proc/PID/task/TID: a group whose leader has left still shows its memory through
 * the others. Returns 0 or -errno (-ENOENT or -ESRCH when it has gone, -EACCES when it may not be
 * looked at). */
int okosu_proc_rollup(pid_t pid, pid_t tid, struct okosu_memory *out);
int okosu_proc_status(pid_t pid, pid_t tid, struct okosu_proc_status *out);
int okosu_proc_stat(pid_t pid, pid_t tid, struct okosu_proc_stat *out);
int okosu_proc_numa(pid_t pid, pid_t tid, struct okosu_proc_numa *out);

/* The text of maps, cut where it is longer than 64 MiB; returns its length or -errno. The caller
 * frees *text. */
ssize_t okosu_proc_maps(pid_t pid, pid_t tid, char **text, bool *cut);

/* From schedstat and sched. Returns 0, or -errno where the kernel keeps either of them not. */
int okosu_proc_sched(pid_t pid, pid_t tid, struct okosu_proc_sched *out);

/* The thread group of TID, 0 when it has gone. */
pid_t okosu_proc_tgid(pid_t tid);

/* How many threads the group has: one stat(2), no text. 0 when it has gone. */
unsigned okosu_proc_thread_count(pid_t pid);

/* The threads of PID. Returns 0 or -errno; the caller frees out->items. */
int okosu_proc_threads(pid_t pid, struct okosu_pids *out);

/* The descendants of ROOT, parents before children; the caller frees out->items. */
int okosu_proc_descendants(pid_t root, struct okosu_proc_rows *out);

/* Whether PID has released its memory already: it is ending without having been killed, or has
 * ended. */
bool okosu_proc_is_ending(pid_t pid);

/* Whether PID runs okosu-run's own code: the launcher's helper, a fork of it that never executed
 * anything. */
bool okosu_proc_is_launcher(pid_t pid);
