/* SPDX-License-Identifier: Apache-2.0 */
/* backing: what the kernel does for a pool. With huge pages of the kernel's pool, memory is
 * populated before it is handed out, because a page that cannot be had would kill the program by
 * SIGBUS at its first store. */
#include "pool/backing.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define NODE_LIMIT 1024
#define WORD_BITS (8 * sizeof(unsigned long))

/* The node is preferred, not required: a full node is no reason to kill the program. */
static int prefer_node(void *at, size_t bytes, int node)
{
    unsigned long mask[NODE_LIMIT / WORD_BITS] = {0};

    if (node > NODE_LIMIT) {
        errno = ENODEV;
        return -1;
    }
    mask[(size_t)(node - 1) / WORD_BITS] = 1ul << ((size_t)(node - 1) % WORD_BITS);
    if (syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, NODE_LIMIT + 1, 0) == 0)
        return 0;
    if (errno == EINVAL)
        errno = ENODEV;
    if (errno == ENOSYS)
        errno = ENOTSUP;
    return -1;
}

static int flags_of(bool hugetlb)
{
    return MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (hugetlb ? MAP_HUGETLB : 0);
}

static int prepare(void *at, size_t bytes, bool hugetlb, int node)
{
    if (!hugetlb)
        madvise(at, bytes, MADV_HUGEPAGE);
    return node ? prefer_node(at, bytes, node) : 0;
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
    size_t whole;
    unsigned char *at, *start;

    if (__builtin_add_overflow(bytes, align, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    at = mmap(NULL, whole, PROT_READ | PROT_WRITE, flags_of(hugetlb), -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    start = at + (-(uintptr_t)at & (align - 1));
    if (start > at)
        munmap(at, (size_t)(start - at));
    munmap(start + bytes, whole - bytes - (size_t)(start - at));
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

int okosu_backing_populate(void *at, size_t bytes)
{
    while (madvise(at, bytes, MADV_POPULATE_WRITE)) {
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
    return 0;
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
