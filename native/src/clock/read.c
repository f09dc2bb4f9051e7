/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the counter's own cost and step, and whether it is one clock. */
#include "clock/frequency.h"

#include <okosu/clock.h>

#include <errno.h>
#include <stdlib.h>

#define READS 1001
#define WINDOW_NS 5000000u

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

uint64_t okosu_clock_median(uint64_t *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), compare);
    return values[count / 2];
}

uint64_t okosu_clock_empty(void)
{
    uint64_t samples[READS];

    for (int i = 0; i < READS; i++) {
        uint64_t start = okosu_clock_start();

        samples[i] = okosu_clock_stop() - start;
    }
    return okosu_clock_median(samples, READS);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The greatest common divisor of all differences: where a read takes longer than a step, the
 * smallest difference would be the time of a read. 0: the counter stood still. */
static uint64_t step_of(unsigned reads)
{
    uint64_t step = 0, last = okosu_clock_start();

    for (unsigned i = 0; i < reads; i++) {
        uint64_t now = okosu_clock_start();

        step = gcd(step, now - last);
        last = now;
    }
    return step;
}

/* CPUs count in steps of one size, but not always in phase: a difference between the counters of
 * two of them is a multiple of nothing. The median is not affected by one change of the CPU. */
static uint64_t granularity(void)
{
    uint64_t steps[9];

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
        steps[i] = step_of(READS / 9);
    return okosu_clock_median(steps, sizeof(steps) / sizeof(steps[0]));
}

/* The rate of one window, and whether the counter went backwards within it. 0 or -errno. */
static int window(bool asleep, double *rate, bool *monotone)
{
    struct clock_pair from, to;
    uint64_t last, now;
    int rc = okosu_clock_pair_read(&from);

    if (!rc)
        rc = okosu_clock_wait(WINDOW_NS, asleep);
    if (!rc)
        rc = okosu_clock_pair_read(&to);
    if (rc)
        return rc;
    *rate = okosu_clock_rate(&from, &to);
    if (to.ticks < from.ticks)
        *monotone = false;
    last = okosu_clock_start();
    for (int i = 0; i < READS; i++) {
        now = i % 2 ? okosu_clock_start() : okosu_clock_stop();
        if (now < last)
            *monotone = false;
        last = now;
    }
    return 0;
}

int okosu_clock_check(struct okosu_clock_invariance *found, unsigned windows)
{
    double least = 0, most = 0, sum = 0;
    int rc = okosu_clock_usable();

    if (rc)
        return rc;
    if (windows < 2 || windows > 1000)
        return -EINVAL;
    *found = (struct okosu_clock_invariance){
        .declared = okosu_clock_declared(), .monotone = true, .windows = windows};
    for (unsigned i = 0; i < windows; i++) {
        double rate;

        rc = window(i % 2, &rate, &found->monotone);
        if (rc)
            return rc;
        least = i && least < rate ? least : rate;
        most = i && most > rate ? most : rate;
        sum += rate;
    }
    if (sum <= 0)
        return -ENOTSUP;
    sum /= windows;
    found->deviation = most - sum > sum - least ? most / sum - 1 : 1 - least / sum;
    return found->declared && found->monotone && found->deviation <= OKOSU_CLOCK_AGREE ? 0
                                                                                       : -ENOTSUP;
}

static bool agrees(double stated, double measured)
{
    double part = stated / measured - 1;

    return part <= OKOSU_CLOCK_AGREE && part >= -OKOSU_CLOCK_AGREE;
}

int okosu_clock_read(struct okosu_clock *clock)
{
    struct okosu_clock_invariance invariance;
    struct okosu_clock_sources sources;
    int rc = okosu_clock_read_sources(&sources, 0.01);

    if (rc)
        return rc;
    /* -ENOTSUP is a result here, not a failure. */
    rc = okosu_clock_check(&invariance, 4);
    if (rc && rc != -ENOTSUP)
        return rc;
    *clock = (struct okosu_clock){
        .tick_hz = sources.calibrated_hz,
        .overhead_ticks = okosu_clock_empty(),
        .granularity_ticks = granularity(),
        .invariant = rc == 0,
        .source = "calibrated",
    };
    /* In a guest whose counter is scaled, the hypervisor states the frequency that the guest reads,
     * while leaf 15h may state the host's. */
    if (agrees(sources.hypervisor_hz, sources.calibrated_hz)) {
        clock->tick_hz = sources.hypervisor_hz;
        clock->source = "hypervisor";
    } else if (agrees(sources.cpuid_hz, sources.calibrated_hz)) {
        clock->tick_hz = sources.cpuid_hz;
#if defined(__x86_64__)
        clock->source = "cpuid";
#else
        clock->source = "cntfrq";
#endif
    }
    return clock->granularity_ticks ? 0 : -ENOTSUP;
}
