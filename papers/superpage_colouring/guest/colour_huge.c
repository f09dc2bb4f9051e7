/* SPDX-License-Identifier: Apache-2.0 */
/* colour_huge PERCENT: asks for as many transparent huge pages as would take PERCENT of the free
 * memory, and then for as many of hugetlb's. Prints how many of each there were, and how fragmented
 * free memory was before: {"asked": N, "huge": N, "hugetlb": N, "unusable": X, "free": PAGES}. X,
 * of the largest zone, is the kernel's index: the share, 0 to 1, of its free memory that lies in
 * blocks of less than 2 MiB. Needs root. */
#include "work.h"

#include <stdint.h>
#include <sys/sysinfo.h>

#define HUGE_PAGE (2ul << 20)
#define INDEX "/sys/kernel/debug/extfrag/unusable_index"
#define POOL "/proc/sys/vm/nr_hugepages"

static long put_and_get(const char *path, long number)
{
    FILE *file = fopen(path, "r+e");
    long found = -1;

    if (!file || fprintf(file, "%ld", number) < 0 || fflush(file))
        work_fail(path);
    rewind(file);
    if (fscanf(file, "%ld", &found) != 1)
        work_fail(path);
    fclose(file);
    return found;
}

/* Read the index of order 9 of the last zone with memory: the kernel prints no others. */
static double unusable(void)
{
    FILE *file = fopen(INDEX, "re");
    char line[256], zone[32];
    double found = -2, by_order[11];

    if (!file)
        work_fail(INDEX);
    while (fgets(line, sizeof(line), file)) {
        int at, order = 0, more;

        if (sscanf(line, "Node %*d, zone %31s %n", zone, &at) != 1 || !strcmp(zone, "DMA"))
            continue;
        while (order < 11 && sscanf(line + at, "%lf %n", &by_order[order], &more) == 1) {
            at += more;
            order++;
        }
        if (order == 11)
            found = by_order[9];
    }
    fclose(file);
    return found;
}

static size_t free_bytes(void)
{
    struct sysinfo info;

    if (sysinfo(&info))
        work_fail("sysinfo");
    return info.freeram * info.mem_unit;
}

/* Count the area's huge pages: the frame of one is a multiple of 512, and the frames of its pieces
 * are consecutive, which 512 pages of 4 KiB will not be by chance. */
static long huge_pages(unsigned char *at, long count)
{
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entries[512];
    long found = 0;

    if (fd < 0)
        work_fail("/proc/self/pagemap");
    for (long page = 0; page < count; page++) {
        off_t from = (off_t)(((uintptr_t)at + (size_t)page * HUGE_PAGE) / 4096 * sizeof(*entries));
        int huge = 1;

        if (pread(fd, entries, sizeof(entries), from) != (ssize_t)sizeof(entries))
            work_fail("/proc/self/pagemap");
        uint64_t first = entries[0] & ((UINT64_C(1) << 55) - 1);
        for (uint64_t piece = 0; piece < 512; piece++)
            huge &= (entries[piece] & ((UINT64_C(1) << 55) - 1)) == first + piece;
        found += huge && first % 512 == 0;
    }
    close(fd);
    return found;
}

int main(int argc, char **argv)
{
    long percent;

    work_arguments(argc, argv, "PERCENT", 1, &percent);
    double index = unusable();
    size_t free = free_bytes();
    long count = (long)(free / 100 * (size_t)percent / HUGE_PAGE);
    size_t size = ((size_t)count + 1) * HUGE_PAGE;
    unsigned char *at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        work_fail("mmap");
    if (madvise(at, size, MADV_HUGEPAGE))
        work_fail("madvise");
    unsigned char *first = at + -(uintptr_t)at % HUGE_PAGE;
    for (long page = 0; page < count; page++)
        for (size_t piece = 0; piece < HUGE_PAGE; piece += 4096)
            first[(size_t)page * HUGE_PAGE + piece] = 1;
    long huge = huge_pages(first, count);
    munmap(at, size);
    long pool = put_and_get(POOL, count);
    put_and_get(POOL, 0);
    printf("{\"asked\": %ld, \"huge\": %ld, \"hugetlb\": %ld, \"unusable\": %.3f, \"free\": %zu}\n",
           count, huge, pool, index, free / 4096);
    return fflush(stdout) ? 1 : 0;
}
