/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: open, read, write and close past libc's, which are cancellation points. What runs inside
 * malloc or _exit must not be one: a thread that ended there would leave a lock taken. */
#pragma once

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int okosu_call_open(const char *path, int flags, unsigned mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline ssize_t okosu_call_read(int fd, void *bytes, size_t size)
{
    return (ssize_t)syscall(SYS_read, fd, bytes, size);
}

static inline ssize_t okosu_call_write(int fd, const void *bytes, size_t size)
{
    return (ssize_t)syscall(SYS_write, fd, bytes, size);
}

static inline void okosu_call_close(int fd)
{
    syscall(SYS_close, fd);
}
