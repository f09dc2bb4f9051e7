/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the program: it is held until it is traced, and a failed exec is told apart from a program
 * that failed. */
#pragma once

#include "measure.h"

#include <signal.h>

struct okosu_child {
    pid_t pid;
    int go;     /* a byte written here releases the child */
    int failed; /* the errno of exec can be read here once the child has ended; nothing if it was
                   executed */
};

/* Open the three streams of the program, close-on-exec and above 2. Prints the error itself;
 * returns 0 or -errno. A path /dev/fd/N or /proc/self/fd/N stands for the open descriptor N, so
 * that an unlinked file can be used. */
int okosu_spawn_open(const struct okosu_measure_options *options, int streams[3]);

/* Fork. The child leads a session of its own, takes `mask` as its signal mask and waits. Returns 0
 * or -errno. */
int okosu_spawn_fork(const struct okosu_measure_options *options, const int streams[3],
                     const sigset_t *mask, struct okosu_child *child);

/* Release the child; returns 0 or -errno. */
int okosu_spawn_release(struct okosu_child *child);

/* Call after the child's end: the errno of an exec that failed, else 0. Closes what
 * okosu_spawn_fork opened. */
int okosu_spawn_finish(struct okosu_child *child);
