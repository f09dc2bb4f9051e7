/* SPDX-License-Identifier: Apache-2.0 */
/* Time: cycles since reset. */
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "deadline.h"

extern char __okosu_clock_hz[];

enum { NANOSECONDS = 1000000000 };

static IN_LIB uint64_t clock_hz(void)
{
    return (uintptr_t)__okosu_clock_hz;
}

static IN_LIB uint64_t cycles_of(uint64_t seconds, uint32_t nanoseconds)
{
    return seconds * clock_hz() + nanoseconds * clock_hz() / NANOSECONDS;
}

/* The hardware keeps deadlines in 44 bits (two days at 100 MHz), which stand for all later ones
 * too. */
IN_LIB int deadline_of(const struct timespec *time, uint64_t *cycle)
{
    const uint64_t latest = (UINT64_C(1) << 44) - 1;

    if (time->tv_nsec < 0 || time->tv_nsec >= NANOSECONDS)
        return EINVAL;
    if (time->tv_sec < 0)
        *cycle = 1;
    else if ((uint64_t)time->tv_sec > latest / clock_hz())
        *cycle = latest;
    else
        *cycle = cycles_of((uint64_t)time->tv_sec, (uint32_t)time->tv_nsec) + 1;
    return 0;
}

IN_LIB int clock_gettime(clockid_t clock, struct timespec *now)
{
    uint64_t cycle = cycle_now();
    uint64_t seconds = cycle / clock_hz();

    if (clock < CLOCK_REALTIME || clock > CLOCK_THREAD_CPUTIME_ID) {
        errno = EINVAL;
        return -1;
    }
    now->tv_sec = (time_t)seconds;
    now->tv_nsec = (long)((cycle - seconds * clock_hz()) * NANOSECONDS / clock_hz());
    return 0;
}

IN_LIB int clock_getres(clockid_t clock, struct timespec *resolution)
{
    if (clock < CLOCK_REALTIME || clock > CLOCK_THREAD_CPUTIME_ID) {
        errno = EINVAL;
        return -1;
    }
    if (resolution != NULL)
        *resolution = (struct timespec){0, (long)(NANOSECONDS / clock_hz())};
    return 0;
}

IN_LIB time_t time(time_t *now)
{
    time_t seconds = (time_t)(cycle_now() / clock_hz());

    if (now != NULL)
        *now = seconds;
    return seconds;
}

IN_LIB clock_t clock(void)
{
    return (clock_t)(cycle_now() * CLOCKS_PER_SEC / clock_hz());
}

/* The thread waits at a word of its own, which no other thread wakes. */
static IN_SWITCH void sleep_until(uint64_t deadline)
{
    volatile unsigned word = 0;

    while (cycle_now() < deadline)
        if (word_wait(&word, 0, deadline) == EAGAIN)
            thread_yield();
}

IN_SWITCH int nanosleep(const struct timespec *span, struct timespec *left)
{
    if (span->tv_nsec < 0 || span->tv_nsec >= NANOSECONDS || span->tv_sec < 0) {
        errno = EINVAL;
        return -1;
    }
    sleep_until(cycle_now() + cycles_of((uint64_t)span->tv_sec, (uint32_t)span->tv_nsec));
    if (left != NULL)
        *left = (struct timespec){0, 0};
    return 0;
}

IN_SWITCH int usleep(useconds_t microseconds)
{
    sleep_until(cycle_now() + microseconds * clock_hz() / 1000000);
    return 0;
}

IN_SWITCH unsigned sleep(unsigned seconds)
{
    sleep_until(cycle_now() + cycles_of(seconds, 0));
    return 0;
}

IN_LIB long sysconf(int name)
{
    if (name == _SC_NPROCESSORS_CONF || name == _SC_NPROCESSORS_ONLN)
        return (long)pe_count();
    errno = EINVAL;
    return -1;
}
