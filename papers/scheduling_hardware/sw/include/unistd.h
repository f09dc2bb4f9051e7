/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UNISTD_H
#define UNISTD_H

#include <stddef.h>

typedef unsigned useconds_t;

#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84

void _exit(int status) __attribute__((noreturn));
int usleep(useconds_t microseconds);
unsigned sleep(unsigned seconds);
/* The number of PEs; -1 and EINVAL for any other name. */
long sysconf(int name);

#endif
