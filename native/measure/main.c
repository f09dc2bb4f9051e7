/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-measure: times one process tree, and reads the proof of effect while the clock is stopped.
 * This file has the options and the exit status. */
#include "error.h"
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: okosu-measure [OPTION...] -- PROGRAM [ARG...]\n"
    "\n"
    "Run PROGRAM in a session of its own, time it, read what it held at its exit with\n"
    "the clock stopped, and print one JSON object. What it leaves running is killed.\n"
    "\n"
    "  --stdin=FILE       the program's standard input (default /dev/null)\n"
    "  --stdout=FILE      its standard output, emptied first (default /dev/null)\n"
    "  --stderr=FILE      its standard error, emptied first (default inherited)\n"
    "                     FILE may be /dev/fd/N, an open descriptor\n"
    "  --timeout=SECONDS  kill the whole tree after that long\n"
    "  --stop=NUMBER      for a service: when SIGUSR1 comes, send PROGRAM this signal, and\n"
    "                     measure on until the tree has ended\n"
    "  --grace=SECONDS    how long that may take before the tree is killed (default 10)\n"
    "  --proof=exit       read each process at its exit (default)\n"
    "  --proof=sample     and look at the live tree every 10 ms\n"
    "  --proof=none       no ptrace\n"
    "  --digest           give the program a pipe as its standard output; print the size\n"
    "                     and the digest of what it wrote, and copy it to --stdout\n"
    "  --counters         count cycles, instructions and TLB misses in user mode\n"
    "  --parent=PID       stop as by SIGTERM when PID, the caller, has ended\n"
    "  --threads          follow threads too: count them, read their names and where each ran\n"
    "  --numa             read where the pages lie and by which policy\n"
    "  --files            list the files that are mapped\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 when the program was run, whatever became of it; 125 okosu-measure\n"
    "failed, 126 PROGRAM could not be executed, 127 it was not found, 128+N stopped by\n"
    "signal N.\n";

enum {
    OPTION_IN = 256,
    OPTION_OUT,
    OPTION_ERR,
    OPTION_TIMEOUT,
    OPTION_STOP,
    OPTION_GRACE,
    OPTION_PROOF,
    OPTION_THREADS,
    OPTION_NUMA,
    OPTION_FILES,
    OPTION_DIGEST,
    OPTION_PARENT,
    OPTION_COUNTERS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option option_table[] = {
    {"stdin", required_argument, NULL, OPTION_IN},
    {"stdout", required_argument, NULL, OPTION_OUT},
    {"stderr", required_argument, NULL, OPTION_ERR},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"stop", required_argument, NULL, OPTION_STOP},
    {"grace", required_argument, NULL, OPTION_GRACE},
    {"proof", required_argument, NULL, OPTION_PROOF},
    {"threads", no_argument, NULL, OPTION_THREADS},
    {"numa", no_argument, NULL, OPTION_NUMA},
    {"files", no_argument, NULL, OPTION_FILES},
    {"digest", no_argument, NULL, OPTION_DIGEST},
    {"counters", no_argument, NULL, OPTION_COUNTERS},
    {"parent", required_argument, NULL, OPTION_PARENT},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static const char see_help[] = "okosu-measure --help lists the options";

static int parse_seconds(const char *option, const char *text, uint64_t *out)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        return okosu_error_print(OKOSU_EXIT_FAILED, "it must be a number of seconds above 0",
                                 "a number such as 60 or 0.5", "--%s=%s not understood", option,
                                 text);
    *out = (uint64_t)(seconds * 1e9);
    /* 0 would mean no limit at all */
    *out += *out == 0;
    return 0;
}

static int parse_stop(const char *text, int *out)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end || number < 1 || number > SIGRTMAX || number == SIGKILL ||
        number == SIGSTOP)
        return okosu_error_print(OKOSU_EXIT_FAILED,
                                 "it must be the number of a signal that a program can catch",
                                 "--stop=15 (SIGTERM)", "--stop=%s not understood", text);
    *out = (int)number;
    return 0;
}

static int parse_proof(const char *text, enum okosu_proof *out)
{
    static const char *const names[] = {"exit", "sample", "none"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (enum okosu_proof)i;
            return 0;
        }
    }
    return okosu_error_print(OKOSU_EXIT_FAILED, "it must be exit, sample or none", see_help,
                             "--proof=%s not understood", text);
}

