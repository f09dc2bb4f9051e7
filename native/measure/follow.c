/* SPDX-License-Identifier: Apache-2.0 */
/* The tracer. Only threads that end, fork or execute are stopped. Without --threads only the first
 * thread of each process is traced: PTRACE_EVENT_EXIT shows its memory still mapped however the
 * process ends (exit_group from any thread, a fatal signal), and other threads, being untraced,
 * start and end at no extra cost. What this misses is covered otherwise: group.c notices the end
 * where the first thread leaves alone or another one executes a program, and okosu_follow_scan
 * finds in /proc what other threads forked.
 *
 * Limits: a program that traces (gdb, strace) cannot do so while it is traced itself; set-user-ID
 * programs run without their privilege, unless okosu-measure has it; an ignored signal interrupts
 * system calls, most of which are restarted (epoll_wait and a few more return EINTR instead); a
 * short-lived child that an untraced thread forks can remain unseen. */
#include "follow.h"

#include "group.h"
#include "proc_read.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A tracee that was killed meanwhile cannot be continued; its end is reported separately. */
static void go_on(enum __ptrace_request how, pid_t tid, int signal)
{
    ptrace(how, tid, NULL, (void *)(long)signal);
}

static bool alive(char state)
{
    return state != 'Z' && state != 'X';
}

bool okosu_follow_shares_memory(const struct okosu_process *process)
{
    if (process->maker <= 0)
        return false;
    long order = syscall(SYS_kcmp, process->pid, process->maker, KCMP_VM, 0UL, 0UL);
    if (order >= 0)
        return order == 0;
    /* ESRCH: the maker has ended, so the memory is this process's own. Any other error: kcmp is
     * refused or not built in. */
    return errno != ESRCH && process->vforked && !process->execed;
}

static void read_thread(struct okosu_run *run, struct okosu_process *process, pid_t tid,
                        const struct okosu_proc_status *status)
{
    struct okosu_proc_stat stat;
    struct okosu_proc_sched sched;

    if (okosu_proc_sched(process->pid, tid, &sched) == 0)
        okosu_process_take_sched(process, &sched);
    if (okosu_proc_stat(process->pid, tid, &stat))
        return;
    okosu_process_take_cpu(process, stat.cpu, status->cpus_allowed);
    if (!process->comm[0] || tid == process->pid)
        memcpy(process->comm, stat.comm, sizeof(process->comm));
    if (run->options->threads)
        okosu_seen_add(&run->table->thread_names, &process->thread_names, stat.comm,
                       strlen(stat.comm));
}

void okosu_follow_read_files(struct okosu_run *run, struct okosu_process *process, pid_t tid)
{
    struct okosu_seen *files = &run->table->files;
    struct okosu_proc_heaps heaps;
    const char *at, *name;
    char *text;
    size_t size;
    bool cut;

    if (!run->options->files)
        return;
    ssize_t length = okosu_proc_maps(process->pid, tid, &text, &cut);
    if (length < 0)
        return;
    files->cut |= cut;
    at = text;
    while (okosu_proc_next_file(&at, text + length, &name, &size))
        okosu_seen_add(files, &process->files, name, size);
    okosu_proc_parse_heaps(text, (size_t)length, &heaps);
    okosu_process_take_heaps(process, &heaps);
    free(text);
}

void okosu_follow_raise_peak(struct okosu_run *run)
{
    struct okosu_memory sum = {0};

    for (const struct okosu_process *p = run->table->processes; p; p = p->next) {
        if (!p->launcher && !p->shared)
            okosu_memory_add(&sum, &p->live);
    }
    okosu_memory_raise(&run->result->peak, &sum);
}

/* The proof: what the process holds when its thread TID, stopped at its exit, is about to release
 * it. Returns false where that could not be read: the thread was killed meanwhile and has released
 * the memory, and another thread of the process will be read instead. */
