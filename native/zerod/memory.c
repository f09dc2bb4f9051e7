/* SPDX-License-Identifier: Apache-2.0 */
/* memory: all system calls on the daemon's pages. */
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

int zerod_memory_file(size_t bytes, bool hugetlb)
{
    int made =
        memfd_create("okosu-zerod", MFD_CLOEXEC | MFD_ALLOW_SEALING | (hugetlb ? MFD_HUGETLB : 0));
    int fd, error;

    if (made < 0)
        return -errno;
    /* The first descriptor of a memfd is not among those that a lease counts. */
    fd = zerod_memory_share(made);
    error = fd < 0 ? -fd : 0;
    /* Sealed, because a client that could shorten the file would make the others end by SIGBUS.
     * Without permissions for others, because any user could otherwise open it again by an O_PATH
     * descriptor, which a lease does not count either. */
    if (!error && (ftruncate(fd, (off_t)bytes) || fchmod(fd, 0600) ||
                   fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)))
        error = errno;
    close(made);
    if (!error && !zerod_memory_is_alone(fd))
        error = ENOLCK;
    if (!error)
        return fd;
    if (fd >= 0)
        close(fd);
    return -error;
}

int zerod_memory_share(int fd)
{
    char path[40];
    int other;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    other = open(path, O_RDWR | O_CLOEXEC);
    return other < 0 ? -errno : other;
}

/* The kernel grants a write lease only while nobody else has the file open; a mapping keeps it open,
 * too. */
bool zerod_memory_is_alone(int fd)
{
    if (fcntl(fd, F_SETLEASE, F_WRLCK))
        return false;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}

#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

void *zerod_memory_reserve(size_t bytes, size_t align)
{
    return okosu_pages_map(bytes, align, PROT_NONE, RESERVED);
}

int zerod_memory_displace(void *at, size_t bytes)
{
    return mmap(at, bytes, PROT_NONE, RESERVED | MAP_FIXED, -1, 0) == MAP_FAILED ? -errno : 0;
}

int zerod_memory_place(void *at, int fd, size_t bytes, int node)
{
    int flags = MAP_SHARED | MAP_NORESERVE | MAP_FIXED, error;

    if (mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0) == MAP_FAILED)
        return -errno;
    if (node && okosu_pages_prefer_node(at, bytes, node)) {
        error = errno;
        zerod_memory_displace(at, bytes);
        return -error;
    }
    madvise(at, bytes, MADV_HUGEPAGE);
    madvise(at, bytes, MADV_DONTDUMP);
    return 0;
}

void *zerod_memory_map(int fd, size_t bytes, size_t align, int node)
{
    void *at = zerod_memory_reserve(bytes, align);
    int rc = at ? zerod_memory_place(at, fd, bytes, node) : 0;

    if (!rc)
        return at;
    munmap(at, bytes);
    errno = -rc;
    return NULL;
}

void zerod_memory_unmap(void *at, size_t bytes)
{
    munmap(at, bytes);
}
