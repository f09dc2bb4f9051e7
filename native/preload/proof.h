/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the proof: one JSON object for a process, in a buffer, written with one write(). */
#pragma once

#include "base/json.h"

/* Opens the object with the members "pid" and "comm" of this process. */
void okosu_proof_open(struct okosu_json *json);
/* Closes it and appends it to the file, or does nothing where it did not fit its buffer. */
void okosu_proof_close(struct okosu_json *json, const char *proof);
