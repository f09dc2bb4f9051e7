/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the processor's own counter, read so that no timed instruction executes outside the two
 * reads; and core cycles, for machines without a counter of them. */
#ifndef OKOSU_CLOCK_H
#define OKOSU_CLOCK_H

#include <okosu/api.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tick is one step of the counter as it is read: TSC on x86-64 (with RDTSCP, which
 * okosu_clock_read() checks for), CNTVCT_EL0 on AArch64. Ticks are time, not core cycles: the
 * counter runs at one rate whatever the core's frequency is (okosu_clock_check() checks that).
 *
 * okosu_clock_start(): every earlier instruction has been executed, and no later one has begun.
 * LFENCE waits for all earlier instructions, on Intel always and on AMD as Linux sets it up (Intel
 * SDM volume 2, LFENCE and RDTSC; AMD APM volume 3, LFENCE). On AArch64 ISB does so (Arm ARM,
 * D12.2). */
static inline uint64_t okosu_clock_start(void)
{
#if defined(__x86_64__)
    uint64_t low, high;

    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return high << 32 | low;
#elif defined(__aarch64__)
    uint64_t now;

    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(now) : : "memory");
    return now;
#else
#error "okosu/clock.h: no cycle counter is known for this processor"
#endif
}

/* Every earlier instruction has been executed (RDTSCP waits for it), and no later one has begun. */
static inline uint64_t okosu_clock_stop(void)
{
#if defined(__x86_64__)
    uint64_t low, high;

    __asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "rcx", "memory");
    return high << 32 | low;
#else
    return okosu_clock_start();
#endif
}

struct okosu_clock {
    double tick_hz;             /* ticks in a second */
    uint64_t overhead_ticks;    /* of an empty region between start and stop: the median of many */
    uint64_t granularity_ticks; /* the counter of one CPU advances by multiples of this */
    bool invariant;             /* what okosu_clock_check() found */
    /* The source of tick_hz: "hypervisor" (CPUID leaf 4000_0010h), "cpuid" (leaves 15h and 16h),
     * "cntfrq" (AArch64), "calibrated" (against CLOCK_MONOTONIC_RAW). */
    const char *source;
};

/* Measure the clock on the CPU the caller runs on; takes about 30 ms. A frequency that the
 * processor or the hypervisor states is used if the calibration agrees with it to
 * OKOSU_CLOCK_AGREE, else the calibration. 0; -ENOTSUP: no RDTSCP, or a counter that stands still;
 * -errno of clock_gettime. */
OKOSU_API int okosu_clock_read(struct okosu_clock *clock);

/* How far (as a fraction) a stated frequency may be from the measured one. Leaf 16h is in whole
 * MHz, which is 5e-4 of 1 GHz. */
#define OKOSU_CLOCK_AGREE 1e-3

/* Ticks between the two reads, less the cost of the reads themselves; never negative. */
static inline uint64_t okosu_clock_elapsed(const struct okosu_clock *clock, uint64_t start,
                                           uint64_t stop)
{
    uint64_t ticks = stop - start;

    return ticks > clock->overhead_ticks ? ticks - clock->overhead_ticks : 0;
}

struct okosu_clock_sources {
    double hypervisor_hz; /* 0: not stated */
    double cpuid_hz;      /* 0: not stated; on AArch64 CNTFRQ_EL0 */
    double calibrated_hz; /* busy for `seconds` */
};

/* The frequency according to each source. seconds: 0.001 to 10; the error of the calibration is
 * about 50 ns / seconds. 0, -EINVAL or as okosu_clock_read(). */
OKOSU_API int okosu_clock_read_sources(struct okosu_clock_sources *sources, double seconds);

struct okosu_clock_invariance {
    bool declared; /* CPUID 8000_0007h EDX bit 8; always on AArch64, whose architecture says so */
    bool monotone; /* no read was below the one before it on the same thread */
    unsigned windows; /* measured windows, alternately busy and asleep */
    double deviation; /* largest deviation of a window's rate from the mean, as a fraction */
};

/* Check that the counter runs at one constant rate: compare it with CLOCK_MONOTONIC_RAW over
 * `windows` windows (2 to 1000) of 5 ms. The thread sleeps in every other window, which exposes a
 * counter that stops or changes with the core's state. 0: declared, monotone and within
 * OKOSU_CLOCK_AGREE; -ENOTSUP: it is not, and *found shows in which respect; -EINVAL. */
OKOSU_API int okosu_clock_check(struct okosu_clock_invariance *found, unsigned windows);

/* Length of the chain below: 4 us at 4 GHz. */
#define OKOSU_CLOCK_CHAIN 16384

/* Ticks, without overhead, that a chain of OKOSU_CLOCK_CHAIN additions takes, each waiting for the
 * one before: one core cycle each on every processor this runs on. A busy sibling of this
 * hyperthread lengthens it (by up to 7 % where seen, on Zen 5), a chain of multiplications
 * hardly. */
OKOSU_API uint64_t okosu_clock_chain(void);
/* Core cycles per tick at this moment, on this CPU: the median of five chains. Where the counter is
 * coarse (AArch64: often 24 to 100 MHz), so many chains are timed together that they last 1000 of
 * its steps. */
OKOSU_API double okosu_clock_cycles_per_tick(void);

#ifdef __cplusplus
}
#endif

#endif
