/* SPDX-License-Identifier: Apache-2.0 */
/* errno, and the texts for its values in glibc's words, so that a program prints the same here and
 * on Linux. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "backend.h"

static const struct {
    int error;
    const char *text;
} texts[] = {
    {0, "Success"},
    {EPERM, "Operation not permitted"},
    {ENOENT, "No such file or directory"},
    {ESRCH, "No such process"},
    {EINTR, "Interrupted system call"},
    {EIO, "Input/output error"},
    {ENOEXEC, "Exec format error"},
    {EBADF, "Bad file descriptor"},
    {ECHILD, "No child processes"},
    {EAGAIN, "Resource temporarily unavailable"},
    {ENOMEM, "Cannot allocate memory"},
    {EACCES, "Permission denied"},
    {EFAULT, "Bad address"},
    {EBUSY, "Device or resource busy"},
    {EEXIST, "File exists"},
    {ENODEV, "No such device"},
    {EINVAL, "Invalid argument"},
    {EMFILE, "Too many open files"},
    {ENOSPC, "No space left on device"},
    {EDOM, "Numerical argument out of domain"},
    {ERANGE, "Numerical result out of range"},
    {EDEADLK, "Resource deadlock avoided"},
    {ENAMETOOLONG, "File name too long"},
    {ENOSYS, "Function not implemented"},
    {EOVERFLOW, "Value too large for defined data type"},
    {ENOTSUP, "Operation not supported"},
    {ETIMEDOUT, "Connection timed out"},
    {EOWNERDEAD, "Owner died"},
    {ENOTRECOVERABLE, "State not recoverable"},
};

IN_LIB char *strerror(int error)
{
    for (size_t at = 0; at < sizeof(texts) / sizeof(texts[0]); at++)
        if (texts[at].error == error)
            return (char *)texts[at].text;
    return (char *)"Unknown error";
}

IN_LIB int *okosu_errno(void)
{
    struct locals *locals = thread_locals();

    locals->used = 1;
    return &locals->error;
}
