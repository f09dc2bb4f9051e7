/* SPDX-License-Identifier: Apache-2.0 */
/* Json: a writer for small documents. Commas are its business; names and values are the caller's.
 */
#ifndef OKOSU_BASE_JSON_H
#define OKOSU_BASE_JSON_H

#include <stdbool.h>
#include <stdio.h>

struct okosu_json {
    FILE *out;
    bool comma; /* something stands before the next value on this level */
};

/* `name` is NULL inside an array and at the top. */
void okosu_json_open(struct okosu_json *json, const char *name, char bracket);
void okosu_json_close(struct okosu_json *json, char bracket);
/* A NULL text is written as null. Bytes that are no UTF-8 become lone surrogates, as Python's
 * surrogateescape has it. */
void okosu_json_string(struct okosu_json *json, const char *name, const char *text);
void okosu_json_bool(struct okosu_json *json, const char *name, bool value);
void okosu_json_int(struct okosu_json *json, const char *name, long long value);

#endif
