/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points for threads and processes: pthread_create, affinity, spawning, _exit.
 *
 * 1. Without OKOSU_PIN each forwards.
 *
 * 2. Threads of pthread_create are pinned in turn; those of thrd_create, which are rare, run on the
 * whole list. (Threads that libc starts for itself, as for timers, stay on their creator's CPU.)
 *
 * 3. A process that is spawned or exec'd starts on the whole list of CPUs, not on the spawning
 * thread's CPU: for a child of fork the fork handler does this, but vfork, posix_spawn and exec run
 * no handler. */
#include "config.h"
#include "evidence.h"
#include "export.h"
#include "init.h"
#include "next.h"
#include "pin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_THP_DISABLE_EXCEPT_ADVISED
#define PR_THP_DISABLE_EXCEPT_ADVISED (1 << 1)
#endif

OKOSU_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attr,
                                void *(*routine)(void *), void *restrict arg)
{
    okosu_init();
    if (!OKOSU_NEXT_HAS(pthread_create))
        return EAGAIN;
    if (okosu_pin_active())
        return okosu_pin_create(thread, attr, routine, arg);
    return okosu_next.pthread_create(thread, attr, routine, arg);
}

/* The result of a function that this libc has not. */
static int absent(void)
{
    errno = ENOSYS;
    return -1;
}

OKOSU_EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    int err;

    if (!OKOSU_NEXT_HAS(sched_getaffinity))
        return absent();
    err = okosu_next.sched_getaffinity(pid, size, set);
    if (!err && (pid == 0 || pid == getpid() || pid == gettid()))
        okosu_pin_widen(set, size);
    return err;
}

OKOSU_EXPORT int pthread_getaffinity_np(pthread_t thread, size_t size, cpu_set_t *set)
{
    int err;

    if (!OKOSU_NEXT_HAS(pthread_getaffinity_np))
        return ENOSYS;
    err = okosu_next.pthread_getaffinity_np(thread, size, set);
    if (!err)
        okosu_pin_widen(set, size);
    return err;
}

OKOSU_EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    if (!OKOSU_NEXT_HAS(sched_setaffinity))
        return absent();
    okosu_pin_user_set();
    return okosu_next.sched_setaffinity(pid, size, set);
}

OKOSU_EXPORT int pthread_setaffinity_np(pthread_t thread, size_t size, const cpu_set_t *set)
{
    if (!OKOSU_NEXT_HAS(pthread_setaffinity_np))
        return ENOSYS;
    okosu_pin_user_set();
    return okosu_next.pthread_setaffinity_np(thread, size, set);
}

/* Calls the next function of that name while the thread runs on the whole list, and puts the thread
 * back on its CPU afterwards. */
#define LOOSENED(type, missing, name, ...)                                                         \
    do {                                                                                           \
        if (!OKOSU_NEXT_HAS(name))                                                                 \
            return missing;                                                                        \
        struct okosu_mask before;                                                                  \
        bool loose = okosu_pin_loosen(&before);                                                    \
        type result = okosu_next.name(__VA_ARGS__);                                                \
                                                                                                   \
        if (loose)                                                                                 \
            okosu_pin_restore(&before);                                                            \
        return result;                                                                             \
    } while (0)

OKOSU_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    LOOSENED(int, thrd_error, thrd_create, thread, routine, arg);
}

OKOSU_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path,
                             const posix_spawn_file_actions_t *restrict actions,
                             const posix_spawnattr_t *restrict attr, char *const argv[restrict],
                             char *const env[restrict])
{
    LOOSENED(int, ENOSYS, posix_spawn, pid, path, actions, attr, argv, env);
}

OKOSU_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                              const posix_spawn_file_actions_t *restrict actions,
                              const posix_spawnattr_t *restrict attr, char *const argv[restrict],
                              char *const env[restrict])
{
    LOOSENED(int, ENOSYS, posix_spawnp, pid, file, actions, attr, argv, env);
}

OKOSU_EXPORT int system(const char *command)
{
    LOOSENED(int, absent(), system, command);
}

OKOSU_EXPORT FILE *popen(const char *command, const char *mode)
{
    LOOSENED(FILE *, (errno = ENOSYS, NULL), popen, command, mode);
}

static int replace_by(const char *path, char *const *argv, char *const *env)
{
    LOOSENED(int, absent(), execve, path, argv, env);
}

OKOSU_EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
    return replace_by(path, argv, env);
}

OKOSU_EXPORT int execv(const char *path, char *const argv[])
{
    LOOSENED(int, absent(), execv, path, argv);
}

