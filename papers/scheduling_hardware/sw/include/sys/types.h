/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYS_TYPES_H
#define SYS_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef int pid_t;
typedef unsigned uid_t;
typedef unsigned gid_t;
typedef unsigned mode_t;
typedef long off_t;
typedef long ssize_t;
typedef unsigned useconds_t;

#endif
