/* SPDX-License-Identifier: Apache-2.0 */
/* File: reading by plain system calls; stdio would cost an allocation a file and pin asks for
 * dozens. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long okosu_file_read(char *text, size_t size, const char *root, const char *format, ...)
{
    char path[PATH_MAX], more;
    size_t used = 0;
    va_list args;
    int at, length, fd;
    long rc;

    at = snprintf(path, sizeof(path), "%s", strcmp(root, "/") == 0 ? "" : root);
    if (at < 0 || (size_t)at >= sizeof(path))
        return -ENAMETOOLONG;
    va_start(args, format);
    length = vsnprintf(path + at, sizeof(path) - (size_t)at, format, args);
    va_end(args);
    if (length < 0 || (size_t)(at + length) >= sizeof(path))
        return -ENAMETOOLONG;

    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    for (;;) {
        ssize_t got = used < size - 1 ? read(fd, text + used, size - 1 - used) : read(fd, &more, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            rc = -errno;
            goto out;
        }
        if (got == 0)
            break;
        if (used == size - 1) {
            rc = -EFBIG;
            goto out;
        }
        used += (size_t)got;
    }
    while (used && text[used - 1] == '\n')
        used--;
    text[used] = '\0';
    rc = (long)used;
out:
    close(fd);
    return rc;
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
