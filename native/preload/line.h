/* SPDX-License-Identifier: Apache-2.0 */
/* A line of JSON or of prose in a buffer of the caller's: nothing is allocated, no lock is taken,
 * so that it can be written wherever a process ends. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Drops what does not fit and remembers that it did. */
struct okosu_line {
    char *text;
    size_t size, used;
    bool cut;
};

#define OKOSU_LINE(buffer)                                                                         \
    {                                                                                              \
        .text = (buffer), .size = sizeof(buffer)                                                   \
    }

void okosu_put_char(struct okosu_line *l, char c);
void okosu_put(struct okosu_line *l, const char *text);
void okosu_put_number(struct okosu_line *l, size_t value);
/* Of an object's second and later members. */
void okosu_put_key(struct okosu_line *l, const char *key);
/* The opening brace and the members "pid" and "comm" of this process. */
void okosu_put_process(struct okosu_line *l);

/* Best effort: there is nobody to tell that it could not be written. Leaves errno to the caller. */
void okosu_line_emit(int fd, const struct okosu_line *l);
/* Appends the line to the file, or does nothing where it was cut or would overrun RLIMIT_FSIZE. */
void okosu_line_append(const char *path, const struct okosu_line *l);
