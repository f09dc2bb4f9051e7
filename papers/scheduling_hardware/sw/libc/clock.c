/* SPDX-License-Identifier: Apache-2.0 */
/* Time: cycles since reset. */
#include <sys/time.h>
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

IN_LIB struct timespec time_of_cycles(uint64_t cycles)
{
    uint64_t seconds = cycles / clock_hz();

    return (struct timespec){(time_t)seconds,
                             (long)((cycles - seconds * clock_hz()) * NANOSECONDS / clock_hz())};
}

IN_LIB int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock < CLOCK_REALTIME || clock > CLOCK_THREAD_CPUTIME_ID) {
        errno = EINVAL;
        return -1;
    }
    *now = time_of_cycles(cycle_now());
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

/* The thread waits at a word of its own, which no other thread wakes but by an event; false if a
 * signal was handled. */
static IN_SWITCH bool sleep_until(uint64_t deadline)
{
    volatile unsigned word = 0;

    /* Signals that came earlier have not interrupted the sleep. */
    act_at_point();
    while (cycle_now() < deadline) {
        int error = wait_at(&word, 0, deadline);

        if (error == EAGAIN)
            thread_yield();
        if (error == EINTR && act_at_point())
            return false;
    }
    return true;
}

static IN_SWITCH int nap(uint64_t deadline, struct timespec *left)
{
    uint64_t now;

    if (sleep_until(deadline)) {
        if (left != NULL)
            *left = (struct timespec){0, 0};
        return 0;
    }
    now = cycle_now();
    if (left != NULL)
        *left = time_of_cycles(now < deadline ? deadline - now : 0);
    errno = EINTR;
    return -1;
}

IN_SWITCH int nanosleep(const struct timespec *span, struct timespec *left)
{
    if (span->tv_nsec < 0 || span->tv_nsec >= NANOSECONDS || span->tv_sec < 0) {
        errno = EINVAL;
        return -1;
    }
    return nap(cycle_now() + cycles_of((uint64_t)span->tv_sec, (uint32_t)span->tv_nsec), left);
}

IN_SWITCH int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                              struct timespec *left)
{
    uint64_t deadline;

    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    if (deadline_of(time, &deadline) != 0 || time->tv_sec < 0)
        return EINVAL;
    if (flags == TIMER_ABSTIME)
        return sleep_until(deadline) ? 0 : EINTR;
    return nanosleep(time, left) == 0 ? 0 : EINTR;
}

IN_SWITCH int usleep(useconds_t microseconds)
{
    return nap(cycle_now() + microseconds * clock_hz() / 1000000, NULL);
}

IN_SWITCH unsigned sleep(unsigned seconds)
{
    uint64_t deadline = cycle_now() + cycles_of(seconds, 0), now;

    if (sleep_until(deadline))
        return 0;
    now = cycle_now();
    return now < deadline ? (unsigned)((deadline - now + clock_hz() - 1) / clock_hz()) : 0;
}

IN_LIB int gettimeofday(struct timeval *now, void *zone)
{
    struct timespec time = time_of_cycles(cycle_now());

    (void)zone;
    *now = (struct timeval){time.tv_sec, time.tv_nsec / 1000};
    return 0;
}
