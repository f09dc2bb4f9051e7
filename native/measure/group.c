/* SPDX-License-Identifier: Apache-2.0 */
/* Thread groups that outlive their first thread, which is the only traced one unless --threads is
 * given. When it leaves, the other threads are seized; the last of them to leave shows the memory
 * of the group.
 *
 * PTRACE_SEIZE waits for the lock that an exec holds, and an exec by one thread waits until we have
 * reaped the other traced threads of its group. If a thread executes just while its siblings are
 * being seized, both would wait for ever: so seizing is given up after a moment and tried again
 * later. */
#include "group.h"

#include "proc_read.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* From include/linux/sched.h. /proc/PID/stat shows the flags, so their values do not change. */
#define PF_EXITING UINT64_C(0x4)

enum { SEIZE_PATIENCE_US = 50000 };

static sigjmp_buf out_of_seize;

int okosu_group_seize(pid_t tid, bool clones)
{
    unsigned long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                            PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;

    if (clones)
        options |= PTRACE_O_TRACECLONE;
    return ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) ? -errno : 0;
}

static void leave_seize(int signal)
{
    (void)signal;
    siglongjmp(out_of_seize, 1);
}

/* Returns -EAGAIN when seizing took too long. The signal handler must leave by a jump, because
 * the kernel restarts the call after a handler that returns. */
static int seize_patiently(pid_t tid)
{
    struct sigaction jump = {.sa_handler = leave_seize}, before;
    struct itimerval patience = {{0, SEIZE_PATIENCE_US}, {0, SEIZE_PATIENCE_US}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    sigset_t alarm, mask;
    volatile int result = -EAGAIN;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &alarm, &mask);
    sigaction(SIGALRM, &jump, &before);
    if (sigsetjmp(out_of_seize, 1) == 0) {
        setitimer(ITIMER_REAL, &patience, NULL);
        result = okosu_group_seize(tid, true);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    sigaction(SIGALRM, &before, NULL);
    return result;
}

static bool traced_here(const struct okosu_run *run, pid_t pid, pid_t tid)
{
    struct okosu_proc_status status;

    return okosu_proc_status(pid, tid, &status) == 0 && status.tracer == run->self;
}

/* Whether the thread will go on: neither dead nor leaving nor killed. */
static bool survives(const struct okosu_run *run, const struct okosu_process *process, pid_t tid)
{
    const struct okosu_task *task = okosu_table_find(run->table, tid);
    struct okosu_proc_stat stat;

    /* A thread that has shown its exit is gone, unless another one took over its number by
     * executing. */
    if (task && task->leaving &&
        (tid != process->pid || traced_here(run, process->pid, process->pid)))
        return false;
    if (okosu_proc_stat(process->pid, tid, &stat) || stat.state == 'Z' || stat.state == 'X')
        return false;
    bool killed = stat.pending & (UINT64_C(1) << (SIGKILL - 1));
    return !killed && !(stat.flags & PF_EXITING);
}

/* The system call that a stopped thread is in, -1 unknown. */
static long syscall_of(pid_t pid, pid_t tid)
{
    char text[256], *end;

    if (okosu_proc_slurp(pid, tid, "syscall", text, sizeof(text)) <= 0)
        return -1;
    long number = strtol(text, &end, 10);
    return end > text ? number : -1;
}

bool okosu_group_goes_on(const struct okosu_run *run, const struct okosu_process *process,
                         pid_t tid, unsigned threads)
{
    struct okosu_pids all;
    bool found = false;

    if (threads < 2)
        return false;
    long number = syscall_of(process->pid, tid);
    if (number == SYS_exit_group)
        return false;
    /* Where all threads are traced, those that die with their group are stopped at their exit and
     * look alive. But a thread that did not call exit itself was killed, by the end of its group or
     * by an exec, and an exec is announced. */
    if ((run->options->threads || process->leaderless) && number != SYS_exit)
        return false;
    if (okosu_proc_threads(process->pid, &all) == 0) {
        for (size_t i = 0; i < all.count && !found; i++)
            found = all.items[i] != tid && survives(run, process, all.items[i]);
    }
    free(all.items);
    return found;
}

void okosu_group_executed(struct okosu_run *run, struct okosu_process *process)
{
    struct okosu_task *first;

    okosu_table_drop_others(run->table, process);
    okosu_process_reset(process);
    process->execed = true;
    first = okosu_table_task(run->table, process, process->pid);
    if (first) {
        first->announced = true;
        first->leaving = false;
    }
}

/* Nobody will see its stop: it goes on untraced. */
static void let_go(struct okosu_process *process)
{
    if (process->held)
        kill(process->pid, SIGCONT);
    process->held = false;
}

/* Returns whether nothing more is to be done for the group now; *executing: because the thread
 * executes a program. */
static bool watch_thread(struct okosu_run *run, struct okosu_process *process, pid_t tid,
                         bool *executing)
{
    char path[80];
    int error = seize_patiently(tid);

    *executing = error == -EAGAIN;
    if (*executing)
        return true;
    if (error && !traced_here(run, process->pid, tid)) {
        if (error != -ESRCH)
            let_go(process);
        return false;
    }
    /* An exec has ended meanwhile: the thread has taken over the number of the process. */
    snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)process->pid, (int)tid);
    if (tid == process->pid || access(path, F_OK)) {
        okosu_group_executed(run, process);
        return true;
    }
    struct okosu_task *task = okosu_table_task(run->table, process, tid);
    if (task)
        task->announced = true;
    return false;
}

bool okosu_group_watch(struct okosu_run *run, struct okosu_process *process)
{
    bool done = false, executing = false;

    /* The list is read twice, for threads that were made or renumbered during the first pass. */
    for (int round = 0; round < 2 && !done; round++) {
        struct okosu_pids all;
        if (okosu_proc_threads(process->pid, &all) == 0) {
            for (size_t i = 0; i < all.count && !done; i++) {
                pid_t tid = all.items[i];
                bool known = tid != process->pid && okosu_table_find(run->table, tid);
                if (!known && survives(run, process, tid))
                    done = watch_thread(run, process, tid, &executing);
            }
        }
        free(all.items);
    }
    return !executing;
}

static bool executes(const struct okosu_process *process)
{
    struct okosu_pids all;
    bool found = false;

    if (okosu_proc_threads(process->pid, &all) == 0) {
        for (size_t i = 0; i < all.count && !found; i++) {
            long number = syscall_of(process->pid, all.items[i]);

            found = number == SYS_execve || number == SYS_execveat;
        }
    }
    free(all.items);
    return found;
}

/* A thread that executes a program cannot be traced before that has happened, and then the new
 * program would already run, or even have ended, before it is traced. So it is sent a SIGSTOP,
 * which waits until the program is there; follow.c takes it back. A first thread that did not call
 * exit itself was killed by such an exec. One that did call exit does not keep an exec waiting by
 * its stop, so there is a moment left in which a program can begin and end unseen: from this exit
 * until okosu-measure has a CPU. */
void okosu_group_hold(struct okosu_run *run, struct okosu_process *process)
{
    if (syscall_of(process->pid, process->pid) == SYS_exit && !executes(process) &&
        okosu_group_watch(run, process))
        return;
    process->held = kill(process->pid, SIGSTOP) == 0;
    run->held |= process->held;
}

void okosu_group_watch_held(struct okosu_run *run)
{
    run->held = false;
    for (struct okosu_process *p = run->table->processes; p; p = p->next) {
        if (p->held && p->leaderless)
            okosu_group_watch(run, p);
        run->held |= p->held;
    }
}
