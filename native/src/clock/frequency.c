/* SPDX-License-Identifier: Apache-2.0 */
/* clock: the counter's frequency as the processor or the hypervisor states it, and as the kernel's
 * clock measures it. */
#include "clock/frequency.h"

#include <okosu/clock.h>

#include <errno.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)

#include <cpuid.h>

static void leaf(uint32_t number, uint32_t registers[4])
{
    memset(registers, 0, 4 * sizeof(registers[0]));
    __cpuid_count(number, 0, registers[0], registers[1], registers[2], registers[3]);
}

static bool extended(uint32_t number, uint32_t registers[4])
{
    memset(registers, 0, 4 * sizeof(registers[0]));
    if (__get_cpuid_max(0x80000000, NULL) < number)
        return false;
    leaf(number, registers);
    return true;
}

double okosu_clock_cpuid_hz(void)
{
    uint32_t leaf15[4] = {0}, leaf16[4] = {0};
    unsigned highest = __get_cpuid_max(0, NULL);

    if (highest >= 0x15)
        leaf(0x15, leaf15);
    if (highest >= 0x16)
        leaf(0x16, leaf16);
    return okosu_clock_leaf15(leaf15, leaf16);
}

double okosu_clock_hypervisor_hz(void)
{
    uint32_t leaf1[4], first[4], timing[4] = {0};

    leaf(1, leaf1);
    /* Without bit 31 of ECX there is no hypervisor, and the leaves from 4000_0000h on mean
     * nothing. */
    if (!(leaf1[2] >> 31))
        return 0;
    leaf(0x40000000, first);
    if (first[0] >= 0x40000010)
        leaf(0x40000010, timing);
    return okosu_clock_hypervisor_leaf(first, timing);
}

/* 8000_0007h EDX bit 8, TscInvariant: AMD's APM volume 3, E.4.6; Intel's SDM volume 3, 18.17.1. */
bool okosu_clock_declared(void)
{
    uint32_t power[4];

    return extended(0x80000007, power) && (power[3] >> 8 & 1);
}

/* RDTSCP: 8000_0001h EDX bit 27. */
int okosu_clock_usable(void)
{
    uint32_t features[4];

    return extended(0x80000001, features) && (features[3] >> 27 & 1) ? 0 : -ENOTSUP;
}

#else

double okosu_clock_cpuid_hz(void)
{
    uint64_t hz;

    __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
    return (double)hz;
}

double okosu_clock_hypervisor_hz(void)
{
    return 0;
}

bool okosu_clock_declared(void)
{
    return true;
}

int okosu_clock_usable(void)
{
    return 0;
}

#endif

/* Leaf 15h: TSC = crystal * EBX / EAX, crystal in ECX. Where ECX is 0 (Skylake and its kin) leaf
 * 16h's base frequency, EAX in MHz, is the TSC's to within a MHz (Intel's SDM volume 3, 20.7.3). */
double okosu_clock_leaf15(const uint32_t leaf15[4], const uint32_t leaf16[4])
{
    if (leaf15[0] && leaf15[1] && leaf15[2])
        return (double)leaf15[2] * leaf15[1] / leaf15[0];
    return (leaf16[0] & 0xffff) * 1e6;
}

/* EAX is the TSC's frequency in kHz: VMware's timing leaf, which KVM under QEMU (vmware-cpuid-freq)
 * and others took over. Hyper-V gives the leaf no such meaning, so the name decides. */
double okosu_clock_hypervisor_leaf(const uint32_t leaf40000000[4], const uint32_t leaf40000010[4])
{
    static const char names[][13] = {"KVMKVMKVM\0\0\0", "VMwareVMware", "bhyve bhyve ",
                                     "ACRNACRNACRN", "TCGTCGTCGTCG"};

    if (leaf40000000[0] < 0x40000010)
        return 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (memcmp(&leaf40000000[1], names[i], 12) == 0)
            return leaf40000010[0] * 1e3;
    }
    return 0;
}

static int read_ns(uint64_t *ns)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC_RAW, &now))
        return -errno;
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}

int okosu_clock_pair_read(struct clock_pair *pair)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 16; i++) {
        uint64_t ns = 0, before = okosu_clock_start(), after;
        int rc = read_ns(&ns);

        if (rc)
            return rc;
        after = okosu_clock_stop();
        if (after - before < least) {
            least = after - before;
            *pair = (struct clock_pair){before + (after - before) / 2, ns};
        }
    }
    return 0;
}

double okosu_clock_rate(const struct clock_pair *from, const struct clock_pair *to)
{
    if (to->ns <= from->ns || to->ticks <= from->ticks)
        return 0;
    return (double)(to->ticks - from->ticks) * 1e9 / (double)(to->ns - from->ns);
}

int okosu_clock_wait(uint64_t ns, bool asleep)
{
    uint64_t begin = 0, now = 0;
    int rc = read_ns(&begin);

    if (asleep) {
        struct timespec pause = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};

        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, &pause) == EINTR)
            ;
        return rc;
    }
    do {
        if (!rc)
            rc = read_ns(&now);
    } while (!rc && now - begin < ns);
    return rc;
}

int okosu_clock_read_sources(struct okosu_clock_sources *sources, double seconds)
{
    struct clock_pair from, to;
    int rc = okosu_clock_usable();

    if (rc)
        return rc;
    if (!(seconds >= 0.001 && seconds <= 10))
        return -EINVAL;
    rc = okosu_clock_pair_read(&from);
    if (!rc)
        rc = okosu_clock_wait((uint64_t)(seconds * 1e9), false);
    if (!rc)
        rc = okosu_clock_pair_read(&to);
    if (rc)
        return rc;
    *sources = (struct okosu_clock_sources){
        .hypervisor_hz = okosu_clock_hypervisor_hz(),
        .cpuid_hz = okosu_clock_cpuid_hz(),
        .calibrated_hz = okosu_clock_rate(&from, &to),
    };
    return sources->calibrated_hz > 0 ? 0 : -ENOTSUP;
}
