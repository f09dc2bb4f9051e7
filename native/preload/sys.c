/* SPDX-License-Identifier: Apache-2.0 */
/* The real system calls (see sys.h). syscall(2) is used where the libc name is a hook of this very
 * library, and where it is a cancellation point, which malloc must not be.
 *
 * What maps memory or takes it away goes to the next library's functions. UCX and Open MPI watch
 * those (they overwrite the first instructions of libc's) to end the registration of memory with a
 * network adapter, which would otherwise read and write the old pages. As under libc's malloc, such
 * a hook may be called while the allocator's lock is held. */
#include "sys.h"

#include "next.h"

#include "base/avail.h"
#include "base/calls.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Linux 6.7; spelt out because the headers of Debian 12 are older than the kernels it runs on. */
struct pagemap_region {
    uint64_t start, end, categories;
};

struct pagemap_query {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

#define PAGEMAP_SCAN_IOCTL _IOWR('f', 16, struct pagemap_query)
#define PAGEMAP_IS_HUGE ((uint64_t)1 << 6)

static int result_of(long value, int saved)
{
    int err = value < 0 ? -errno : 0;

    errno = saved;
    return err;
}

static intptr_t sys_map(void *where, size_t length, int prot, int flags)
{
    int saved = errno;
    void *got = okosu_next.mmap(where, length, prot, flags, -1, 0);

    if (got == MAP_FAILED) {
        int err = errno;

        errno = saved;
        return -err;
    }
    return (intptr_t)got;
}

static int sys_unmap(void *where, size_t length)
{
    int saved = errno;

    return result_of(okosu_next.munmap(where, length), saved);
}

static int sys_advise(void *where, size_t length, int advice)
{
    int saved = errno;

    return result_of(okosu_next.madvise(where, length, advice), saved);
}

/* MADV_WIPEONFORK is refused for pages of a file and for shared ones; a hole fails every call. The
 * cost grows with the number of mappings and not of pages (Zen 3, Linux 6.18: 2 us for a block
 * that is a mapping of its own, 11 us for one inside a larger mapping, of any size). */
static bool sys_is_plain(void *where, size_t length)
{
    int saved = errno;
    bool plain = syscall(SYS_mprotect, where, length, PROT_READ | PROT_WRITE) == 0 &&
                 syscall(SYS_madvise, where, length, MADV_DOFORK) == 0 &&
                 syscall(SYS_madvise, where, length, MADV_WIPEONFORK) == 0 &&
                 syscall(SYS_madvise, where, length, MADV_KEEPONFORK) == 0;

    errno = saved;
    return plain;
}

/* Older versions of UCX lose the fifth argument, and with it the place to move to. They learn of the
 * move when `from` is mapped anew. */
static int sys_move(void *from, void *to, size_t length)
{
    int saved = errno;
    int flags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
    long got = syscall(SYS_mremap, from, length, length, flags, to);

    return result_of(got == -1 ? -1 : 0, saved);
}

static long sys_faults(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return 0;
    return usage.ru_minflt;
}

static int sys_is_huge(const void *chunk)
{
    struct pagemap_region found;
    struct pagemap_query query = {
        .size = sizeof query,
        .start = (uintptr_t)chunk,
        .end = (uintptr_t)chunk + OKOSU_CHUNK,
        .vec = (uintptr_t)&found,
        .vec_len = 1,
        .category_mask = PAGEMAP_IS_HUGE,
        .return_mask = PAGEMAP_IS_HUGE,
    };
    int saved = errno;
    int fd = okosu_call_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    int got = fd < 0 ? -1 : ioctl(fd, PAGEMAP_SCAN_IOCTL, &query);
    int err = result_of(got, saved);

    if (fd >= 0)
        okosu_call_close(fd);
    if (err)
        return err;
    return got == 1 && found.start == query.start && found.end == query.end;
}

static enum okosu_thp_state sys_thp_state(void)
{
    char text[128];
    int saved = errno;
    /* 3 is "disabled except where advised" (Linux 6.18), which is no hindrance here; the program's own prctl
     * is told otherwise. */
    int disabled = (int)syscall(SYS_prctl, PR_GET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL);
    long got = okosu_file_slurp("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof text);

    errno = saved;
    if (disabled == 1)
        return OKOSU_THP_DISABLED;
    if (got == -ENOENT)
        return OKOSU_THP_ABSENT;
    if (got > 0 && strstr(text, "[never]"))
        return OKOSU_THP_NEVER;
    return OKOSU_THP_OK;
}

/* The files of devices lie in a tmpfs, too, and are no memory of the kernel's. */
static bool sys_is_memory(int fd)
{
    int saved = errno;
    struct statfs system;
    struct stat file;
    bool memory = fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && fstatfs(fd, &system) == 0 &&
                  system.f_type == TMPFS_MAGIC;

    errno = saved;
    return memory;
}

static size_t sys_available(void)
{
    int saved = errno;
    size_t bytes = okosu_avail_bytes("");

    errno = saved;
    return bytes;
}

static size_t sys_address_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur;
}

/* The stack lies at the top; rounded up to the power of two that bounds the address space. */
static uintptr_t sys_address_top(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), top = 1;

    while (top <= here)
        top *= 2;
    return top;
}

/* The kernel's sixteen random bytes, stirred: where the region lies should be no easier to guess
 * than where the heap does. (Without address randomisation, as under a debugger, it varies all the
 * same.) */
static uint64_t sys_random(unsigned turn)
{
    const void *bytes = (const void *)getauxval(AT_RANDOM);
    uint64_t words[2] = {1, 2}, x;

    if (bytes)
        memcpy(words, bytes, sizeof words);
    x = (words[0] ^ (words[1] << 23 | words[1] >> 41)) + turn * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

struct okosu_sys okosu_sys = {
    .map = sys_map,
    .unmap = sys_unmap,
    .is_plain = sys_is_plain,
    .advise = sys_advise,
    .move = sys_move,
    .faults = sys_faults,
    .is_huge = sys_is_huge,
    .thp_state = sys_thp_state,
    .is_memory = sys_is_memory,
    .available = sys_available,
    .address_limit = sys_address_limit,
    .address_top = sys_address_top,
    .random = sys_random,
};
