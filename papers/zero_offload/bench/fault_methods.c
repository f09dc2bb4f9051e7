/* SPDX-License-Identifier: Apache-2.0 */
/* fault_methods: what each way to get memory does, and how it is seen that it did. */
#include "fault_methods.h"

#include "harness.h"

#include <okosu/clock.h>
#include <okosu/zero.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Linux 5.14; older C libraries do not name it. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif
#ifndef MFD_HUGE_2MB
#define MFD_HUGE_2MB (21u << 26)
#endif

const struct fault_method fault_methods[] = {
    {"fault-4k", "touch", "a byte written to each page", FAULT_SMALL, FAULT_TOUCH},
    {"fault-4k", "populate", "mmap with MAP_POPULATE", FAULT_SMALL, FAULT_POPULATE},
    {"fault-4k", "populate-write", "MADV_POPULATE_WRITE", FAULT_SMALL, FAULT_POPULATE_WRITE},
    {"fault-4k", "exists", "page of a memfd, mapped anew and touched", FAULT_SMALL, FAULT_EXISTS},
    {"fault-4k", "exists-map", "the same with its mmap and munmap", FAULT_SMALL, FAULT_EXISTS_MAP},
    {"fault-4k", "mapped", "page that is mapped, touched", FAULT_SMALL, FAULT_MAPPED},
    {"fault-2m", "thp-touch", "a byte written to each page after MADV_HUGEPAGE", FAULT_THP,
     FAULT_TOUCH},
    {"fault-2m", "thp-populate", "mmap with MAP_POPULATE, transparent huge pages", FAULT_THP,
     FAULT_POPULATE},
    {"fault-2m", "thp-populate-write", "MADV_HUGEPAGE and MADV_POPULATE_WRITE", FAULT_THP,
     FAULT_POPULATE_WRITE},
    {"fault-2m", "thp-mapped", "huge page that is mapped, touched", FAULT_THP, FAULT_MAPPED},
    {"fault-2m", "hugetlb-touch", "a byte written to each page of the pool", FAULT_HUGETLB,
     FAULT_TOUCH},
    {"fault-2m", "hugetlb-populate", "mmap with MAP_HUGETLB and MAP_POPULATE", FAULT_HUGETLB,
     FAULT_POPULATE},
    {"fault-2m", "hugetlb-populate-write", "MAP_HUGETLB and MADV_POPULATE_WRITE", FAULT_HUGETLB,
     FAULT_POPULATE_WRITE},
    {"fault-2m", "hugetlb-exists", "page of a hugetlb memfd, mapped anew and touched",
     FAULT_HUGETLB, FAULT_EXISTS},
    {"fault-2m", "hugetlb-exists-map", "the same with its mmap and munmap", FAULT_HUGETLB,
     FAULT_EXISTS_MAP},
    {"fault-2m", "hugetlb-exists-clear", "mapped anew, touched, and cleared by okosu_zero_page",
     FAULT_HUGETLB, FAULT_EXISTS_CLEAR},
    {"fault-2m", "thp-touch-read", "the same as thp-touch, and then all of it read", FAULT_THP,
     FAULT_TOUCH_READ},
    {"fault-2m", "pool-take", "a clean block of the pool, a byte written to it", FAULT_THP,
     FAULT_TAKE},
    {"fault-2m", "pool-take-read", "the same, and all of it read from memory", FAULT_THP,
     FAULT_TAKE_READ},
    {"fault-2m", "pool-take-read-again", "the same block each time: read from the caches",
     FAULT_THP, FAULT_TAKE_READ_AGAIN},
    {NULL, NULL, NULL, FAULT_SMALL, FAULT_TOUCH},
};

size_t fault_page_bytes(const struct fault_method *method)
{
    return method->kind == FAULT_SMALL ? (size_t)sysconf(_SC_PAGESIZE) : FAULT_HUGE;
}

static bool from_memfd(const struct fault_method *method)
{
    return method->how == FAULT_EXISTS || method->how == FAULT_EXISTS_MAP ||
           method->how == FAULT_EXISTS_CLEAR;
}

static bool from_pool(const struct fault_method *method)
{
    return method->how == FAULT_TAKE || method->how == FAULT_TAKE_READ ||
           method->how == FAULT_TAKE_READ_AGAIN;
}

/* Some kernels count the faults that they take on behalf of populate, others don't; either way
 * populate worked if no fault comes after it. */
static bool faults_right(const struct fault_region *region, long faults)
{
    long pages = (long)(region->bytes / fault_page_bytes(region->method));

    switch (region->method->how) {
    case FAULT_POPULATE:
    case FAULT_POPULATE_WRITE:
        return faults == 0 || faults == pages;
    case FAULT_MAPPED:
    case FAULT_TAKE:
    case FAULT_TAKE_READ:
    case FAULT_TAKE_READ_AGAIN:
        return faults == 0;
    default:
        return faults == pages;
    }
}

static void touch(char *base, size_t bytes, size_t page)
{
    for (size_t i = 0; i < bytes; i += page)
        ((volatile char *)base)[i] = 1;
}

