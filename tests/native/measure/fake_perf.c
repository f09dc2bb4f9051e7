/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded into okosu-measure on a machine without hardware counters: answers perf_event_open with
 * a file that reads as a counter of 1000 (cycles), 2000 (instructions), 30 (dTLB) or nothing (iTLB);
 * dTLB as a counter that ran for half of the time only. Checks how the counters were asked for. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static long counter(const struct perf_event_attr *attr)
{
    uint64_t got[3] = {0, 100, 100};
    int fd;

    if (!attr->disabled || !attr->inherit || !attr->enable_on_exec || !attr->exclude_kernel ||
        attr->read_format != (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)) {
        errno = EINVAL;
        return -1;
    }
    if (attr->type == PERF_TYPE_HARDWARE) {
        got[0] = attr->config == PERF_COUNT_HW_CPU_CYCLES ? 1000 : 2000;
    } else if ((attr->config & 0xff) == PERF_COUNT_HW_CACHE_DTLB) {
        got[0] = 30;
        got[2] = 50;
    } else {
        errno = ENOENT;
        return -1;
    }
    fd = memfd_create("counter", MFD_CLOEXEC);
    if (write(fd, got, sizeof(got)) != sizeof(got) || lseek(fd, 0, SEEK_SET) != 0)
        return -1;
    return fd;
}

long syscall(long number, ...)
{
    long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list arguments;
    long a[6];

    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_perf_event_open)
        return counter((const struct perf_event_attr *)a[0]);
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
