/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points for memory: malloc and related functions, mmap and what changes mappings.
 *
 * 1. A request that is not ours costs one comparison and a jump to the next function: no
 * thread-local data (a preloaded library competes for the little static TLS there is), no lock, no
 * call frame.
 *
 * 2. A block is freed by the allocator that served it: the address decides, not the size and not
 * the mode.
 *
 * 3. A request that cannot be served here goes to the next function; errno is then as that function
 * sets it, and unchanged where we succeed. */
#include "deepbind.h"
#include "evidence.h"
#include "export.h"
#include "init.h"
#include "large.h"
#include "maps.h"
#include "next.h"
#include "small_maps.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PAGE_MASK (OKOSU_PAGE - 1)

static bool is_power_of_two(size_t n)
{
    return n && !(n & (n - 1));
}

/* A large block, or NULL if the next allocator is to serve it. */
static void *large(size_t size, size_t align, bool *zeroed)
{
    int saved = errno;
    void *p = NULL;

    okosu_init();
    if (size >= okosu_large_from && size <= PTRDIFF_MAX)
        p = okosu_large_alloc(size, align, zeroed);
    errno = saved;
    return p;
}

static bool relieved_of(int error)
{
    bool freed = error == ENOMEM && okosu_small_relieve();

    return (error == ENOMEM && okosu_large_relieve()) || freed;
}

/* The next allocator found no memory. Returns whether the regions gave something back, so that a
 * second try is worthwhile. */
static bool relieved(void)
{
    int saved = errno;
    bool freed = relieved_of(saved);

    errno = saved;
    return freed;
}

static __attribute__((noinline)) void *large_malloc(size_t size)
{
    bool zeroed;
    void *p = large(size, 1, &zeroed);

    if (!p)
        p = okosu_next.malloc(size);
    if (!p && relieved())
        p = okosu_next.malloc(size);
    return p;
}

OKOSU_EXPORT void *malloc(size_t size)
{
    if (UNLIKELY(size >= okosu_large_from))
        return large_malloc(size);
    return okosu_next.malloc(size);
}

static __attribute__((noinline)) void *large_calloc(size_t count, size_t size)
{
    bool zeroed;
    void *p = large(count * size, 1, &zeroed);

    if (p && !zeroed)
        memset(p, 0, count * size);
    if (!p)
        p = okosu_next.calloc(count, size);
    if (!p && relieved())
        p = okosu_next.calloc(count, size);
    return p;
}

OKOSU_EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;

    if (UNLIKELY(!__builtin_mul_overflow(count, size, &bytes) && bytes >= okosu_large_from))
        return large_calloc(count, size);
    return okosu_next.calloc(count, size);
}

static __attribute__((noinline)) void large_free(void *p)
{
    int saved = errno;

    okosu_large_free(p);
    errno = saved;
}

OKOSU_EXPORT void free(void *p)
{
    if (UNLIKELY(okosu_large_owns(p))) {
        large_free(p);
        return;
    }
    okosu_next.free(p);
}

static void free_any(void *p, size_t size)
{
    (void)size;
    free(p);
}

static void free_any_aligned(void *p, size_t align, size_t size)
{
    (void)align, (void)size;
    free(p);
}

/* C23's functions, which an older libc has not. */
void free_sized(void *p, size_t size);
void free_aligned_sized(void *p, size_t align, size_t size);

OKOSU_EXPORT void free_sized(void *p, size_t size)
{
    if (!OKOSU_NEXT_HAS(free_sized))
        okosu_next.free_sized = free_any;
    if (UNLIKELY(okosu_large_owns(p)))
        large_free(p);
    else
        okosu_next.free_sized(p, size);
}

OKOSU_EXPORT void free_aligned_sized(void *p, size_t align, size_t size)
{
    if (!OKOSU_NEXT_HAS(free_aligned_sized))
        okosu_next.free_aligned_sized = free_any_aligned;
    if (UNLIKELY(okosu_large_owns(p)))
        large_free(p);
    else
        okosu_next.free_aligned_sized(p, align, size);
}

/* Copies the block to one of the next allocator's; on failure it stays as it was. */
static void *move_out(void *p, size_t size)
{
    size_t old = okosu_large_usable(p);
    void *moved = okosu_next.malloc(size);

    if (!moved && relieved())
        moved = okosu_next.malloc(size);
    if (!moved)
        return NULL;
    memcpy(moved, p, old < size ? old : size);
    large_free(p);
    return moved;
}

/* p is ours. As with glibc, size 0 frees. A block that shrinks below half the limit moves out,
 * unless there is no memory for that: then it shrinks where it is, for shrinking must not fail. */