static int parse_parent(const char *text, pid_t *out)
{
    char *end;
    long number = strtol(text, &end, 10);

    if (end == text || *end || number <= 0 || number > INT32_MAX)
        return okosu_error_print(OKOSU_EXIT_FAILED, "it must be the number of the calling process",
                                 "--parent=$$", "--parent=%s not understood", text);
    *out = (pid_t)number;
    return 0;
}

/* Returns 0, an exit status, or -1 to end with success. */
static int parse_options(int argc, char **argv, struct okosu_measure_options *options)
{
    int which, status = 0;

    opterr = 0;
    while (!status && (which = getopt_long(argc, argv, "+:", option_table, NULL)) != -1) {
        switch (which) {
        case OPTION_IN:
            options->in = optarg;
            break;
        case OPTION_OUT:
            options->out = optarg;
            break;
        case OPTION_ERR:
            options->err = optarg;
            break;
        case OPTION_TIMEOUT:
            status = parse_seconds("timeout", optarg, &options->timeout_ns);
            break;
        case OPTION_STOP:
            status = parse_stop(optarg, &options->stop);
            break;
        case OPTION_GRACE:
            status = parse_seconds("grace", optarg, &options->grace_ns);
            break;
        case OPTION_PROOF:
            status = parse_proof(optarg, &options->proof);
            break;
        case OPTION_THREADS:
            options->threads = true;
            break;
        case OPTION_NUMA:
            options->numa = true;
            break;
        case OPTION_FILES:
            options->files = true;
            break;
        case OPTION_DIGEST:
            options->digest = true;
            break;
        case OPTION_COUNTERS:
            options->counters = true;
            break;
        case OPTION_PARENT:
            status = parse_parent(optarg, &options->parent);
            break;
        case OPTION_HELP:
            fputs(help, stdout);
            return -1;
        case OPTION_VERSION:
            puts("okosu-measure " OKOSU_VERSION);
            return -1;
        default:
            return okosu_error_print(OKOSU_EXIT_FAILED,
                                     which == ':' ? "it needs a value after the equals sign"
                                                  : "there is no such option, or it takes no value",
                                     see_help, "option %s not understood", argv[optind - 1]);
        }
    }
    options->argv = argv + optind;
    if (!status && !options->argv[0])
        return okosu_error_print(OKOSU_EXIT_FAILED, "no program was named after the options",
                                 "okosu-measure -- PROGRAM [ARG...]", "nothing to measure");
    return status;
}

static int exec_failed(const char *program, int error)
{
    const char *what = strerror(error);

    if (error == ENOENT)
        return okosu_error_print(OKOSU_EXIT_NOT_FOUND,
                                 "there is no such file, or what it needs to start is missing (the "
                                 "interpreter in its #! line, its dynamic loader)",
                                 "check the path, or the folders in PATH", "%s not started: %s",
                                 program, what);
    return okosu_error_print(OKOSU_EXIT_NOT_EXECUTABLE,
                             "the kernel found it and refused to execute it",
                             "check its type (file) and its permissions (ls -l, chmod +x)",
                             "%s not started: %s", program, what);
}

/* Opens the standard streams that are closed: the code that follows relies on descriptors 0 to
 * 2. */
static void fill_standard_streams(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv)
{
    struct okosu_measure_options options = {.grace_ns = UINT64_C(10000000000)};
    static struct okosu_measure_result result;
    int status, error;

    fill_standard_streams();
    status = parse_options(argc, argv, &options);
    if (status)
        return status < 0 ? 0 : status;
    error = okosu_measure_run(&options, &result);
    if (error) {
        status = OKOSU_EXIT_FAILED;
    } else if (result.interrupted) {
        status = 128 + result.interrupted;
    } else if (result.exec_error) {
        status = exec_failed(options.argv[0], result.exec_error);
    } else if (result.copy_error) {
        status = okosu_error_print(OKOSU_EXIT_FAILED, strerror(result.copy_error),
                                   "--stdout=FILE in a place with room for all that it prints",
                                   "the program's output was not kept");
    } else {
        okosu_measure_print(stdout, &options, &result);
        if (fflush(stdout) || ferror(stdout))
            status = okosu_error_print(OKOSU_EXIT_FAILED, strerror(errno),
                                       "give okosu-measure a standard output it can write to",
                                       "the measurement was not written");
    }
    okosu_table_clear(&result.table);
    return status;
}
