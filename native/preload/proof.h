/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the proof: one JSON object for a process, in a buffer, written at once. */
#pragma once

#include "base/json.h"

#include <sys/types.h>

/* Where the lines go, and what they say of the process. */
struct okosu_proof {
    const char *path;
    char *mapped; /* room in the file that needs no system call; NULL: lines are appended to it */
    size_t room;
    pid_t pid;
    char comm[17];
};

/* Sets the members pid and comm to those of this process. */
void okosu_proof_identify(struct okosu_proof *proof);
/* Opens the object with the members "pid" and "comm". */
void okosu_proof_open(struct okosu_json *json, const struct okosu_proof *proof);
/* Closes it and writes it to the file, or does nothing where it did not fit its buffer or the
 * room. */
void okosu_proof_close(struct okosu_json *json, struct okosu_proof *proof);
