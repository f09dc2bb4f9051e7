/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measurement as one line of JSON. */
#pragma once

#include "measure.h"

#include <stdio.h>

/* The whole object and a newline; its fields are those of docs/ARCHITECTURE.md. Without --digest the
 * digest of the output is "", without --counters there are no counters. */
void okosu_measure_print(FILE *file, const struct okosu_measure_options *options,
                         const struct okosu_measure_result *result);
