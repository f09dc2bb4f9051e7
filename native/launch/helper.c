/* SPDX-License-Identifier: Apache-2.0 */
/* Helper: forked twice and untraced, so that the program has no child it did not make and a tracer
 * sees none. */
#include "helper.h"

#include "collapse.h"

#include "base/now.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The helper works for a while and then rests at least as long, because a collapse holds the
 * program's mmap lock. */
#define WORK_NS 10000000u
#define REST_MS 10
#define LONGEST_REST_MS 250
#define IDLE_SHARE 20

/* The same share of a chunk that the preload library asks for. */
#define DENSITY 75

static pid_t fork_untraced(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0);
}

/* The program's pipes must not stay open because a helper holds them, nor its terminal's signals
 * reach it. */
static void detach(int *pidfd, const struct okosu_cpuset *cpus)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;

    setsid();
    if (chdir("/"))
        return;
    fd = fcntl(*pidfd, F_DUPFD_CLOEXEC, 3);
    if (fd >= 0)
        *pidfd = fd;
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    if (*pidfd > 3)
        close_range(3, (unsigned)*pidfd - 1, 0);
    close_range((unsigned)*pidfd + 1, ~0U, 0);
    syscall(SYS_sched_setaffinity, 0, sizeof(cpus->bits), cpus->bits);
    prctl(PR_SET_NAME, "okosu-helper");
}

static unsigned read_density(void)
{
    const char *text = getenv("OKOSU_DENSITY");
    long value = text ? strtol(text, NULL, 10) : 0;

    return value >= 1 && value <= 100 ? (unsigned)value : DENSITY;
}

/* The line is written with one write, so that lines of several processes do not mix. */
static void write_proof(const struct okosu_collapse *state, const char *proof)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    ssize_t written;
    int fd;

    if (!memory)
        return;
    okosu_collapse_report(state, memory);
    if (fclose(memory) == 0) {
        fd = open(proof, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        /* A failure here shows as a missing line to whoever asked for the proof. */
        written = fd >= 0 ? write(fd, text, size) : -1;
        (void)written;
        if (fd >= 0)
            close(fd);
    }
    free(text);
}

static void work(pid_t pid, int pidfd, const char *proof)
{
    struct okosu_collapse state = {.pid = pid, .pidfd = pidfd, .density = read_density()};
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    enum okosu_collapse_result result = OKOSU_COLLAPSE_IDLE;
    int rest = REST_MS;

    while (poll(&ended, 1, result == OKOSU_COLLAPSE_GONE ? -1 : rest) == 0) {
        uint64_t before = state.collapsed;
        uint64_t start = okosu_now();
        long spent;

        result = okosu_collapse_pass(&state, WORK_NS);
        spent = (long)((okosu_now() - start) / 1000000);
        /* The pause between passes is short while chunks are being collapsed. It grows when there
         * was nothing to do, because reading a large process's page tables takes time. */
        if (state.collapsed > before && result != OKOSU_COLLAPSE_PAUSE) {
            rest = REST_MS > spent ? REST_MS : (int)spent;
        } else {
            rest = 2 * rest < LONGEST_REST_MS ? 2 * rest : LONGEST_REST_MS;
            rest = rest > IDLE_SHARE * spent ? rest : (int)(IDLE_SHARE * spent);
        }
    }
    if (proof)
        write_proof(&state, proof);
    okosu_collapse_free(&state);
}

int okosu_helper_start(const struct okosu_cpuset *cpus, const char *proof)
{
    pid_t pid = getpid(), child;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0U);
    int rc = 0;

    if (pidfd < 0)
        return -errno;
    child = fork_untraced();
    if (child < 0) {
        rc = -errno;
        goto out;
    }
    if (child == 0) {
        pid_t helper = fork_untraced();

        if (helper)
            _exit(helper < 0 ? errno : 0);
        detach(&pidfd, cpus);
        work(pid, pidfd, proof);
        _exit(0);
    }
    while (waitpid(child, &rc, 0) < 0 && errno == EINTR)
        continue;
    rc = WIFEXITED(rc) ? -WEXITSTATUS(rc) : -EIO;
out:
    close(pidfd);
    return rc;
}
