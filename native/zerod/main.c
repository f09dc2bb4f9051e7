/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-zerod: clean pages for programs and for the kernel. It keeps nothing on disk, and nothing
 * is lost when it ends: its files are memory, which the kernel takes back. */
#include "clearer.h"
#include "guard.h"
#include "options.h"
#include "prove.h"
#include "report.h"
#include "ring.h"
#include "serve.h"

#include "base/json.h"
#include "base/message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define FAILED 1
#define USAGE 2

/* A descriptor that becomes readable on SIGTERM and SIGINT; threads that are made later inherit the
 * blocked signals. */
static int stop_descriptor(void)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    if (pthread_sigmask(SIG_BLOCK, &signals, NULL))
        return -1;
    signal(SIGPIPE, SIG_IGN);
    /* Somebody opens a file at the moment in which it has a lease (memory.c). */
    signal(SIGIO, SIG_IGN);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static int complain(const char *what, int rc)
{
    okosu_message(what, strerror(-rc),
                  rc == -ENOMEM   ? "a smaller --cap, or more pages in the kernel's pool"
                  : rc == -ENODEV ? "a --node that there is: okosu doctor"
                  : rc == -EMFILE ? "each unit is a file: a smaller --cap, a larger --unit, or a "
                                    "higher ulimit -Hn"
                  : rc == -ENOENT ? "mount /proc"
                  : rc == -ENOLCK ? "a kernel with leases on files (fcntl F_SETLEASE)"
                                  : NULL);
    return rc;
}

static void say_ready(const struct zerod_options *options, const struct zerod_store *store)
{
    struct okosu_json json = okosu_json_begin(stdout);

    okosu_json_string(&json, "socket", options->socket);
    okosu_json_string(&json, "engine", store->use.engine->name);
    okosu_json_int(&json, "cap", (long long)store->limits.cap);
    okosu_json_int(&json, "unit", (long long)store->limits.unit);
    okosu_json_int(&json, "ring", (long long)options->ring);
    okosu_json_end(&json);
    fflush(stdout);
}

/* Each slot that has memory is a file, and each client is a descriptor. */
static int want_descriptors(const struct zerod_options *options)
{
    rlim_t many = options->limits.cap / options->limits.unit + options->clients + 64;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return -errno;
    if (limit.rlim_cur >= many)
        return 0;
    limit.rlim_cur = many;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -EMFILE : 0;
}

static int serve(const struct zerod_options *options, struct zerod_store *store, int stop)
{
    struct zerod_clearer clearer;
    struct zerod_server *server = NULL;
    struct zerod_ring *ring = NULL;
    struct zerod_shelf *own;
    int rc = 0;
    bool late;

    if (options->ring)
        rc = zerod_ring_open(&ring, options->ring);
    if (rc)
        return rc;
    if (options->socket) {
        rc = want_descriptors(options);
        /* The daemon's own user gets clean pages from the start. */
        if (!rc)
            rc = zerod_store_shelf(store, geteuid(), &own);
        if (rc)
            complain("there is no memory to keep", rc);
        else
            rc = zerod_serve_open(&server, options, store);
    }
    if (rc)
        goto out;
    rc = zerod_clearer_start(&clearer, store);
    if (rc) {
        complain("there is no thread to clear with", rc);
        goto out;
    }
    say_ready(options, store);
    rc = server ? zerod_serve_run(server, stop) : zerod_ring_wait(stop);
    late = zerod_clearer_end(&clearer);
    if (rc)
        complain("serving ended", rc);
    zerod_serve_close(server);
    if (zerod_ring_close(ring))
        rc = -EIO;
    /* Late hardware may still write to this memory, so only the end of the process may unmap it. */
    if (late)
        _exit(rc ? FAILED : 0);
    return rc;
out:
    zerod_serve_close(server);
    zerod_ring_close(ring);
    return rc;
}

static int run(const struct zerod_options *options)
{
    struct zerod_store store;
    struct zerod_use use;
    int stop = stop_descriptor(), rc;

    if (stop < 0)
        return complain("signals cannot be waited for", -errno);
    rc = zerod_guard_begin();
    if (!rc)
        rc = zerod_choose(&use, options->engine, options->limits.patience_ms, options->verbose);
    if (rc)
        return rc;
    use.chunk = options->chunk;
    /* Other processes of the same user have no access to the files by /proc/PID/fd, nor by ptrace. */
    prctl(PR_SET_DUMPABLE, 0);
    if (options->once) {
        rc = zerod_report_once(&options->limits, &use);
    } else {
        rc = zerod_store_open(&store, &options->limits, &use);
        if (!rc) {
            rc = serve(options, &store, stop);
            zerod_store_close(&store);
        }
    }
    use.engine->close(use.state);
    close(stop);
    return rc;
}

int main(int argc, char **argv)
{
    struct zerod_options options;
    int rc = 0;

    if (zerod_options_read(&options, argc, argv))
        return USAGE;
    if (options.help)
        zerod_options_help();
    else if (options.version)
        puts("okosu-zerod " OKOSU_VERSION);
    else if (options.list)
        rc = zerod_report_list(options.limits.patience_ms);
    else if (options.status)
        rc = zerod_report_status(options.socket);
    else
        rc = run(&options);
    if (fflush(stdout)) {
        okosu_message("stdout cannot be written", "it is closed or full", NULL);
        rc = -EIO;
    }
    return rc ? FAILED : 0;
}
