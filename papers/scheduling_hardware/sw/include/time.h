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
#define TIMER_ABSTIME 1
#define CLOCKS_PER_SEC 1000000L

int clock_gettime(clockid_t clock, struct timespec *now);
int clock_getres(clockid_t clock, struct timespec *resolution);
/* Cancellation points. EINTR: a signal was handled; `left`, if it is not NULL, is what remains. */
int nanosleep(const struct timespec *span, struct timespec *left);
/* The error, EINVAL or EINTR, is the return value. CLOCK_REALTIME or CLOCK_MONOTONIC. */
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left);
time_t time(time_t *now);
clock_t clock(void);
double difftime(time_t end, time_t start);

/* UTC, for the time since reset counts from 1970. */
struct tm {
    int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
};
struct tm *gmtime(const time_t *time);
struct tm *localtime(const time_t *time);
struct tm *gmtime_r(const time_t *restrict time, struct tm *restrict parts);
struct tm *localtime_r(const time_t *restrict time, struct tm *restrict parts);

#endif
