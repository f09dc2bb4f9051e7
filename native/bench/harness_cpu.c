/* SPDX-License-Identifier: Apache-2.0 */
/* Harness: the CPU that is measured on, and the others. */
#include "harness_internal.h"

#include "base/message.h"

#include <okosu/cpulist.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static cpu_set_t own[OKOSU_CPU_LIMIT / CPU_SETSIZE], others[OKOSU_CPU_LIMIT / CPU_SETSIZE];

/* The last CPU that is allowed is the one that the kernel's own work and the boot CPU's interrupts
 * use least. */
int bench_pin(struct bench *bench)
{
    cpu_set_t *sets = own;

    if (sched_getaffinity(0, sizeof(own), sets) < 0) {
        int error = errno;

        return okosu_complain(-error, strerror(error), NULL, "no CPU to measure on");
    }
    bench->cpu = bench->options.cpu;
    for (int cpu = 0; bench->options.cpu < 0 && cpu < OKOSU_CPU_LIMIT; cpu++)
        if (CPU_ISSET_S((size_t)cpu, sizeof(own), sets))
            bench->cpu = cpu;
    memcpy(others, own, sizeof(own));
    CPU_CLR_S((size_t)bench->cpu, sizeof(others), others);
    memset(own, 0, sizeof(own));
    CPU_SET_S((size_t)bench->cpu, sizeof(own), own);
    if (sched_setaffinity(0, sizeof(own), sets) < 0) {
        int error = errno;

        return okosu_complain(
            -error, error == EINVAL ? "this process may not use that CPU" : strerror(error),
            "name an allowed CPU: --cpu=N", "not pinned to CPU %d", bench->cpu);
    }
    return 0;
}

bool bench_elsewhere(bool elsewhere)
{
    if (!CPU_COUNT_S(sizeof(others), others))
        return false;
    return sched_setaffinity(0, sizeof(own), elsewhere ? others : own) == 0;
}
