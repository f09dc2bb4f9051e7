/* SPDX-License-Identifier: Apache-2.0 */
/* --digest: the program writes into a pipe, and what it wrote is digested while it runs. */
#pragma once

#include "digest.h"

#include <signal.h>
#include <stdbool.h>

struct okosu_output {
    int pipe;    /* where the program's output is read; -1 without --digest, and at its end */
    int copy;    /* where it is copied to, -1 for nowhere */
    int signals; /* a signalfd of the signals that the loop awaits */
    int error;   /* errno of the copy, 0 */
    uint64_t delay_ns, next_ns;
    struct okosu_digest digest;
};

/* Put a pipe in the place of *stream. What the program writes there is digested and copied to the
 * former *stream, or to nothing unless `copied`. The signals must be blocked. Returns 0 or -errno,
 * *stream unchanged. */
int okosu_output_begin(struct okosu_output *output, int *stream, bool copied,
                       const sigset_t *awaited);

/* Read the pipe until one of the signals arrives or `deadline` has come; returns the signal, or 0.
 * Returns 0 too, and `pipe` is -1, once the pipe has no writer any more. */
int okosu_output_await(struct okosu_output *output, uint64_t deadline);

/* Read what is left in the pipe and close all. */
void okosu_output_end(struct okosu_output *output);
