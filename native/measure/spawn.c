/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the program; see spawn.h. */
#include "spawn.h"

#include "base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The N of /dev/fd/N and its synonyms, -1 for other paths. */
static int descriptor_of(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(path, prefixes[i], length) != 0)
            continue;
        char *end;
        errno = 0;
        long number = strtol(path + length, &end, 10);
        if (end > path + length && *end == '\0' && !errno && number >= 0 && number <= INT32_MAX)
            return (int)number;
    }
    return -1;
}

/* Hand over descriptor N. A file the caller lends for a run (N > 2) is used from its start and
 * emptied for output, as one opened by name would be, and the program does not inherit N itself. */
static int lend_descriptor(int number, bool output)
{
    struct stat info;
    int copy = fcntl(number, F_DUPFD_CLOEXEC, 3);

    if (copy < 0)
        return -errno;
    if (number <= STDERR_FILENO)
        return copy;
    if (fcntl(number, F_SETFD, FD_CLOEXEC) || fstat(number, &info))
        goto fail;
    if (S_ISREG(info.st_mode) &&
        (lseek(number, 0, SEEK_SET) < 0 || (output && ftruncate(number, 0))))
        goto fail;
    return copy;
fail:;
    int error = errno;
    close(copy);
    return -error;
}

static int open_stream(const char *path, int stream)
{
    bool output = stream != STDIN_FILENO;
    int fd, number;

    if (!path && stream == STDERR_FILENO)
        number = STDERR_FILENO;
    else
        number = path ? descriptor_of(path) : -1;
    if (number >= 0)
        return lend_descriptor(number, output);
    if (!path)
        path = "/dev/null";
    fd = open(path, (output ? O_WRONLY | O_CREAT | O_TRUNC : O_RDONLY) | O_CLOEXEC, 0666);
    return fd < 0 ? -errno : fd;
}

int okosu_spawn_open(const struct okosu_measure_options *options, int streams[3])
{
    static const char *const names[3] = {"stdin", "stdout", "stderr"};
    const char *paths[3] = {options->in, options->out, options->err};

    for (int i = 0; i < 3; i++) {
        streams[i] = open_stream(paths[i], i);
        if (streams[i] < 0) {
            int error = -streams[i];
            okosu_complain(OKOSU_EXIT_FAILED, strerror(error),
                           i ? "name a file in a folder that may be written to"
                             : "name a file that exists and may be read",
                           "%s of the program not opened: %s", names[i],
                           paths[i] ? paths[i] : "/dev/null");
            while (i-- > 0)
                close(streams[i]);
            return -error;
        }
    }
    return 0;
}

/* What it means that execvp failed with `error`. It also reports EACCES where it found the program
 * nowhere, but could not look into one of the folders of PATH. */
static int exec_error(const char *program, int error)
{
    const char *path = getenv("PATH");
    char file[PATH_MAX];

    if (error != EACCES || strchr(program, '/') || !path)
        return error;
    for (;; path++) {
        size_t length = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s%s%s", (int)length, path, length ? "/" : "", program);
        if (access(file, F_OK) == 0)
            return EACCES;
        path += length;
        if (!*path)
            return ENOENT;
    }
}

/* In the child: all preparation is done before the clock starts. */
_Noreturn static void become_program(const struct okosu_measure_options *options,
                                     const int streams[3], const sigset_t *mask, pid_t parent,
                                     int go, int failed)
{
    char byte;
    ssize_t got;
    int error;

    setsid();
    /* Without ptrace nothing else would end the program when okosu-measure is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(OKOSU_EXIT_FAILED);
    for (int i = 0; i < 3; i++) {
        if (dup2(streams[i], i) < 0) {
            error = errno;
            goto fail;
        }
    }
    do {
        got = read(go, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1)
        _exit(OKOSU_EXIT_FAILED);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(options->argv[0], options->argv);
    error = exec_error(options->argv[0], errno);
fail:
    if (write(failed, &error, sizeof(error)) < 0)
        _exit(OKOSU_EXIT_FAILED);
    _exit(OKOSU_EXIT_FAILED);
}

int okosu_spawn_fork(const struct okosu_measure_options *options, const int streams[3],
                     const sigset_t *mask, struct okosu_child *child)
{
    int go[2], failed[2], error;
    pid_t parent = getpid();

    if (pipe2(go, O_CLOEXEC))
        return -errno;
    if (pipe2(failed, O_CLOEXEC | O_NONBLOCK)) {
        error = errno;
        goto close_go;
    }
    child->pid = fork();
    if (child->pid == 0) {
        close(go[1]);
        close(failed[0]);
        become_program(options, streams, mask, parent, go[0], failed[1]);
    }
    if (child->pid < 0) {
        error = errno;
        goto close_failed;
    }
    close(go[0]);
    close(failed[1]);
    child->go = go[1];
    child->failed = failed[0];
    return 0;
close_failed:
    close(failed[0]);
    close(failed[1]);
close_go:
    close(go[0]);
    close(go[1]);
    return -error;
}

int okosu_spawn_release(struct okosu_child *child)
{
    ssize_t put;

    do {
        put = write(child->go, "g", 1);
    } while (put < 0 && errno == EINTR);
    return put == 1 ? 0 : -errno;
}

int okosu_spawn_finish(struct okosu_child *child)
{
    int error = 0;

    if (read(child->failed, &error, sizeof(error)) != sizeof(error))
        error = 0;
    close(child->failed);
    close(child->go);
    return error;
}
