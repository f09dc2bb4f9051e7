/* SPDX-License-Identifier: Apache-2.0 */
/* memory: all system calls on the daemon's pages. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#define NODE_LIMIT 1024
#define WORD_BITS (8 * sizeof(unsigned long))

int zerod_memory_file(size_t bytes, bool hugetlb)
{
    int fd =
        memfd_create("okosu-zerod", MFD_CLOEXEC | MFD_ALLOW_SEALING | (hugetlb ? MFD_HUGETLB : 0));
    int error;

    if (fd < 0)
        return -errno;
    /* Sealed, because a client that could shorten the file would make the others end by SIGBUS. */
    if (ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        return fd;
    error = errno;
    close(fd);
    return -error;
}

/* The node is preferred, not required: a full node must not leave the daemon without pages. */
static int prefer_node(void *at, size_t bytes, int node)
{
    unsigned long mask[NODE_LIMIT / WORD_BITS] = {0};

    mask[(size_t)(node - 1) / WORD_BITS] = 1ul << ((size_t)(node - 1) % WORD_BITS);
    if (syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, NODE_LIMIT + 1, 0) == 0)
        return 0;
    if (errno == EINVAL)
        errno = ENODEV;
    return -1;
}

void *zerod_memory_map(int fd, size_t bytes, size_t align, int node)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *at, *start;

    /* First reserve more than is needed, so that the file can be mapped at a multiple of `align`
     * and have huge pages. */
    at = mmap(NULL, bytes + align, PROT_NONE, flags, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    start = at + (-(uintptr_t)at & (align - 1));
    if (start > at)
        munmap(at, (size_t)(start - at));
    munmap(start + bytes, align - (size_t)(start - at));
    if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) ==
            MAP_FAILED ||
        (node && prefer_node(start, bytes, node))) {
        int error = errno;

        munmap(start, bytes);
        errno = error;
        return NULL;
    }
    madvise(start, bytes, MADV_HUGEPAGE);
    madvise(start, bytes, MADV_DONTDUMP);
    return start;
}

void zerod_memory_unmap(void *at, size_t bytes)
{
    munmap(at, bytes);
}

int zerod_memory_populate(void *at, size_t bytes)
{
    while (madvise(at, bytes, MADV_POPULATE_WRITE)) {
        if (errno != EINTR && errno != EAGAIN)
            return -errno;
    }
    return 0;
}

int zerod_memory_drop(int fd, size_t offset, size_t bytes)
{
    int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

    return fallocate(fd, mode, (off_t)offset, (off_t)bytes) ? -errno : 0;
}
