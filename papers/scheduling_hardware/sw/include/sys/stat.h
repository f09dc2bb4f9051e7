/* SPDX-License-Identifier: Apache-2.0 */
/* The modes that sem_open is given; nobody is refused anything. */
#ifndef SYS_STAT_H
#define SYS_STAT_H

#include <sys/types.h>

#define S_IRWXU 0700
#define S_IRUSR 0400
#define S_IWUSR 0200
#define S_IXUSR 0100
#define S_IRWXG 0070
#define S_IRGRP 0040
#define S_IWGRP 0020
#define S_IXGRP 0010
#define S_IRWXO 0007
#define S_IROTH 0004
#define S_IWOTH 0002
#define S_IXOTH 0001

/* There are no files: -1 and ENOSYS. */
int mkdir(const char *path, mode_t mode);

#endif
