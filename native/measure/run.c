/* SPDX-License-Identifier: Apache-2.0 */
/* The main loop of one measurement. Time is CLOCK_MONOTONIC from just before the child may run
 * until it has been reaped, less `stopped_ns`: the time in which a process of the tree was stopped
 * at PTRACE_EVENT_EXIT while its proof was read.
 *
 * How accurate the subtraction is: processes are stopped one after another by this single-threaded
 * loop, so the stops never overlap. Where the program waits for a process, above all the root, the
 * stop delayed the tree by exactly that time. A stop that no other process waited for is subtracted
 * all the same: with T the tree's time without any stop, wall_ns <= T <= wall_ns + stopped_ns. The
 * rest of ptrace's cost is not subtracted: the time from each stop (exit, fork, exec, signal) to
 * the wake-up of this loop. Measured on an idle two-core virtual machine, it is 0.04 ms for a
 * single process and 0.2 ms for each child; on a busy machine a scheduling delay is added. It is
 * the same in every arm. */
#include "follow.h"
#include "group.h"
#include "output.h"
#include "proc_read.h"
#include "sample.h"
#include "spawn.h"

#include "base/file.h"
#include "base/message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MILLISECOND UINT64_C(1000000)

enum {
    SCAN_FIRST_MS = 10,
    SCAN_LAST_MS = 160,
    SAMPLE_MS = 10,
    /* A process that cannot be killed (set-user-ID, stuck in the kernel) is given up after this
       long. */
    END_PATIENCE_MS = 10000,
    LAUNCHER_GRACE_MS = 200,
};

static const int fatal_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* Block the signals that the loop waits for. Those that the caller has ignored (nohup, a shell's
 * background job) stay ignored; SIGCHLD must not be, or the kernel would reap the tree itself,
 * nor SIGTERM where it tells of the caller's end. */
