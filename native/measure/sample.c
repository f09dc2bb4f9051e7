/* SPDX-License-Identifier: Apache-2.0 */
/* --proof=sample. A snapshot is the sum over the live processes; the peak takes the largest value
 * of each of the four fields separately, so two fields of the peak may stem from different
 * snapshots. The reading at a process's exit counts as a snapshot too: the peak is never below what
 * a process held at its end. Reading takes mmap_lock and delays the program, so the times of a
 * sampled run must not be compared with those of other runs. */
#include "sample.h"

#include "follow.h"
#include "proc_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Without a tracer an exec is noticed by the changed executable. Earlier readings then belong to
 * the launcher. */
static void notice_exec(struct okosu_process *process)
{
    char path[64];
    struct stat info;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)process->pid);
    if (stat(path, &info))
        return;
    if (info.st_dev == process->exe[0] && info.st_ino == process->exe[1])
        return;
    if (process->exe[1]) {
        okosu_process_reset(process);
        process->execed = true;
    }
    process->exe[0] = info.st_dev;
    process->exe[1] = info.st_ino;
}

/* Where the threads run and may run; returns how many there are beside the first. */
static uint64_t sample_threads(struct okosu_run *run, struct okosu_process *process)
{
    struct okosu_pids threads;
    uint64_t others = 0;

    if (okosu_proc_threads(process->pid, &threads) == 0) {
        for (size_t i = 0; i < threads.count; i++) {
            struct okosu_proc_status status;
            struct okosu_proc_stat stat;
            pid_t tid = threads.items[i];
            if (okosu_proc_stat(process->pid, tid, &stat) ||
                okosu_proc_status(process->pid, tid, &status))
                continue;
            okosu_process_take_cpu(process, stat.cpu, status.cpus_allowed);
            if (run->options->threads)
                okosu_seen_add(&run->table->thread_names, &process->thread_names, stat.comm,
                               strlen(stat.comm));
            others += tid != process->pid;
        }
    }
    free(threads.items);
    return others;
}

/* An untraced process is not read at its end, so the largest values seen stand in for that. */
static void keep_sample(struct okosu_process *process)
{
    struct okosu_proc_status status;
    struct okosu_proc_stat stat;

    okosu_memory_raise(&process->memory, &process->live);
    if (okosu_proc_status(process->pid, process->pid, &status) == 0) {
        if (status.hwm_kb > process->hwm_kb)
            process->hwm_kb = status.hwm_kb;
        process->thp_enabled = status.thp_enabled;
        free(process->cpus_allowed);
        process->cpus_allowed = strdup(status.cpus_allowed);
    }
    if (okosu_proc_stat(process->pid, process->pid, &stat) == 0)
        memcpy(process->comm, stat.comm, sizeof(process->comm));
}

/* Read through the first thread that can be read, because the leader may have left. Returns that
 * thread, 0 if there is none. */
static pid_t read_memory(pid_t pid, struct okosu_memory *memory)
{
    struct okosu_pids threads;
    pid_t tid = 0;

    if (okosu_proc_rollup(pid, pid, memory) == 0)
        return pid;
    if (okosu_proc_threads(pid, &threads) == 0) {
        for (size_t i = 0; i < threads.count && !tid; i++) {
            if (okosu_proc_rollup(pid, threads.items[i], memory) == 0)
                tid = threads.items[i];
        }
    }
    free(threads.items);
    return tid;
}

static bool is_traced(const struct okosu_run *run, const struct okosu_process *process)
{
    return run->result->traced && !process->untraceable;
}

static uint64_t sample_process(struct okosu_run *run, struct okosu_process *process)
{
    pid_t tid;
    struct okosu_memory memory = {0};
    struct okosu_proc_numa *numa;
    bool traced = is_traced(run, process);
    uint64_t others;

    if (process->final)
        return 0;
    if (!traced)
        notice_exec(process);
    memset(&process->live, 0, sizeof(process->live));
    process->launcher = !process->root && okosu_proc_is_launcher(process->pid);
    if (process->launcher || okosu_follow_shares_memory(process))
        return 0;
    tid = read_memory(process->pid, &memory);
    if (!tid)
        return 0;
    process->live = memory;
    others = sample_threads(run, process);
    if (!traced)
        keep_sample(process);
    if (run->options->numa && (numa = malloc(sizeof(*numa)))) {
        if (okosu_proc_numa(process->pid, tid, numa) == 0)
            okosu_process_take_numa(process, numa);
        free(numa);
    }
    okosu_follow_read_files(run, process, tid);
    return others;
}

void okosu_sample_take(struct okosu_run *run)
{
    uint64_t threads = 0;

    okosu_follow_sync(run);
    for (struct okosu_process *p = run->table->processes; p; p = p->next) {
        uint64_t others = sample_process(run, p);
        /* The tracer counts the threads that it follows, and it may hear of one later than /proc
         * shows it. */
        if (!(run->options->threads && is_traced(run, p)))
            threads += others;
    }
    if (threads > run->sampled_threads) {
        run->result->threads += threads - run->sampled_threads;
        run->sampled_threads = threads;
    }
    okosu_follow_raise_peak(run);
}
