/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: what a pool and a daemon ask of the kernel alike. Inline, so that a library's own mmap and
 * madvise serve it. */
#pragma once

#include <errno.h>
#include <linux/mempolicy.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* Anonymous address space at a multiple of `align`, a power of two; NULL: errno says why. */
static inline void *okosu_pages_map(size_t bytes, size_t align, int protection, int flags)
{
    unsigned char *at, *start;
    size_t whole;

    if (__builtin_add_overflow(bytes, align, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    at = (unsigned char *)mmap(NULL, whole, protection, flags, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    start = at + (-(uintptr_t)at & (align - 1));
    if (start > at)
        munmap(at, (size_t)(start - at));
    munmap(start + bytes, align - (size_t)(start - at));
    return start;
}

/* Pages that are there from now on come from this node, counted from 1, where it has some: a full
 * node is no reason to fail. 0, or -1 and errno. */
static inline int okosu_pages_prefer_node(void *at, size_t bytes, int node)
{
    enum { NODES = 1024, WORD = 8 * sizeof(unsigned long) };
    unsigned long mask[NODES / WORD] = {0};

    if (node > NODES) {
        errno = ENODEV;
        return -1;
    }
    mask[(size_t)(node - 1) / WORD] = 1ul << ((size_t)(node - 1) % WORD);
    if (syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, NODES + 1, 0) == 0)
        return 0;
    if (errno == EINVAL)
        errno = ENODEV;
    if (errno == ENOSYS)
        errno = ENOTSUP;
    return -1;
}

/* Brings the pages into memory; those that were not there are zeroed. 0 or -errno. */
static inline int okosu_pages_populate(void *at, size_t bytes)
{
    while (madvise(at, bytes, MADV_POPULATE_WRITE)) {
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
    return 0;
}
