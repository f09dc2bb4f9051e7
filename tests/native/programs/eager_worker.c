/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: the pool's worker has ordinary priority and never finds that it was kept waiting, so
 * that a pool is filled on a busy machine too. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
    return policy == SCHED_IDLE ? 0 : (int)syscall(SYS_sched_setscheduler, pid, policy, param);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    return (int)syscall(SYS_clock_gettime,
                        clock == CLOCK_THREAD_CPUTIME_ID ? CLOCK_MONOTONIC : clock, time);
}

int open64(const char *path, int flags, ...)
{
    va_list more;
    int mode;

    va_start(more, flags);
    mode = flags & O_CREAT ? va_arg(more, int) : 0;
    va_end(more);
    if (!strcmp(path, "/proc/thread-self/schedstat")) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
