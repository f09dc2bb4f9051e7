/* SPDX-License-Identifier: Apache-2.0 */
/* Line: text in a buffer of the caller's. Nothing is allocated and no lock is taken, so that a line
 * can be written while a process ends. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void okosu_put_number(struct okosu_line *l, uint64_t value);

/* Write it all to fd; a failure is ignored, because nobody could be told of it. */
void okosu_line_emit(int fd, const struct okosu_line *l);
/* Append the line to the file, or do nothing where it was cut or would overrun RLIMIT_FSIZE. */
void okosu_line_append(const char *path, const struct okosu_line *l);
/* Append the text and map it in the file, so that it can be written anew without a system call. NULL
 * where the file is none that can be mapped, or would overrun RLIMIT_FSIZE. */
char *okosu_line_map(const char *path, const struct okosu_line *l);
