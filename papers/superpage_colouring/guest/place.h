/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of a placement experiment share: memory of a given page size and layout, the
 * frames that it got, and the kernel's counters. */
#ifndef OKOSU_PLACE_H
#define OKOSU_PLACE_H

#include "work.h"

#include <sys/resource.h>

#include "mark.h"

#define PLACE_PAGE ((size_t)4096)
#define PLACE_HUGE ((size_t)2 << 20)

enum place_pages { PLACE_4K, PLACE_THP, PLACE_HUGETLB };

static inline size_t place_round(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static inline void place_map(unsigned char *at, size_t bytes, enum place_pages pages)
{
    int flags =
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | (pages == PLACE_HUGETLB ? MAP_HUGETLB : 0);

    if (!bytes)
        return;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        work_fail("mmap");
    if (pages != PLACE_HUGETLB && madvise(at, bytes, pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        work_fail("madvise");
}

/* Map memory for a set of `bytes`, without touching it. It begins at a multiple of 2 MiB and lies in
 * pages of 2 MiB. With `remainder`, the part behind the last full 2 MiB lies in pages of 4 KiB; of
 * a set below 2 MiB the first half lies at the end of a page of 2 MiB, and the second half in pages
 * of 4 KiB. */
static inline unsigned char *place_memory(size_t bytes, enum place_pages pages, int remainder)
{
    size_t large = place_round(bytes, PLACE_HUGE), offset = 0, small = 0;
    unsigned char *at;

    if (remainder && bytes < PLACE_HUGE) {
        offset = PLACE_HUGE - bytes / 2 / PLACE_PAGE * PLACE_PAGE;
        small = place_round(offset + bytes - PLACE_HUGE, PLACE_PAGE);
    } else if (remainder) {
        large = bytes / PLACE_HUGE * PLACE_HUGE;
        small = place_round(bytes - large, PLACE_PAGE);
    }
    at = mmap(NULL, large + small + PLACE_HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        work_fail("mmap");
    at += -(uintptr_t)at % PLACE_HUGE;
    place_map(at, large, pages);
    place_map(at + large, small, PLACE_4K);
    return at + offset;
}

/* Print the frame of each page of 4 KiB, as a JSON list. */
static inline void place_frames(const unsigned char *at, size_t bytes)
{
    uintptr_t first = (uintptr_t)at / PLACE_PAGE;
    size_t count = ((uintptr_t)at + bytes - 1) / PLACE_PAGE - first + 1;
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        work_fail("pagemap");
    fputs("\"frames\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        uint64_t entry;

        if (pread(fd, &entry, sizeof(entry), (off_t)((first + i) * sizeof(entry))) != sizeof(entry))
            work_fail("pagemap");
        printf("%s%llu", i ? ", " : "", (unsigned long long)(entry & ((UINT64_C(1) << 55) - 1)));
    }
    fputs("], ", stdout);
    close(fd);
}

/* Return how many of these bytes are mapped by pages of 2 MiB. */
static inline size_t place_huge_bytes(const unsigned char *at, size_t bytes)
{
    struct mark_found found[64];
    struct mark_scan scan = {.size = sizeof(scan),
                             .start = (uintptr_t)at / PLACE_PAGE * PLACE_PAGE,
                             .end = place_round((uintptr_t)at + bytes, PLACE_PAGE),
                             .vec = (uintptr_t)found,
                             .vec_len = sizeof(found) / sizeof(*found),
                             .mask = MARK_IS_HUGE,
                             .return_mask = MARK_IS_HUGE};
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), count;
    size_t sum = 0;

    if (fd < 0)
        work_fail("pagemap");
    while ((count = ioctl(fd, MARK_SCAN, &scan)) > 0) {
        for (int i = 0; i < count; i++)
            sum += found[i].end - found[i].start;
        scan.start = scan.walk_end;
    }
    close(fd);
    return sum < bytes ? sum : bytes;
}

/* The kernel's counters of placement; one that this kernel lacks is 0. */
static const char *const place_counters[] = {
    "pgfault",         "thp_fault_alloc", "thp_fault_fallback", "compact_stall",
    "compact_success", "page_color_hit",  "page_color_near",    "page_color_miss",
};
enum { PLACE_COUNTERS = sizeof(place_counters) / sizeof(*place_counters) };

static inline void place_count(long long counts[PLACE_COUNTERS])
{
    char line[128], name[64];
    long long value;
    FILE *file = fopen("/proc/vmstat", "re");

    if (!file)
        work_fail("vmstat");
    memset(counts, 0, PLACE_COUNTERS * sizeof(*counts));
    while (fgets(line, sizeof(line), file))
        for (int i = 0; i < PLACE_COUNTERS; i++)
            if (sscanf(line, "%63s %lld", name, &value) == 2 && !strcmp(name, place_counters[i]))
                counts[i] = value;
    fclose(file);
}

static inline void place_counted(const long long before[PLACE_COUNTERS])
{
    long long after[PLACE_COUNTERS];

    place_count(after);
    fputs("\"vmstat\": {", stdout);
    for (int i = 0; i < PLACE_COUNTERS; i++)
        printf("%s\"%s\": %lld", i ? ", " : "", place_counters[i], after[i] - before[i]);
    fputs("}", stdout);
}

/* Sleep until the kernel's clock has just ticked. Otherwise it would be chance whether a region,
 * which is shorter than a tick, has one in it; and with LRU and a set that almost fills the cache,
 * the few lines that a tick touches make a whole round miss. */
static inline void place_await_tick(void)
{
    const long second = 1000000000, settle = 200000;
    struct timespec now, period;

    if (clock_getres(CLOCK_MONOTONIC_COARSE, &period) || clock_gettime(CLOCK_MONOTONIC, &now))
        work_fail("clock");
    now.tv_nsec = (now.tv_nsec / period.tv_nsec + 1) * period.tv_nsec + settle;
    now.tv_sec += now.tv_nsec / second;
    now.tv_nsec %= second;
    errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &now, NULL);
    if (errno)
        work_fail("sleep");
}

/* Return the page faults of this process so far. */
static inline long place_faults(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage))
        work_fail("getrusage");
    return usage.ru_minflt;
}

#endif