static bool read_end(struct okosu_run *run, struct okosu_process *process, pid_t tid,
                     const struct okosu_proc_status *status)
{
    struct okosu_memory memory;
    struct okosu_proc_numa *numa;

    process->hwm_kb = status->hwm_kb;
    process->thp_enabled = status->thp_enabled;
    free(process->cpus_allowed);
    process->cpus_allowed = strdup(status->cpus_allowed);
    process->launcher = !process->root && okosu_proc_is_launcher(process->pid);
    process->shared = okosu_follow_shares_memory(process);
    if (process->launcher || process->shared)
        return true;
    if (okosu_proc_rollup(process->pid, tid, &memory))
        return false;
    process->memory = process->live = memory;
    if (run->options->numa && (numa = malloc(sizeof(*numa)))) {
        if (okosu_proc_numa(process->pid, tid, numa) == 0)
            okosu_process_take_numa(process, numa);
        free(numa);
    }
    okosu_follow_read_files(run, process, tid);
    if (run->options->proof == OKOSU_PROOF_SAMPLE)
        okosu_follow_raise_peak(run);
    memset(&process->live, 0, sizeof(process->live));
    return true;
}

static void at_exit(struct okosu_run *run, struct okosu_task *task)
{
    uint64_t since = okosu_now();
    struct okosu_process *process = task->process;
    pid_t tid = task->tid;
    bool first = tid == process->pid, goes_on = false;
    bool tells = (first || process->leaderless) && !process->final;
    struct okosu_proc_status status;

    task->leaving = true;
    if (run->reading && (run->options->threads || tells) &&
        okosu_proc_status(process->pid, tid, &status) == 0) {
        read_thread(run, process, tid, &status);
        if (tells) {
            goes_on = okosu_group_goes_on(run, process, tid, status.threads);
            /* Threads of one process may leave one by one, and only the last of them sees all that
             * the process held at its end. The first one is read as well, in case the last one is
             * missed. */
            if (first || !goes_on)
                process->final = read_end(run, process, tid, &status) && !goes_on;
            process->leaderless |= goes_on;
        }
    }
    if (first && goes_on && !run->options->threads)
        okosu_group_hold(run, process);
    go_on(PTRACE_CONT, tid, 0);
    if (!run->root_reaped)
        run->result->stopped_ns += okosu_now() - since;
    if (first && goes_on && !run->options->threads)
        okosu_group_watch(run, process);
}

static bool was_unannounced(struct okosu_run *run, pid_t tid)
{
    for (size_t i = 0; i < OKOSU_UNANNOUNCED; i++) {
        if (run->unannounced[i] == tid) {
            run->unannounced[i] = 0;
            return true;
        }
    }
    return false;
}

/* A new task stops before the event that announces it: /proc shows its group now, and how it was
 * made is known later. */
static struct okosu_task *introduce(struct okosu_run *run, pid_t tid)
{
    pid_t pid = okosu_proc_tgid(tid);
    struct okosu_process *process;

    if (!pid || pid == tid) {
        process = okosu_table_process(run->table, tid);
        if (process)
            process->forked = true;
        return okosu_table_find(run->table, tid);
    }
    process = okosu_table_process(run->table, pid);
    if (!process)
        return NULL;
    run->result->threads += run->options->threads;
    return okosu_table_task(run->table, process, tid);
}

static void is_made(struct okosu_run *run, struct okosu_process *maker, pid_t tid, int event)
{
    struct okosu_task *task = okosu_table_find(run->table, tid);
    struct okosu_process *process;
    char path[80];

    if (!task && was_unannounced(run, tid)) {
        /* The task was counted as a fork, and has ended since. */
        if (event == PTRACE_EVENT_VFORK && run->table->forks > 0)
            run->table->forks--;
        return;
    }
    if (event == PTRACE_EVENT_CLONE && !task) {
        snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)maker->pid, (int)tid);
        if (access(path, F_OK) == 0) {
            task = okosu_table_task(run->table, maker, tid);
            run->result->threads += run->options->threads;
        }
    }
    if (!task || task->process->pid == tid) {
        process = okosu_table_process(run->table, tid);
        if (!process)
            return;
        process->maker = maker->pid;
        process->vforked = event == PTRACE_EVENT_VFORK;
        process->forked = event == PTRACE_EVENT_FORK ||
                          (event == PTRACE_EVENT_CLONE && !okosu_follow_shares_memory(process));
        task = okosu_table_find(run->table, tid);
    }
    if (task)
        task->announced = true;
}

