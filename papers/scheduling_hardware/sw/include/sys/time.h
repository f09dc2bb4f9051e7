/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SYS_TIME_H
#define SYS_TIME_H

#include <time.h>

struct timeval {
    time_t tv_sec;
    long tv_usec;
};

/* Since reset; the zone is not looked at. */
int gettimeofday(struct timeval *now, void *zone);

#endif