static void take_signals(const struct okosu_measure_options *options, sigset_t *awaited,
                         sigset_t *before)
{
    struct sigaction action;

    signal(SIGCHLD, SIG_DFL);
    sigemptyset(awaited);
    sigaddset(awaited, SIGCHLD);
    for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
        if (sigaction(fatal_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(awaited, fatal_signals[i]);
    }
    if (options->parent)
        sigaddset(awaited, SIGTERM);
    if (options->stop)
        sigaddset(awaited, SIGUSR1);
    sigprocmask(SIG_BLOCK, awaited, before);
}

/* Wait for one of the signals until `deadline`; returns it, or 0. */
static int await_signal(const sigset_t *awaited, uint64_t deadline)
{
    uint64_t now = okosu_now(), left = deadline > now ? deadline - now : 0;
    struct timespec patience = okosu_timespec(left);
    int signal = sigtimedwait(awaited, NULL, &patience);

    return signal > 0 ? signal : 0;
}

static void explain_untraced(struct okosu_measure_result *result, pid_t child, int error)
{
    char text[64], reason[128] = "the kernel or the container does not allow ptrace";
    struct okosu_proc_status status;
    uint64_t value;
    char self[8192];
    int scope = okosu_file_slurp("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) > 0
                    ? atoi(text)
                    : 0;

    if (okosu_proc_status(child, child, &status) == 0 && status.tracer > 0) {
        snprintf(reason, sizeof(reason), "process %d traces it already", (int)status.tracer);
    } else if (scope >= 2) {
        snprintf(reason, sizeof(reason), "kernel.yama.ptrace_scope is %d", scope);
    } else {
        long length = okosu_file_slurp("/proc/self/status", self, sizeof(self));

        if (length > 0 && okosu_proc_parse_key(self, (size_t)length, "Seccomp:", &value) && value)
            snprintf(reason, sizeof(reason), "a seccomp filter is in force");
    }
    snprintf(result->why_untraced, sizeof(result->why_untraced), "PTRACE_SEIZE: %s: %s",
             strerror(error), reason);
}

static void has_changed(struct okosu_run *run, pid_t pid, int status, const struct rusage *usage)
{
    if (WIFSTOPPED(status)) {
        okosu_follow_stop(run, pid, status);
        return;
    }
    if (pid == run->root && !run->root_reaped) {
        run->end_ns = okosu_now();
        run->root_reaped = true;
        run->result->usage = *usage;
        run->result->wait_status = status;
    }
    okosu_follow_gone(run, pid);
}

/* The process may have ended since it was listed, and its number may be another's by now. The
 * descriptor holds whoever has the number, and the start tells whether that is who was listed (in
 * clock ticks: numbers do not come round within one). */
static void kill_listed(const struct okosu_proc_row *row)
{
    int fd = (int)syscall(SYS_pidfd_open, row->pid, 0U);
    struct okosu_proc_stat stat;

    if (okosu_proc_stat(row->pid, row->pid, &stat) == 0 && stat.start == row->start) {
        if (fd >= 0)
            syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0U);
        else
            kill(row->pid, SIGKILL);
    }
    if (fd >= 0)
        close(fd);
}

/* Kill every descendant that is alive, oldest first; the first time for each, count it. */
static void condemn(struct okosu_run *run)
{
    struct okosu_proc_rows rows;

    if (okosu_proc_descendants(run->self, &rows) == 0) {
        for (size_t i = 0; i < rows.count; i++) {
            const struct okosu_proc_row *row = &rows.items[i];
            if (row->state == 'Z' || row->state == 'X' || okosu_proc_is_ending(row->pid))
                continue;
            struct okosu_process *process = okosu_table_process(run->table, row->pid);
            if (process && !process->condemned) {
                process->condemned = true;
                process->launcher |= !process->root && okosu_proc_is_launcher(row->pid);
                run->result->left += !process->root && !process->launcher;
            }
            /* The launcher's helper ends by itself, once it has written its evidence. */
            if (process && process->launcher && okosu_now() < run->spare_launcher_until)
                continue;
            kill_listed(row);
        }
    }
    free(rows.items);
}

/* Kill and reap the rest of the tree. As the subreaper, this process becomes the parent of orphans,
 * so that listing and killing until there is no child ends with no process alive. Killed tracees
 * still stop at their exit, and are read there unless the run is void. */
static void end_tree(struct okosu_run *run, const sigset_t *awaited)
{
    const struct okosu_measure_result *result = run->result;
    uint64_t spare_until = 0, give_up;

    /* What a stopped program leaves running may end by itself until its time is over. */
    if (result->asked && !result->timed_out && !result->interrupted)
        spare_until = run->asked_ns + run->options->grace_ns;
    give_up = spare_until > okosu_now() ? spare_until : okosu_now();
    give_up += END_PATIENCE_MS * MILLISECOND;
    run->spare_launcher_until = okosu_now() + LAUNCHER_GRACE_MS * MILLISECOND;
    while (okosu_now() < give_up) {
        struct rusage usage;
        int status, signal;
        pid_t pid = wait4(-1, &status, __WALL | WNOHANG, &usage);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid > 0) {
            has_changed(run, pid, status, &usage);
            continue;
        }
        if (okosu_now() >= spare_until)
            condemn(run);
        signal = await_signal(awaited, okosu_now() + 2 * MILLISECOND);
        if (signal && signal != SIGCHLD && signal != SIGUSR1)
            spare_until = 0;
    }
}

/* Scans the tree between its events; returns when to scan again. */
static uint64_t look(struct okosu_run *run, uint64_t *interval)
{
    uint64_t since = okosu_now(), now, cost;

    if (run->options->proof == OKOSU_PROOF_SAMPLE) {
        okosu_sample_take(run);
        now = okosu_now();
        cost = (now - since) * 5;
        *interval = SAMPLE_MS * MILLISECOND;
    } else {
        okosu_follow_scan(run);
        now = okosu_now();
        cost = (now - since) * 100;
        if (*interval < SCAN_LAST_MS * MILLISECOND)
            *interval *= 2;
    }
    /* Scanning must take only a small part of the machine's time, however large the tree is. */
    return now + (cost > *interval ? cost : *interval);
}

/* The program has not been reaped, so that its number is its own. Returns the time until which it
 * may take to end. */
static uint64_t ask_to_stop(struct okosu_run *run)
{
    run->result->asked = true;
    run->asked_ns = okosu_now();
    kill(run->root, run->options->stop);
    return run->asked_ns + run->options->grace_ns;
}

