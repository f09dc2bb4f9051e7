/* SPDX-License-Identifier: Apache-2.0 */
/* errno, one for each thread, and Linux's numbers. */
#ifndef ERRNO_H
#define ERRNO_H

int *okosu_errno(void);
#define errno (*okosu_errno())

#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define EAGAIN 11
#define EWOULDBLOCK EAGAIN
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define ENODEV 19
#define EMFILE 24
#define ENOSPC 28
#define EINVAL 22
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define ENAMETOOLONG 36
#define ENOSYS 38
#define EOVERFLOW 75
#define ENOTSUP 95
#define ETIMEDOUT 110
#define EOWNERDEAD 130
#define ENOTRECOVERABLE 131

#endif