static int replace_by_name(const char *file, char *const *argv)
{
    LOOSENED(int, absent(), execvp, file, argv);
}

OKOSU_EXPORT int execvp(const char *file, char *const argv[])
{
    return replace_by_name(file, argv);
}

OKOSU_EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
    LOOSENED(int, absent(), execvpe, file, argv, env);
}

OKOSU_EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
    LOOSENED(int, absent(), fexecve, fd, argv, env);
}

OKOSU_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const env[],
                          int flags)
{
    LOOSENED(int, absent(), execveat, folder, path, argv, env, flags);
}

/* The functions with a list of arguments are written out, because libc's call its own execve and
 * not ours. Like libc's they take no memory but the stack's, for they may run in a child of
 * vfork. */
static size_t count_list(const char *arg, va_list *more)
{
    size_t count = 0;

    for (; arg; arg = va_arg(*more, const char *))
        count++;
    return count;
}

static void copy_list(const char **argv, const char *arg, va_list *more)
{
    for (; arg; arg = va_arg(*more, const char *))
        *argv++ = arg;
    *argv = NULL;
}

/* Declares `argv`, the arguments from `arg` on, and `more`, which stands behind them. */
#define ARGUMENTS(argv, arg, more)                                                                 \
    va_list more;                                                                                  \
                                                                                                   \
    va_start(more, arg);                                                                           \
    const char *argv[count_list(arg, &more) + 1];                                                  \
    va_end(more);                                                                                  \
    va_start(more, arg);                                                                           \
    copy_list(argv, arg, &more)

OKOSU_EXPORT int execl(const char *path, const char *arg, ...)
{
    ARGUMENTS(argv, arg, more);
    va_end(more);
    return replace_by(path, (char *const *)argv, environ);
}

OKOSU_EXPORT int execle(const char *path, const char *arg, ...)
{
    char *const *env;

    ARGUMENTS(argv, arg, more);
    env = va_arg(more, char *const *);
    va_end(more);
    return replace_by(path, (char *const *)argv, env);
}

OKOSU_EXPORT int execlp(const char *file, const char *arg, ...)
{
    ARGUMENTS(argv, arg, more);
    va_end(more);
    return replace_by_name(file, (char *const *)argv);
}

OKOSU_EXPORT void _exit(int status)
{
    okosu_evidence_write();
    okosu_next.exit_now(status);
    __builtin_unreachable();
}

OKOSU_EXPORT void _Exit(int status)
{
    _exit(status);
}

static atomic_bool yielded;

/* A program that switches huge pages off, as Ruby before 3.3 does, means those that nobody asked for. What
 * the lever advises stays possible with Linux 6.18; an older kernel does as the program says. */
static bool yields_to_advice(int option, const unsigned long *words)
{
    int saved = errno;

    if (option != PR_SET_THP_DISABLE || words[0] != 1 || words[1] != 0 || words[2] || words[3] ||
        okosu_config.tier == OKOSU_TIER_NONE)
        return false;
    if (okosu_next.prctl(option, 1UL, (unsigned long)PR_THP_DISABLE_EXCEPT_ADVISED, 0UL, 0UL) ==
        0) {
        atomic_store(&yielded, true);
        return true;
    }
    errno = saved;
    return false;
}

/* Which arguments are there depends on the option; reading more is harmless, and libc's own prctl
 * does the same. */
OKOSU_EXPORT int prctl(int option, ...)
{
    unsigned long words[4];
    va_list more;
    int result;

    va_start(more, option);
    for (int i = 0; i < 4; i++)
        words[i] = va_arg(more, unsigned long);
    va_end(more);
    if (option == PR_SET_SECCOMP)
        okosu_filtered();
    if (!OKOSU_NEXT_HAS(prctl))
        return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
    okosu_init();
    if (yields_to_advice(option, words))
        return 0;
    result = okosu_next.prctl(option, words[0], words[1], words[2], words[3]);
    if (option == PR_GET_THP_DISABLE && result > 1 && atomic_load(&yielded))
        return 1; /* what the program set */
    return result;
}

/* libseccomp's: no libc has this function. What installs a filter by syscall() itself escapes. */
int seccomp_load(void *filter);

OKOSU_EXPORT int seccomp_load(void *filter)
{
    static int (*next)(void *);

    if (!next && !okosu_next_find(&next, "seccomp_load"))
        return -ENOSYS;
    okosu_filtered();
    return next(filter);
}