static void read_all(const char *base, size_t bytes)
{
    const volatile uint64_t *word = (const volatile uint64_t *)base;

    for (size_t i = 0; i < bytes / sizeof(*word); i++)
        (void)word[i];
}

static int advise(const struct fault_region *region)
{
    int advice = region->method->kind == FAULT_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;

    if (region->method->kind == FAULT_HUGETLB || region->memfd >= 0)
        return 0;
    /* EINVAL from MADV_NOHUGEPAGE: a kernel without huge pages. */
    if (madvise(region->base, region->bytes, advice) && advice == MADV_HUGEPAGE)
        return -errno;
    return 0;
}

static int map_now(struct fault_region *region, int flags)
{
    flags |= MAP_FIXED;
    if (region->memfd >= 0)
        flags |= MAP_SHARED;
    else
        flags |= MAP_PRIVATE | MAP_ANONYMOUS |
                 (region->method->kind == FAULT_HUGETLB ? MAP_HUGETLB | MAP_HUGE_2MB : 0);
    if (mmap(region->base, region->bytes, PROT_READ | PROT_WRITE, flags, region->memfd, 0) ==
        MAP_FAILED)
        return -errno;
    region->mapped = true;
    return 0;
}

/* Keeps the addresses reserved. */
static void unmap_now(struct fault_region *region)
{
    if (region->mapped)
        mmap(region->base, region->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    region->mapped = false;
}

/* Fills the pool: every unit is clean before the clock runs, and in no cache. */
static int pool_fill(struct fault_region *region)
{
    struct okosu_zero_pool_options options = {.cap = region->bytes,
                                              .low = region->bytes,
                                              .high = region->bytes,
                                              .backing = OKOSU_POOL_THP,
                                              .no_worker = true};
    int error = okosu_zero_pool_open(&region->pool, &options);

    if (error)
        return error;
    if (okosu_zero_pool_work(region->pool, region->bytes) != region->bytes)
        return -ENOMEM;
    region->base = okosu_zero_pool_take(region->pool, region->bytes);
    bench_make_cold(region->base, region->bytes);
    return okosu_zero_pool_give(region->pool, region->base, 0);
}

static void pool_drop(struct fault_region *region)
{
    okosu_zero_pool_close(region->pool);
    region->pool = NULL;
}

/* Takes a block for each huge page, or again and again the first one, which is in the caches
 * then. */
static int pool_take(struct fault_region *region)
{
    enum fault_how how = region->method->how;

    for (size_t i = 0; i < region->bytes; i += FAULT_HUGE) {
        char *block = okosu_zero_pool_take(region->pool, FAULT_HUGE);

        if (!block)
            return -ENOMEM;
        *(volatile char *)block = 1;
        if (how != FAULT_TAKE)
            read_all(block, FAULT_HUGE);
        if (how == FAULT_TAKE_READ_AGAIN)
            okosu_zero_pool_give(region->pool, block, 0);
    }
    return 0;
}

void fault_unmap(struct fault_region *region)
{
    pool_drop(region);
    unmap_now(region);
    if (region->memfd >= 0)
        close(region->memfd);
    region->memfd = -1;
}

static int fill_memfd(struct fault_region *region)
{
    bool huge = region->method->kind == FAULT_HUGETLB;

    region->memfd =
        memfd_create("okosu-bench-fault", MFD_CLOEXEC | (huge ? MFD_HUGETLB | MFD_HUGE_2MB : 0));
    if (region->memfd < 0)
        return -errno;
    if (ftruncate(region->memfd, (off_t)region->bytes))
        return -errno;
    /* A hugetlb file reserves its pages when it is mapped, and says then if there are too few. */
    int error = map_now(region, 0);
    if (error)
        return error;
    touch(region->base, region->bytes, fault_page_bytes(region->method));
    unmap_now(region);
    return 0;
}

int fault_open(struct fault_region *region, const struct fault_method *method, size_t bytes)
{
    *region = (struct fault_region){.method = method, .bytes = bytes, .memfd = -1};
    region->reserved = mmap(NULL, bytes + 2 * FAULT_HUGE, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region->reserved == MAP_FAILED) {
        region->reserved = NULL;
        return -errno;
    }
    /* Some addresses stay free on both sides. */
    region->base = (char *)(((uintptr_t)region->reserved + FAULT_HUGE) & ~(FAULT_HUGE - 1));
    return 0;
}

void fault_close(struct fault_region *region)
{
    fault_unmap(region);
    if (region->reserved)
        munmap(region->reserved, region->bytes + 2 * FAULT_HUGE);
    *region = (struct fault_region){.memfd = -1};
}

int fault_warm(const struct fault_region *region)
{
    static const struct fault_method kinds[] = {{"", "", "", FAULT_SMALL, FAULT_TOUCH},
                                                {"", "", "", FAULT_THP, FAULT_TOUCH}};
    struct fault_region warm;
    size_t bytes = (region->bytes + region->bytes / 4 + FAULT_HUGE - 1) & ~(FAULT_HUGE - 1);

    /* The kernel keeps the pages of its hugetlb pool and of a memfd, and the host their backing. */
    if (region->method->kind == FAULT_HUGETLB || from_memfd(region->method))
        return 0;
    int error = fault_open(&warm, &kinds[region->method->kind == FAULT_THP], bytes);
    if (!error)
        error = fault_map(&warm);
    if (!error) {
        touch(warm.base, warm.bytes, (size_t)sysconf(_SC_PAGESIZE));
        /* The pages' next owner finds them in memory, not in a cache. */
        bench_make_cold(warm.base, warm.bytes);
    }
    fault_close(&warm);
    return error;
}

int fault_map(struct fault_region *region)
{
    enum fault_how how = region->method->how;

    if (from_pool(region->method))
        return pool_fill(region);
    int error = from_memfd(region->method) ? fill_memfd(region) : 0;
    if (error || how == FAULT_POPULATE || how == FAULT_EXISTS_MAP)
        return error;
    error = map_now(region, 0);
    if (!error)
        error = advise(region);
    if (!error && how == FAULT_MAPPED)
        touch(region->base, region->bytes, (size_t)sysconf(_SC_PAGESIZE));
    return error;
}

static int work(struct fault_region *region)
{
    size_t page = fault_page_bytes(region->method);
    int error = 0;

    if (region->pool)
        return pool_take(region);
    switch (region->method->how) {
    case FAULT_POPULATE:
        return map_now(region, MAP_POPULATE);
    case FAULT_POPULATE_WRITE:
        return madvise(region->base, region->bytes, MADV_POPULATE_WRITE) ? -errno : 0;
    case FAULT_EXISTS_MAP:
        error = map_now(region, 0);
        if (!error)
            touch(region->base, region->bytes, page);
        unmap_now(region);
        return error;
    case FAULT_EXISTS_CLEAR:
        for (size_t i = 0; i < region->bytes; i += page) {
            touch(region->base + i, page, page);
            okosu_zero_page(region->base + i, page);
        }
        return 0;
    case FAULT_TOUCH_READ:
        touch(region->base, region->bytes, page);
        read_all(region->base, region->bytes);
        return 0;
    default:
        touch(region->base, region->bytes, page);
        return 0;
    }
}

static long faults_now(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* Kilobytes in huge pages of the mapping that begins at base: private ones, shared ones,
 * hugetlb's. */
static size_t huge_kb(const char *base)
{
    static const char *const keys[] = {
        "AnonHugePages:", "ShmemPmdMapped:", "Private_Hugetlb:", "Shared_Hugetlb:"};
    FILE *smaps = fopen("/proc/self/smaps", "re");
    char line[512];
    size_t sum = 0, kb;
    bool inside = false;

    if (!smaps)
        return 0;
    while (fgets(line, sizeof(line), smaps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            inside = from == (unsigned long)(uintptr_t)base;
        for (size_t i = 0; inside && i < sizeof(keys) / sizeof(keys[0]); i++)
            if (strncmp(line, keys[i], strlen(keys[i])) == 0 &&
                sscanf(line + strlen(keys[i]), "%zu", &kb) == 1)
                sum += kb;
    }
    fclose(smaps);
    return sum;
}

int fault_run(struct fault_region *region, struct fault_seen *seen)
{
    /* MAP_POPULATE comes before madvise can. */
    bool small = region->method->kind == FAULT_SMALL && region->method->how == FAULT_POPULATE;

    if (small)
        prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    long before = faults_now();
    uint64_t begun = okosu_clock_start();
    int error = work(region);
    seen->ticks = okosu_clock_stop() - begun;
    seen->faults = faults_now() - before;
    if (small)
        prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    seen->after = 0;
    seen->huge_kb = 0;
    if (!error && (region->mapped || region->pool)) {
        before = faults_now();
        touch(region->base, region->bytes, (size_t)sysconf(_SC_PAGESIZE));
        seen->after = faults_now() - before;
        seen->huge_kb = huge_kb(region->base);
    }
    return error;
}

int fault_run_chunks(struct fault_region *region, uint64_t *ticks)
{
    for (size_t i = 0; i < region->bytes; i += FAULT_HUGE) {
        char *chunk = region->base + i;
        int error = 0;
        uint64_t begun = okosu_clock_start();
        if (region->method->how == FAULT_POPULATE_WRITE)
            error = madvise(chunk, FAULT_HUGE, MADV_POPULATE_WRITE);
        else
            touch(chunk, FAULT_HUGE, fault_page_bytes(region->method));
        ticks[i / FAULT_HUGE] = okosu_clock_stop() - begun;
        if (error)
            return -errno;
    }
    return 0;
}

const char *fault_wrong(const struct fault_region *region, const struct fault_seen *seen)
{
    size_t huge = region->method->kind == FAULT_SMALL ? 0 : region->bytes / 1024;

    if (seen->after)
        return "pages were not there after it";
    if ((region->mapped || region->pool) && seen->huge_kb != huge)
        return huge ? "the kernel gave small pages" : "the kernel gave huge pages";
    if (!faults_right(region, seen->faults))
        return "another number of page faults than there are pages";
    return NULL;
}
