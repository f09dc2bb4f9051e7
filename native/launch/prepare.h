/* SPDX-License-Identifier: Apache-2.0 */
/* Prepare: from the command line to a complete launch plan. Reads the machine, changes nothing. */
#pragma once

#include "lever.h"
#include "options.h"

/* What became of one lever that was asked for. */
struct okosu_outcome {
    const char *name;
    const char *value; /* NULL: the placebo */
    int rc;
    bool hooked; /* its library serves the program */
    struct okosu_refusal refusal;
};

struct okosu_launch {
    struct okosu_options options;
    struct okosu_program program;
    struct okosu_context context;
    struct okosu_plan plan;
    struct okosu_outcome outcomes[OKOSU_LEVER_LIMIT + 1];
    size_t outcome_count;
    const char *proof; /* absolute path, or NULL */
};

/* Find PROGRAM by the environment it will have, and look into it. 0, or an exit status after a
 * message. */
int okosu_prepare_program(struct okosu_launch *launch, char **environment);
/* Apply the levers to the plan and finish its environment. What cannot be applied is in the
 * outcomes. 0, or an exit status after a message. */
int okosu_prepare_plan(struct okosu_launch *launch);
/* "numa=bind:1 not applied: Operation not permitted", from the plan's arena. */
char *okosu_prepare_outcome(struct okosu_launch *launch, const struct okosu_outcome *outcome);
/* Path of libokosu-preload.so, or NULL. */
char *okosu_prepare_library(struct okosu_arena *arena, const char *self);
/* The name under which LD_PRELOAD loads a library: the loader of glibc finds it and that of musl
 * does not. NULL: no memory. */
const char *okosu_prepare_preload(struct okosu_arena *arena, const char *library);