static __attribute__((noinline)) void *resize_large(void *p, size_t size)
{
    int saved = errno;
    void *moved = NULL;

    if (!size) {
        large_free(p);
        return NULL;
    }
    if (size < OKOSU_LARGE_MIN / 2)
        moved = move_out(p, size);
    if (!moved && size <= PTRDIFF_MAX) {
        errno = saved;
        moved = okosu_large_resize(p, size);
    }
    if (!moved && size >= OKOSU_LARGE_MIN / 2)
        moved = move_out(p, size);
    if (moved)
        errno = saved;
    return moved;
}

/* p belongs to the next allocator and becomes large; if it already is large, the next allocator may
 * be able to grow it without copying. */
static __attribute__((noinline)) void *grow_to_large(void *p, size_t size)
{
    size_t old;
    bool zeroed;
    void *moved;

    if (!p)
        return large_malloc(size);
    old = okosu_next.malloc_usable_size(p);
    moved = old < OKOSU_LARGE_MIN ? large(size, 1, &zeroed) : NULL;
    if (!moved) {
        moved = okosu_next.realloc(p, size);
        return moved || !relieved() ? moved : okosu_next.realloc(p, size);
    }
    memcpy(moved, p, old < size ? old : size);
    okosu_next.free(p);
    return moved;
}

OKOSU_EXPORT void *realloc(void *p, size_t size)
{
    if (UNLIKELY(okosu_large_owns(p)))
        return resize_large(p, size);
    if (UNLIKELY(size >= okosu_large_from))
        return grow_to_large(p, size);
    return okosu_next.realloc(p, size);
}

OKOSU_EXPORT void *reallocarray(void *p, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, bytes);
}

/* A large block at a multiple of `align`, or NULL if the next allocator is to serve it. */
static void *large_aligned(size_t align, size_t size)
{
    bool zeroed;

    if (size < okosu_large_from || !is_power_of_two(align))
        return NULL;
    return large(size, align, &zeroed);
}

OKOSU_EXPORT void *memalign(size_t align, size_t size)
{
    void *p = large_aligned(align, size);

    if (!p)
        p = okosu_next.memalign(align, size);
    return p || !relieved() ? p : okosu_next.memalign(align, size);
}

OKOSU_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *p = large_aligned(align, size);

    if (!p)
        p = okosu_next.aligned_alloc(align, size);
    return p || !relieved() ? p : okosu_next.aligned_alloc(align, size);
}

OKOSU_EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = align % sizeof(void *) == 0 ? large_aligned(align, size) : NULL;
    int err;

    if (p) {
        *out = p;
        return 0;
    }
    err = okosu_next.posix_memalign(out, align, size);
    if (relieved_of(err))
        err = okosu_next.posix_memalign(out, align, size);
    return err;
}

OKOSU_EXPORT void *valloc(size_t size)
{
    void *p = large_aligned(OKOSU_PAGE, size);

    if (!p)
        p = okosu_next.valloc(size);
    return p || !relieved() ? p : okosu_next.valloc(size);
}

OKOSU_EXPORT void *pvalloc(size_t size)
{
    void *p = NULL;

    if (size <= PTRDIFF_MAX)
        p = large_aligned(OKOSU_PAGE, (size + PAGE_MASK) & ~PAGE_MASK);
    if (!p)
        p = okosu_next.pvalloc(size);
    return p || !relieved() ? p : okosu_next.pvalloc(size);
}

OKOSU_EXPORT int malloc_trim(size_t pad)
{
    int saved = errno;
    bool freed = okosu_large_trim();

    errno = saved;
    return (OKOSU_NEXT_HAS(malloc_trim) ? okosu_next.malloc_trim(pad) : 0) || freed;
}

OKOSU_EXPORT size_t malloc_usable_size(void *p)
{
    if (UNLIKELY(okosu_large_owns(p)))
        return okosu_large_usable(p);
    return okosu_next.malloc_usable_size(p);
}

static __attribute__((noinline)) void *large_mmap(void *hint, size_t length, int prot, int flags,
                                                  int fd, off_t offset)
{
    void *p;
    long got;

    okosu_init();
    if (length >= okosu_maps_from && okosu_small_wants(hint, length, prot, flags, offset)) {
        p = okosu_small_map(length);
        if (p)
            return p;
    }
    if (length >= okosu_maps_from && okosu_maps_wants(length, prot, flags, offset)) {
        got = okosu_maps_map(hint, length, prot, flags);
        if (!okosu_sys_failed(got))
            return (void *)got;
    }
    p = okosu_next.mmap(hint, length, prot, flags, fd, offset);
    if (p == MAP_FAILED && relieved())
        p = okosu_next.mmap(hint, length, prot, flags, fd, offset);
    if (p != MAP_FAILED && okosu_maps_wants_shared(length, prot, flags))
        okosu_maps_shared(p, length, flags, fd, offset);
    return p;
}

