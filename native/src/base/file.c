/* SPDX-License-Identifier: Apache-2.0 */
/* File: reading by plain system calls; stdio would cost an allocation a file and pin asks for
 * dozens. */
#include "base/file.h"

#include "base/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long okosu_file_read_open(int fd, char *text, size_t size)
{
    size_t used = 0;

    while (used < size) {
        ssize_t got = okosu_call_read(fd, text + used, size - used);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            break;
        used += (size_t)got;
    }
    return (long)used;
}

long okosu_file_slurp(const char *path, char *text, size_t size)
{
    int fd = okosu_call_open(path, O_RDONLY | O_CLOEXEC, 0);
    long used;

    if (fd < 0)
        return -errno;
    used = okosu_file_read_open(fd, text, size - 1);
    okosu_call_close(fd);
    text[used > 0 ? used : 0] = '\0';
    return used;
}

long okosu_file_read(char *text, size_t size, const char *root, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    int at, length, fd;
    long used;

    at = snprintf(path, sizeof(path), "%s", strcmp(root, "/") == 0 ? "" : root);
    if (at < 0 || (size_t)at >= sizeof(path))
        return -ENAMETOOLONG;
    va_start(args, format);
    length = vsnprintf(path + at, sizeof(path) - (size_t)at, format, args);
    va_end(args);
    if (length < 0 || (size_t)(at + length) >= sizeof(path))
        return -ENAMETOOLONG;

    fd = okosu_call_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    used = okosu_file_read_open(fd, text, size);
    okosu_call_close(fd);
    if (used < 0)
        return used;
    if ((size_t)used == size)
        return -EFBIG;
    while (used && text[used - 1] == '\n')
        used--;
    text[used] = '\0';
    return used;
}

bool okosu_file_number(const char **text, size_t limit, size_t *number)
{
    const char *at = *text;
    size_t value = 0;

    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        size_t digit = (size_t)(*at - '0');

        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *text = at;
    *number = value;
    return true;
}

int okosu_file_field(const char *text, const char *key, char *value, size_t size)
{
    size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        size_t width;

        if (*line == '\n')
            line++;
        if (strncmp(line, key, length) != 0 || line[length] != ':')
            continue;
        line += length + 1;
        line += strspn(line, " \t");
        width = strcspn(line, "\n");
        if (width >= size)
            return -EFBIG;
        memcpy(value, line, width);
        value[width] = '\0';
        return 0;
    }
    return -ENOENT;
}
