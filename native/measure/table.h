/* SPDX-License-Identifier: Apache-2.0 */
/* The processes and threads of the tree that are alive, what was read of them, and the sums over
 * those that ended. */
#pragma once

#include "proc_parse.h"
#include "seen.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    OKOSU_TASK_BUCKETS = 1024,
    OKOSU_LARGEST = 32,
    /* Distinct masks or policies kept of one process. */
    OKOSU_NAMES_LIMIT = 1024,
};

/* A list of distinct strings in the order in which they were first seen. */
struct okosu_names {
    char **items;
    size_t count;
};

struct okosu_process {
    struct okosu_process *next, *previous;
    pid_t pid;
    pid_t maker;              /* who forked it, 0 unknown */
    bool root;                /* the program itself */
    bool forked;              /* made by copying its maker's address space */
    bool vforked;             /* made by vfork: it may still live in its maker's memory */
    bool execed;              /* has executed a program since */
    bool untraceable;         /* ptrace was refused for it */
    bool leaderless;          /* its first thread has left, others go on */
    bool final;               /* the reading at its end has been taken */
    bool shared;              /* ended in its maker's memory, which is counted there */
    bool launcher;            /* okosu-run's helper: no part of the tree */
    bool condemned;           /* killed by okosu-measure at the end */
    bool listed;              /* seen in the present listing of /proc */
    bool held;                /* sent a SIGSTOP, which ends once its next program is traced */
    uint64_t exe[2];          /* device and inode of what it runs, to notice an exec from outside */
    struct okosu_memory live; /* the newest sample while it lives, nothing afterwards */
    struct okosu_memory memory;
    uint64_t hwm_kb;
    int thp_enabled;
    char comm[OKOSU_COMM];
    char *cpus_allowed;
    struct okosu_names masks, policies;
    uint64_t cpus[OKOSU_CPUS / 64];
    uint64_t pages[OKOSU_NODES];
    struct okosu_proc_sched sched; /* over its threads that were read at their end */
    bool scheduled;                /* there was such a thread */
    struct okosu_seen_bits files, thread_names;
    struct okosu_proc_heaps heaps; /* the most that were seen of each */
};

struct okosu_task {
    struct okosu_task *next;
    pid_t tid;
    bool announced; /* its maker's event has been seen, or none will come */
    bool leaving;   /* has shown its exit */
    struct okosu_process *process;
};

struct okosu_table {
    struct okosu_task *buckets[OKOSU_TASK_BUCKETS];
    struct okosu_process *processes;
    struct okosu_process *largest[OKOSU_LARGEST]; /* by rss, descending */
    size_t largest_count;
    struct okosu_memory exit; /* over the processes that ended */
    uint64_t ended, forks;    /* counts of them, the launcher's helper apart */
    uint64_t at_once;         /* the most that were known at one time, that helper apart */
    struct okosu_proc_sched sched;
    bool scheduled;
    struct okosu_proc_heaps heaps;
    struct okosu_seen files, thread_names;                  /* of all processes … */
    struct okosu_seen_bits ended_files, ended_thread_names; /* … and of those that ended */
};

struct okosu_task *okosu_table_find(struct okosu_table *table, pid_t tid);

/* The process PID, made with a task of the same number if it is new; NULL without memory. */
struct okosu_process *okosu_table_process(struct okosu_table *table, pid_t pid);

/* The task TID of PROCESS, made if it is new; NULL without memory. */
struct okosu_task *okosu_table_task(struct okosu_table *table, struct okosu_process *process,
                                    pid_t tid);

/* Forget a task (a thread other than the first), or all tasks of a process but its first thread. */
void okosu_table_drop(struct okosu_table *table, pid_t tid);
void okosu_table_drop_others(struct okosu_table *table, const struct okosu_process *process);

/* Forget what was read of a process: it runs another program from now on. */
void okosu_process_reset(struct okosu_process *process);

/* The process has ended: add it to the sums, keep it if it is large, forget its tasks. */
void okosu_table_end(struct okosu_table *table, struct okosu_process *process);

/* End every process that is left. */
void okosu_table_end_all(struct okosu_table *table);
void okosu_table_clear(struct okosu_table *table);

void okosu_names_add(struct okosu_names *names, const char *name);
void okosu_memory_add(struct okosu_memory *sum, const struct okosu_memory *more);
void okosu_memory_raise(struct okosu_memory *highest, const struct okosu_memory *other);

/* Take over a reading. */
void okosu_process_take_cpu(struct okosu_process *process, int cpu, const char *mask);
void okosu_process_take_numa(struct okosu_process *process, const struct okosu_proc_numa *numa);
void okosu_process_take_heaps(struct okosu_process *process, const struct okosu_proc_heaps *heaps);
void okosu_process_take_sched(struct okosu_process *process, const struct okosu_proc_sched *sched);