OKOSU_EXPORT void *mmap(void *hint, size_t length, int prot, int flags, int fd, off_t offset)
{
    if (UNLIKELY(flags & MAP_FIXED)) {
        okosu_maps_forget(hint, length);
        okosu_small_forget(hint, length);
        okosu_large_changed((uintptr_t)hint, length);
    }
    if (UNLIKELY(length >= okosu_maps_from))
        return large_mmap(hint, length, prot, flags, fd, offset);
    return okosu_next.mmap(hint, length, prot, flags, fd, offset);
}

OKOSU_EXPORT void *mmap64(void *hint, size_t length, int prot, int flags, int fd, off_t offset)
{
    return mmap(hint, length, prot, flags, fd, offset);
}

OKOSU_EXPORT int munmap(void *start, size_t length)
{
    okosu_maps_forget(start, length);
    okosu_small_forget(start, length);
    okosu_large_changed((uintptr_t)start, length);
    return okosu_next.munmap(start, length);
}

OKOSU_EXPORT int mprotect(void *start, size_t length, int prot)
{
    okosu_large_changed((uintptr_t)start, length);
    return okosu_next.mprotect(start, length, prot);
}

OKOSU_EXPORT int pkey_mprotect(void *start, size_t length, int prot, int key)
{
    okosu_large_changed((uintptr_t)start, length);
    return okosu_next.pkey_mprotect(start, length, prot, key);
}

/* Without MREMAP_FIXED and MREMAP_DONTUNMAP the fifth argument is not there; reading it is
 * harmless, and libc's own mremap does the same. */
OKOSU_EXPORT void *mremap(void *start, size_t old, size_t length, int flags, ...)
{
    va_list more;
    void *to;

    va_start(more, flags);
    to = va_arg(more, void *);
    va_end(more);
    okosu_large_changed((uintptr_t)start, old);
    if (flags & MREMAP_FIXED)
        okosu_large_changed((uintptr_t)to, length);
    return okosu_next.mremap(start, old, length, flags, to);
}

/* Most advice concerns the present contents or the speed; what a fork or a guard page means for a
 * block must not stay for the next one. */
OKOSU_EXPORT int madvise(void *start, size_t length, int advice)
{
    if (advice == MADV_DONTFORK || advice == MADV_WIPEONFORK || advice == MADV_GUARD_INSTALL)
        okosu_large_changed((uintptr_t)start, length);
    return okosu_next.madvise(start, length, advice);
}

OKOSU_EXPORT int mlock(const void *start, size_t length)
{
    okosu_large_changed((uintptr_t)start, length);
    return okosu_next.mlock(start, length);
}

OKOSU_EXPORT int mlock2(const void *start, size_t length, unsigned flags)
{
    okosu_large_changed((uintptr_t)start, length);
    return okosu_next.mlock2(start, length, flags);
}

/* How long a segment is only the kernel knows; 0 where it does not say. */
static size_t segment_bytes(int id)
{
    int saved = errno;
    struct shmid_ds segment;
    bool told = shmctl(id, IPC_STAT, &segment) == 0;

    errno = saved;
    return told ? segment.shm_segsz : 0;
}

/* Only SHM_REMAP replaces what is mapped. */
OKOSU_EXPORT void *shmat(int id, const void *start, int flags)
{
    bool replaces = flags & SHM_REMAP, wanted;
    size_t length;
    void *p;

    okosu_init();
    wanted = okosu_maps_wants_segment(flags);
    length = replaces || wanted ? segment_bytes(id) : 0;
    if (replaces) {
        okosu_maps_forget(start, length);
        okosu_small_forget(start, length);
        okosu_large_changed((uintptr_t)start, length);
    }
    p = okosu_next.shmat(id, start, flags);
    if (p != MAP_FAILED && wanted && length >= OKOSU_CHUNK)
        okosu_maps_shared(p, length, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return p;
}

OKOSU_EXPORT int shmdt(const void *start)
{
    okosu_maps_detach(start);
    return okosu_next.shmdt(start);
}

/* libnuma's: no libc has this function, so that it is looked up here and not in next.c. */
long mbind(void *start, unsigned long length, int mode, const unsigned long *nodes,
           unsigned long bits, unsigned flags);

OKOSU_EXPORT long mbind(void *start, unsigned long length, int mode, const unsigned long *nodes,
                        unsigned long bits, unsigned flags)
{
    static long (*next)(void *, unsigned long, int, const unsigned long *, unsigned long, unsigned);

    okosu_large_changed((uintptr_t)start, length);
    if (!next && !okosu_next_find(&next, "mbind"))
        return syscall(SYS_mbind, start, length, mode, nodes, bits, flags);
    return next(start, length, mode, nodes, bits, flags);
}

bool okosu_hooks_serve(void)
{
    okosu_init();
    return okosu_large_from != SIZE_MAX ||
           atomic_load_explicit(&okosu_large_span, memory_order_relaxed);
}

void okosu_hooks_stop(void)
{
    okosu_reason_add(OKOSU_WHY_DEEPBIND);
    okosu_large_from = SIZE_MAX;
}
