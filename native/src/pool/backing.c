/* SPDX-License-Identifier: Apache-2.0 */
/* backing: what the kernel does for a pool. With huge pages of the kernel's pool, memory is
 * populated before it is handed out, because a page that cannot be had would kill the program by
 * SIGBUS at its first store. */
#include "pool/backing.h"

#include "base/pages.h"

#include <stdio.h>

static int flags_of(bool hugetlb)
{
    return MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (hugetlb ? MAP_HUGETLB : 0);
}

static int prepare(void *at, size_t bytes, bool hugetlb, int node)
{
    if (!hugetlb)
        madvise(at, bytes, MADV_HUGEPAGE);
    return node ? okosu_pages_prefer_node(at, bytes, node) : 0;
}

int okosu_backing_renew(void *at, size_t bytes, bool hugetlb, int node)
{
    int flags = flags_of(hugetlb) | MAP_FIXED;

    if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
        return -errno;
    return prepare(at, bytes, hugetlb, node) ? -errno : 0;
}

void *okosu_backing_map(size_t bytes, size_t align, bool hugetlb, int node)
{
    void *start = okosu_pages_map(bytes, align, PROT_READ | PROT_WRITE, flags_of(hugetlb));

    if (!start)
        return NULL;
    if (prepare(start, bytes, hugetlb, node)) {
        int saved = errno;

        munmap(start, bytes);
        errno = saved;
        return NULL;
    }
    return start;
}

void okosu_backing_unmap(void *at, size_t bytes)
{
    munmap(at, bytes);
}

void okosu_backing_touch(void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4096)
        ((volatile char *)at)[i] = 0;
}

/* An older kernel does not know this advice, and reports that even for an empty range. */
bool okosu_backing_can_populate(void)
{
    return madvise((void *)0, 0, MADV_POPULATE_WRITE) == 0;
}

int okosu_backing_drop(void *at, size_t bytes)
{
    return madvise(at, bytes, MADV_DONTNEED) ? -errno : 0;
}

size_t okosu_backing_hugetlb_page(size_t *free_pages)
{
    FILE *file = fopen("/proc/meminfo", "re");
    size_t kb = 0, free_ = 0;
    char line[128];

    while (file && fgets(line, sizeof(line), file)) {
        sscanf(line, "HugePages_Free: %zu", &free_);
        sscanf(line, "Hugepagesize: %zu", &kb);
    }
    if (file)
        fclose(file);
    *free_pages = free_;
    return kb << 10;
}

volatile bool *okosu_backing_mine(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile bool *mine =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mine == MAP_FAILED)
        return NULL;
    if (madvise((void *)mine, page, MADV_WIPEONFORK)) {
        munmap((void *)mine, page);
        return NULL;
    }
    *mine = true;
    return mine;
}

void okosu_backing_drop_mine(volatile bool *mine)
{
    if (mine)
        munmap((void *)mine, (size_t)sysconf(_SC_PAGESIZE));
}
