/* SPDX-License-Identifier: Apache-2.0 */
/* frequency: what the clock's parts share: stated frequencies, and the counter read together with
 * CLOCK_MONOTONIC_RAW. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The counter and the kernel's clock at one moment. */
struct clock_pair {
    uint64_t ticks;
    uint64_t ns;
};

/* Whether the reads of clock.h exist here. 0 or -ENOTSUP. */
int okosu_clock_usable(void);
/* The two clocks together: of 16 attempts the one that took the fewest ticks. 0 or -errno. */
int okosu_clock_pair_read(struct clock_pair *pair);
/* Ticks a second between two pairs, or 0 if one of the clocks stood still. */
double okosu_clock_rate(const struct clock_pair *from, const struct clock_pair *to);
/* Let so many nanoseconds pass, by the kernel's clock, awake or asleep. 0 or -errno. */
int okosu_clock_wait(uint64_t ns, bool asleep);

/* Stated frequencies in Hz, 0 where there is none. Pure functions of CPUID's registers. */
double okosu_clock_leaf15(const uint32_t leaf15[4], const uint32_t leaf16[4]);
double okosu_clock_hypervisor_leaf(const uint32_t leaf40000000[4], const uint32_t leaf40000010[4]);
double okosu_clock_hypervisor_hz(void);
double okosu_clock_cpuid_hz(void);
bool okosu_clock_declared(void);

/* The upper median of count > 0 numbers, which are left sorted. */
uint64_t okosu_clock_median(uint64_t *values, size_t count);
/* What two reads with nothing between them take, in ticks: the median of many. */
uint64_t okosu_clock_empty(void);
