/* SPDX-License-Identifier: Apache-2.0 */
/* Now: clocks in nanoseconds. */
#pragma once

#include <stdint.h>
#include <time.h>

#define OKOSU_NS_PER_S UINT64_C(1000000000)

static inline uint64_t okosu_now_of(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * OKOSU_NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t okosu_now(void)
{
    return okosu_now_of(CLOCK_MONOTONIC);
}

static inline struct timespec okosu_timespec(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / OKOSU_NS_PER_S), (long)(ns % OKOSU_NS_PER_S)};
}
