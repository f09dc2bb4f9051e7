/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters by perf_event_open; see counters.h. */
#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE_MISSES(cache)                                                                        \
    ((cache) | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

const char *const okosu_counter_names[OKOSU_COUNTERS] = {"cycles", "instructions", "dtlb_misses",
                                                         "itlb_misses"};

static const struct {
    uint32_t type;
    uint64_t config;
} events[OKOSU_COUNTERS] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {PERF_TYPE_HW_CACHE, CACHE_MISSES(PERF_COUNT_HW_CACHE_DTLB)},
    {PERF_TYPE_HW_CACHE, CACHE_MISSES(PERF_COUNT_HW_CACHE_ITLB)},
};

void okosu_counters_open(struct okosu_counters *counters, pid_t pid)
{
    for (int i = 0; i < OKOSU_COUNTERS; i++) {
        /* Without the kernel's part it is allowed up to kernel.perf_event_paranoid = 2. */
        struct perf_event_attr attr = {
            .type = events[i].type,
            .size = sizeof(attr),
            .config = events[i].config,
            .disabled = 1,
            .inherit = 1,
            .enable_on_exec = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        };

        counters->fds[i] =
            (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counters->fds[i] < 0 && !counters->error)
            counters->error = errno;
    }
}

void okosu_counters_close(struct okosu_counters *counters)
{
    struct {
        uint64_t value, enabled, running;
    } got;

    for (int i = 0; i < OKOSU_COUNTERS; i++) {
        if (counters->fds[i] < 0)
            continue;
        if (read(counters->fds[i], &got, sizeof(got)) == sizeof(got) && got.running > 0) {
            double scale = (double)got.enabled / (double)got.running;

            counters->values[i] =
                got.running == got.enabled ? got.value : (uint64_t)((double)got.value * scale);
            counters->counted[i] = true;
        }
        close(counters->fds[i]);
    }
}
