/* SPDX-License-Identifier: Apache-2.0 */
/* File: the short text files of /proc and /sys, below a root that tests can replace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Read at most size bytes: their number or -errno. /proc hands out a page or so a call. */
long okosu_file_read_open(int fd, char *text, size_t size);
/* Read at most size - 1 bytes of the file and end them with NUL: their number or -errno. What a
 * longer file holds beyond them is left out. */
long okosu_file_slurp(const char *path, char *text, size_t size);
/* Read at most size - 1 bytes of root/path (path from printf's arguments) and end them with NUL;
 * trailing newlines are cut off. Returns the length or -errno; -EFBIG when the file is longer than
 * that, since a list cut in the middle would still parse. */
long okosu_file_read(char *text, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Read a decimal number of at most `limit` and move *text behind it. */
bool okosu_file_number(const char **text, size_t limit, size_t *number);
/* The value of the line "KEY:\tVALUE" of a file such as /proc/PID/status that was read into text,
 * up to its newline, copied into value. 0, -ENOENT or -EFBIG. */
int okosu_file_field(const char *text, const char *key, char *value, size_t size);
