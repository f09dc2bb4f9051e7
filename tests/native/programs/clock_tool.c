/* SPDX-License-Identifier: Apache-2.0 */
/* clock_tool: what okosu/clock.h says, as one JSON line, beside what can be measured without it.
 *
 *   clock_tool about | chains | empty | monotone | against-kernel
 *   clock_tool leaf15 EAX EBX ECX EDX EAX16 | hypervisor HIGHEST NAME KHZ | bad-arguments */
#include "bench/multiply_chain.h"
#include "clock/frequency.h"

#include <okosu/clock.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int about(void)
{
    struct okosu_clock clock;
    struct okosu_clock_sources sources;
    struct okosu_clock_invariance found = {0};
    int rc = okosu_clock_read(&clock), rc2 = okosu_clock_read_sources(&sources, 0.05),
        rc3 = okosu_clock_check(&found, 20);

    if (rc || rc2)
        return 1;
    printf("{\"hz\": %.1f, \"overhead\": %llu, \"granularity\": %llu, \"invariant\": %d, "
           "\"source\": \"%s\", \"hypervisor\": %.1f, \"cpuid\": %.1f, \"calibrated\": %.1f, "
           "\"check\": %d, \"declared\": %d, \"monotone\": %d, \"windows\": %u, "
           "\"deviation\": %.9f}\n",
           clock.tick_hz, (unsigned long long)clock.overhead_ticks,
           (unsigned long long)clock.granularity_ticks, clock.invariant, clock.source,
           sources.hypervisor_hz, sources.cpuid_hz, sources.calibrated_hz, rc3, found.declared,
           found.monotone, found.windows, found.deviation);
    return 0;
}

/* Chains of additions and of multiplications in turn, and the rate that the first claims, between two
 * chains: the core's frequency varies. */
static int chains(int count)
{
    printf("{\"chain\": %d, \"pairs\": [", OKOSU_CLOCK_CHAIN);
    okosu_clock_chain();
    bench_multiply_chain();
    for (int i = 0; i < count; i++) {
        uint64_t add = okosu_clock_chain(), multiply = bench_multiply_chain();

        printf("%s[%llu, %llu]", i ? ", " : "", (unsigned long long)add,
               (unsigned long long)multiply);
    }
    printf("], \"rates\": [");
    for (int i = 0; i < 51; i++) {
        uint64_t before = okosu_clock_chain();
        double rate = okosu_clock_cycles_per_tick();
        uint64_t after = okosu_clock_chain();

        printf("%s[%llu, %.6f, %llu]", i ? ", " : "", (unsigned long long)before, rate,
               (unsigned long long)after);
    }
    printf("]}\n");
    return 0;
}

/* Regions with nothing in them, and with 1000 dependent additions (a million ps at 1 GHz). */
static int empty(void)
{
    struct okosu_clock clock;

    if (okosu_clock_read(&clock))
        return 1;
    printf("{\"granularity\": %llu, \"empty\": [", (unsigned long long)clock.granularity_ticks);
    for (int i = 0; i < 1001; i++) {
        uint64_t start = okosu_clock_start(), stop = okosu_clock_stop();

        printf("%s%llu", i ? ", " : "",
               (unsigned long long)okosu_clock_elapsed(&clock, start, stop));
    }
    printf("], \"backwards\": %llu}\n", (unsigned long long)okosu_clock_elapsed(&clock, 100, 100));
    return 0;
}

/* Reads on every CPU in turn: how often the counter was below the read before. */
static int monotone(void)
{
    static cpu_set_t all, one;
    uint64_t last = 0;
    size_t moves = 0, reads = 0, backwards = 0;

    if (sched_getaffinity(0, sizeof(all), &all))
        return 1;
    for (int round = 0; round < 200; round++) {
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
            if (!CPU_ISSET(cpu, &all))
                continue;
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            if (sched_setaffinity(0, sizeof(one), &one))
                return 1;
            moves++;
            for (int i = 0; i < 50; i++, reads++) {
                uint64_t now = i % 2 ? okosu_clock_stop() : okosu_clock_start();

                backwards += now < last;
                last = now;
            }
        }
    }
    printf("{\"moves\": %zu, \"reads\": %zu, \"backwards\": %zu}\n", moves, reads, backwards);
    return 0;
}

/* 100 ms by CLOCK_MONOTONIC, which NTP may slew by 5e-4, and by the counter. */
static int against_kernel(void)
{
    struct timespec from, to;
    struct okosu_clock clock;
    uint64_t start, stop;

    if (okosu_clock_read(&clock))
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &from);
    start = okosu_clock_start();
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    stop = okosu_clock_stop();
    printf("{\"kernel\": %.9f, \"ours\": %.9f}\n",
           (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec),
           (double)okosu_clock_elapsed(&clock, start, stop) / clock.tick_hz);
    return 0;
}

static uint32_t number(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 0);
}

static int bad_arguments(void)
{
    struct okosu_clock_sources sources;
    struct okosu_clock_invariance found;

    printf("{\"short\": %d, \"long\": %d, \"nan\": %d, \"one\": %d, \"many\": %d}\n",
           okosu_clock_read_sources(&sources, 0.0009), okosu_clock_read_sources(&sources, 10.1),
           okosu_clock_read_sources(&sources, __builtin_nan("")), okosu_clock_check(&found, 1),
           okosu_clock_check(&found, 1001));
    return 0;
}

int main(int argc, char **argv)
{
    const char *command = argc > 1 ? argv[1] : "";

    if (strcmp(command, "about") == 0)
        return about();
    if (strcmp(command, "chains") == 0)
        return chains(301);
    if (strcmp(command, "empty") == 0)
        return empty();
    if (strcmp(command, "monotone") == 0)
        return monotone();
    if (strcmp(command, "against-kernel") == 0)
        return against_kernel();
    if (strcmp(command, "bad-arguments") == 0)
        return bad_arguments();
    if (strcmp(command, "leaf15") == 0 && argc == 7) {
        uint32_t leaf15[4] = {number(argv[2]), number(argv[3]), number(argv[4]), number(argv[5])},
                 leaf16[4] = {number(argv[6])};

        printf("{\"hz\": %.1f}\n", okosu_clock_leaf15(leaf15, leaf16));
        return 0;
    }
    if (strcmp(command, "hypervisor") == 0 && argc == 5) {
        uint32_t first[4] = {number(argv[2])}, timing[4] = {number(argv[4])};

        memcpy(&first[1], argv[3], strlen(argv[3]) < 12 ? strlen(argv[3]) : 12);
        printf("{\"hz\": %.1f}\n", okosu_clock_hypervisor_leaf(first, timing));
        return 0;
    }
    return 95;
}
