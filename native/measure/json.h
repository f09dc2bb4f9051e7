/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a measurement as one line of JSON. */
#ifndef OKOSU_MEASURE_JSON_H
#define OKOSU_MEASURE_JSON_H

#include "measure.h"

#include <stdio.h>

/* A JSON string of any bytes: what is not UTF-8 becomes U+FFFD, control characters are escaped. */
void okosu_json_string(FILE *file, const char *text, size_t length);

/* The whole object and a newline; field names as in docs/ARCHITECTURE.md. */
void okosu_json_measurement(FILE *file, const struct okosu_measure_result *result);

#endif