void okosu_follow_stop(struct okosu_run *run, pid_t tid, int status)
{
    struct okosu_task *task = okosu_table_find(run->table, tid);
    int signal = WSTOPSIG(status), event = status >> 16;
    unsigned long message;

    if (!task)
        task = introduce(run, tid);
    if (!task) {
        go_on(PTRACE_CONT, tid, 0);
        return;
    }
    switch (event) {
    case 0:
        if (signal == SIGSTOP && task->process->held) {
            task->process->held = false;
            signal = 0;
        }
        go_on(PTRACE_CONT, tid, signal);
        return;
    case PTRACE_EVENT_STOP:
        if (signal == SIGSTOP && task->process->held) {
            task->process->held = false;
            kill(task->process->pid, SIGCONT);
            go_on(PTRACE_CONT, tid, 0);
            return;
        }
        /* A group stop is kept: the tracee waits for SIGCONT as it would without a tracer. */
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            go_on(PTRACE_LISTEN, tid, 0);
        else
            go_on(PTRACE_CONT, tid, 0);
        return;
    case PTRACE_EVENT_EXIT:
        at_exit(run, task);
        return;
    case PTRACE_EVENT_EXEC:
        okosu_group_executed(run, task->process);
        break;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0)
            is_made(run, task->process, (pid_t)message, event);
        break;
    default:
        break;
    }
    go_on(PTRACE_CONT, tid, 0);
}

void okosu_follow_gone(struct okosu_run *run, pid_t tid)
{
    struct okosu_task *task = okosu_table_find(run->table, tid);

    if (!task)
        return;
    struct okosu_process *process = task->process;
    if (!task->announced) {
        run->unannounced[run->unannounced_next] = tid;
        run->unannounced_next = (run->unannounced_next + 1) % OKOSU_UNANNOUNCED;
    }
    if (tid == process->pid) {
        okosu_table_end(run->table, process);
        return;
    }
    okosu_table_drop(run->table, tid);
}

/* Follow a process found in /proc. */
static void adopt(struct okosu_run *run, const struct okosu_proc_row *row)
{
    struct okosu_proc_status status;
    bool untraceable = true;

    if (run->result->traced) {
        int error = okosu_group_seize(row->pid, run->options->threads);
        if (error == -ESRCH)
            return;
        /* A process whose ptrace event is still on its way is traced already, and cannot be
         * seized again. */
        if (error && (okosu_proc_status(row->pid, row->pid, &status) || status.tracer == run->self))
            return;
        untraceable = error != 0;
    }
    struct okosu_process *process = okosu_table_process(run->table, row->pid);
    struct okosu_task *task = okosu_table_find(run->table, row->pid);
    if (!process || !task)
        return;
    task->announced = true;
    process->untraceable = untraceable;
    process->maker = row->ppid;
    process->listed = true;
    /* Once it has executed a program, /proc no longer tells how it was made; it is then counted
     * as a fork. */
    process->forked = !okosu_follow_shares_memory(process);
}

void okosu_follow_sync(struct okosu_run *run)
{
    struct okosu_proc_rows rows;

    if (okosu_proc_descendants(run->self, &rows)) {
        free(rows.items);
        return;
    }
    for (struct okosu_process *p = run->table->processes; p; p = p->next)
        p->listed = false;
    for (size_t i = 0; i < rows.count; i++) {
        struct okosu_task *task = okosu_table_find(run->table, rows.items[i].pid);
        if (!alive(rows.items[i].state))
            continue;
        if (task)
            task->process->listed = true;
        else
            adopt(run, &rows.items[i]);
    }
    free(rows.items);
    for (struct okosu_process *p = run->table->processes, *next; p; p = next) {
        next = p->next;
        if (p->untraceable && !p->listed)
            okosu_table_end(run->table, p);
    }
}

void okosu_follow_scan(struct okosu_run *run)
{
    bool needed = false;

    for (struct okosu_process *p = run->table->processes; p; p = p->next) {
        if (p->leaderless)
            okosu_group_watch(run, p);
        needed |= p->untraceable || okosu_proc_thread_count(p->pid) > 1;
    }
    if (needed)
        okosu_follow_sync(run);
}
