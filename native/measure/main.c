/* SPDX-License-Identifier: Apache-2.0 */
/* okosu-measure: times one process tree, and reads the proof of effect while the clock is stopped.
 * This file has the options and the exit status. */
#include "print.h"

#include "base/message.h"
#include "base/option.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *set_seconds(void *field, const char *value)
{
    char *end;
    double seconds = strtod(value, &end);

    if (end == value || *end || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        return "it must be a number of seconds above 0";
    *(uint64_t *)field = (uint64_t)(seconds * 1e9);
    /* 0 would mean no limit at all */
    *(uint64_t *)field += *(uint64_t *)field == 0;
    return NULL;
}

static const char *set_stop(void *field, const char *value)
{
    uint64_t number;

    if (!okosu_option_number(value, &number) || number < 1 || number > (uint64_t)SIGRTMAX ||
        number == SIGKILL || number == SIGSTOP)
        return "it must be the number of a signal that a program can catch, 15 for SIGTERM";
    *(int *)field = (int)number;
    return NULL;
}

static const char *set_proof(void *field, const char *value)
{
    static const char *const names[] = {"exit", "sample", "none"};

    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(value, names[i]) == 0) {
            *(enum okosu_proof *)field = (enum okosu_proof)i;
            return NULL;
        }
    }
    return "it must be exit, sample or none";
}

/* Not among the options of a measurement. */
struct options {
    struct okosu_measure_options measure;
    bool help, version;
};

#define SWITCH(field) OKOSU_SWITCH(struct options, field)
#define TEXT(field) OKOSU_TEXT(struct options, measure.field)
#define SET(field, set) OKOSU_SET(struct options, measure.field, set)

static const struct okosu_option rows[] = {
    {"stdin", "FILE", "the program's standard input (default /dev/null)", TEXT(in)},
    {"stdout", "FILE", "its standard output, emptied first (default /dev/null)", TEXT(out)},
    {"stderr", "FILE", "its standard error, emptied first (default inherited)", TEXT(err)},
    {"timeout", "SECONDS", "kill the whole tree after that long", SET(timeout_ns, set_seconds)},
    {"stop", "NUMBER", "for a service: send PROGRAM this signal when SIGUSR1 comes, and go on",
     SET(stop, set_stop)},
    {"grace", "SECONDS", "how long it may take to end then before it is killed (default 10)",
     SET(grace_ns, set_seconds)},
    {"proof", "WAY", "exit (default), sample or none: when the processes are read",
     SET(proof, set_proof)},
    {"digest", NULL, "digest the program's output, through a pipe, and copy it to --stdout",
     SWITCH(measure.digest)},
    {"counters", NULL, "count cycles, instructions and TLB misses in user mode",
     SWITCH(measure.counters)},
    {"parent", "PID", "stop as by SIGTERM when PID, the caller, has ended",
     OKOSU_NUMBER(struct options, measure.parent, 1, INT32_MAX)},
    {"threads", NULL, "follow threads too: count them, read their names and where each ran",
     SWITCH(measure.threads)},
    {"numa", NULL, "read where the pages lie and by which policy", SWITCH(measure.numa)},
    {"files", NULL, "list the files that are mapped, and count the heaps of malloc's arenas",
     SWITCH(measure.files)},
    {"help", NULL, "print this text", SWITCH(help)},
    {"version", NULL, "print the version", SWITCH(version)},
    {.name = NULL},
};

static void print_help(void)
{
    fputs("usage: okosu-measure [OPTION...] -- PROGRAM [ARG...]\n\n"
          "Run PROGRAM in a session of its own, time it, read what it held at its exit with\n"
          "the clock stopped, and print one JSON object. What it leaves running is killed.\n\n",
          stdout);
    okosu_option_help(stdout, rows);
    fputs(
        "\nFILE may be /dev/fd/N, an open descriptor. With --proof=sample the live tree is looked\n"
        "at every 10 ms too; with --proof=none there is no ptrace.\n\n"
        "Exit status: 0 when the program was run, whatever became of it; 125 okosu-measure\n"
        "failed, 126 PROGRAM could not be executed, 127 it was not found, 128+N stopped by\n"
        "signal N.\n",
        stdout);
}

/* 0, or an exit status after a message. */
static int read_options(char **argv, struct options *options)
{
    char **at = argv + (*argv != NULL);

    for (int used; *at && **at == '-' && strcmp(*at, "--") != 0; at += used) {
        used = okosu_option_read(rows, NULL, options, at);
        if (used < 0)
            return OKOSU_EXIT_FAILED;
    }
    options->measure.argv = at + (*at && strcmp(*at, "--") == 0);
    if (!options->measure.argv[0] && !options->help && !options->version)
        return okosu_complain(OKOSU_EXIT_FAILED, "no program was named after the options",
                              "okosu-measure -- PROGRAM [ARG...]", "nothing to measure");
    return 0;
}

static int exec_failed(const char *program, int error)
{
    const char *what = strerror(error);

    if (error == ENOENT)
        return okosu_complain(OKOSU_EXIT_NOT_FOUND,
                              "there is no such file, or what it needs to start is missing (the "
                              "interpreter in its #! line, its dynamic loader)",
                              "check the path, or the folders in PATH", "%s not started: %s",
                              program, what);
    return okosu_complain(OKOSU_EXIT_NOT_EXECUTABLE,
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
    struct options given = {.measure.grace_ns = UINT64_C(10000000000)};
    const struct okosu_measure_options *options = &given.measure;
    static struct okosu_measure_result result;
    int status, error;

    fill_standard_streams();
    status = read_options(argv, &given);
    if (status)
        return status;
    if (given.help || given.version) {
        if (given.help)
            print_help();
        else
            puts("okosu-measure " OKOSU_VERSION);
        return 0;
    }
    error = okosu_measure_run(options, &result);
    if (error) {
        status = OKOSU_EXIT_FAILED;
    } else if (result.interrupted) {
        status = 128 + result.interrupted;
    } else if (result.exec_error) {
        status = exec_failed(options->argv[0], result.exec_error);
    } else if (result.copy_error) {
        status = okosu_complain(OKOSU_EXIT_FAILED, strerror(result.copy_error),
                                "--stdout=FILE in a place with room for all that it prints",
                                "the program's output was not kept");
    } else {
        okosu_measure_print(stdout, options, &result);
        if (fflush(stdout) || ferror(stdout))
            status = okosu_complain(OKOSU_EXIT_FAILED, strerror(errno),
                                    "give okosu-measure a standard output it can write to",
                                    "the measurement was not written");
    }
    okosu_table_clear(&result.table);
    return status;
}
