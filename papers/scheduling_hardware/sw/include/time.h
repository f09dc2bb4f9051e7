/* SPDX-License-Identifier: Apache-2.0 */
/* All clocks count cycles since reset, at __okosu_clock_hz (link.ld: 100 MHz unless said
 * otherwise). */
#ifndef TIME_H
#define TIME_H

#include <stddef.h>

typedef long long time_t;
typedef int clockid_t;
typedef long clock_t;

struct timespec {
    time_t tv_sec;
    long tv_nsec;
};

#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define CLOCK_PROCESS_CPUTIME_ID 2
#define CLOCK_THREAD_CPUTIME_ID 3
#define CLOCKS_PER_SEC 1000000L

int clock_gettime(clockid_t clock, struct timespec *now);
int clock_getres(clockid_t clock, struct timespec *resolution);
int nanosleep(const struct timespec *span, struct timespec *left);
time_t time(time_t *now);
clock_t clock(void);

#endif