static void follow_tree(struct okosu_run *run, struct okosu_output *output, const sigset_t *awaited)
{
    const struct okosu_measure_options *options = run->options;
    struct okosu_measure_result *result = run->result;
    uint64_t interval = SCAN_FIRST_MS * MILLISECOND;
    uint64_t deadline = options->timeout_ns ? run->start_ns + options->timeout_ns : UINT64_MAX;
    /* Where every thread is traced, /proc has nothing to add except samples. */
    bool looks = result->sampled || (result->traced && !options->threads);
    uint64_t next_look = looks ? run->start_ns + interval : UINT64_MAX;

    while (!run->root_reaped) {
        struct rusage usage;
        int status, signal;
        pid_t pid = wait4(-1, &status, __WALL | WNOHANG, &usage);
        uint64_t now = okosu_now(), wake;
        if (pid > 0)
            has_changed(run, pid, status, &usage);
        if (run->root_reaped)
            return;
        if (now >= deadline) {
            result->timed_out = true;
            return;
        }
        if (pid > 0)
            continue;
        if (now >= next_look) {
            next_look = look(run, &interval);
            continue;
        }
        if (run->held)
            okosu_group_watch_held(run);
        wake = next_look < deadline ? next_look : deadline;
        if (run->held && wake > now + MILLISECOND)
            wake = now + MILLISECOND;
        if (output->pipe >= 0)
            signal = okosu_output_await(output, wake);
        else
            signal = await_signal(awaited, wake);
        if (signal == SIGUSR1) {
            if (!result->asked)
                deadline = ask_to_stop(run);
            continue;
        }
        if (signal && signal != SIGCHLD) {
            result->interrupted = signal;
            return;
        }
    }
}

static void trace_root(struct okosu_run *run)
{
    struct okosu_measure_result *result = run->result;
    int error;

    if (run->options->proof == OKOSU_PROOF_NONE) {
        snprintf(result->why_untraced, sizeof(result->why_untraced), "--proof=none");
        return;
    }
    error = okosu_group_seize(run->root, run->options->threads);
    result->traced = error == 0;
    if (error)
        explain_untraced(result, run->root, -error);
}

int okosu_measure_run(const struct okosu_measure_options *options,
                      struct okosu_measure_result *result)
{
    struct okosu_run run = {.options = options, .result = result, .table = &result->table};
    struct okosu_output output = {.pipe = -1, .copy = -1, .signals = -1};
    struct okosu_child child;
    struct okosu_process *root;
    sigset_t awaited, before;
    int streams[3], error;

    memset(result, 0, sizeof(*result));
    take_signals(options, &awaited, &before);
    if (options->parent) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != options->parent) {
            result->interrupted = SIGTERM;
            return 0;
        }
    }
    error = okosu_spawn_open(options, streams);
    if (error)
        return error;
    prctl(PR_SET_CHILD_SUBREAPER, 1L);
    if (options->digest)
        error = okosu_output_begin(&output, &streams[STDOUT_FILENO], options->out, &awaited);
    if (!error)
        error = okosu_spawn_fork(options, streams, &before, &child);
    for (int i = 0; i < 3; i++)
        close(streams[i]);
    if (error) {
        okosu_complain(OKOSU_EXIT_FAILED, strerror(-error),
                       "end other processes, or raise their limits (ulimit -u, ulimit -n)",
                       "%s not started", options->argv[0]);
        okosu_output_end(&output);
        return error;
    }
    run.self = getpid();
    run.root = child.pid;
    if (options->counters)
        okosu_counters_open(&result->counters, run.root);
    run.reading = options->proof != OKOSU_PROOF_NONE;
    result->sampled = options->proof == OKOSU_PROOF_SAMPLE;
    root = okosu_table_process(run.table, run.root);
    if (!root) {
        error = -ENOMEM;
    } else {
        root->root = true;
        okosu_table_find(run.table, run.root)->announced = true;
        trace_root(&run);
        run.start_ns = okosu_now();
        error = okosu_spawn_release(&child);
    }
    if (!error)
        follow_tree(&run, &output, &awaited);
    if (error || result->timed_out || result->interrupted)
        run.reading = false;
    end_tree(&run, &awaited);
    okosu_output_end(&output);
    if (options->counters)
        okosu_counters_close(&result->counters);
    if (result->asked && run.root_reaped)
        result->stop_ns = run.end_ns - run.asked_ns;
    okosu_table_end_all(run.table);
    result->copy_error = output.error;
    result->out_bytes = output.digest.length;
    result->out_digest = okosu_digest_end(&output.digest);
    result->exec_error = okosu_spawn_finish(&child);
    result->wall_ns = run.end_ns - run.start_ns;
    result->wall_ns -= result->stopped_ns < result->wall_ns ? result->stopped_ns : result->wall_ns;
    return error;
}
