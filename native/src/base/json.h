/* SPDX-License-Identifier: Apache-2.0 */
/* Json: the only writer of JSON. It places the commas; the caller gives names and values. It writes
 * to a stream, or to a line, for which it allocates nothing and takes no lock. */
#pragma once

#include "base/line.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct okosu_json {
    FILE *out;
    struct okosu_line *line; /* where `out` is NULL */
    bool comma;              /* something stands before the next value on this level */
    bool replace;            /* bytes that are no UTF-8 become U+FFFD */
};

/* Begin an object that is a line of the stream, and end it. */
struct okosu_json okosu_json_begin(FILE *out);
void okosu_json_end(struct okosu_json *json);
/* `name` is NULL inside an array and at the top. */
void okosu_json_open(struct okosu_json *json, const char *name, char bracket);
void okosu_json_close(struct okosu_json *json, char bracket);
/* A NULL text is written as null. Bytes that are not UTF-8 become lone surrogates, as with Python's
 * surrogateescape, unless `replace` is set. */
void okosu_json_string(struct okosu_json *json, const char *name, const char *text);
void okosu_json_bool(struct okosu_json *json, const char *name, bool value);
void okosu_json_int(struct okosu_json *json, const char *name, int64_t value);
void okosu_json_unsigned(struct okosu_json *json, const char *name, uint64_t value);
/* With at most `digits` significant digits; null where JSON has no such number. Not for lines. */
void okosu_json_number(struct okosu_json *json, const char *name, double value, int digits);
/* `text` is JSON already. */
void okosu_json_raw(struct okosu_json *json, const char *name, const char *text);
