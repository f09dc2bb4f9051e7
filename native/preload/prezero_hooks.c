/* SPDX-License-Identifier: Apache-2.0 */
/* libokosu-prezero.so: malloc, mmap and related functions in front of the pool of clean blocks.
 *
 * As in hooks.c: a request that is not ours costs one comparison and a jump; errno is unchanged
 * where we succeed. */
#include "deepbind.h"
#include "export.h"
#include "next.h"
#include "prezero.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

/* For the headers of older systems. */
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#define MADV_PAGEOUT 21
#endif

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define KNOWN_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NONBLOCK)
#define NEEDED_FLAGS (MAP_PRIVATE | MAP_ANONYMOUS)

static __attribute__((noinline)) void *large(size_t size, size_t align, bool zero)
{
    int saved = errno;
    void *p = size <= PTRDIFF_MAX ? okosu_prezero_alloc(size, align, zero) : NULL;

    errno = saved;
    return p;
}

OKOSU_EXPORT void *malloc(size_t size)
{
    void *p = NULL;

    if (UNLIKELY(size >= OKOSU_PREZERO_MIN))
        p = large(size, 1, false);
    return p ? p : okosu_next.malloc(size);
}

OKOSU_EXPORT void *calloc(size_t count, size_t size)
{
    void *p = NULL;
    size_t bytes;

    if (UNLIKELY(!__builtin_mul_overflow(count, size, &bytes) && bytes >= OKOSU_PREZERO_MIN))
        p = large(bytes, 1, true);
    return p ? p : okosu_next.calloc(count, size);
}

static bool is_ours(const void *p)
{
    return UNLIKELY(okosu_prezero_owns(p)) && okosu_prezero_is_block(p);
}

OKOSU_EXPORT void free(void *p)
{
    int saved;

    if (!is_ours(p)) {
        okosu_next.free(p);
        return;
    }
    saved = errno;
    okosu_prezero_free(p);
    errno = saved;
}

/* p is ours. As with glibc, size 0 frees; on failure the block stays as it was. */
static __attribute__((noinline)) void *resize(void *p, size_t size)
{
    size_t old = okosu_prezero_usable(p);
    void *moved;

    if (!size) {
        free(p);
        return NULL;
    }
    if (okosu_prezero_resize(p, size))
        return p;
    moved = malloc(size);
    if (!moved)
        return NULL;
    memcpy(moved, p, old < size ? old : size);
    free(p);
    return moved;
}

OKOSU_EXPORT void *realloc(void *p, size_t size)
{
    if (is_ours(p))
        return resize(p, size);
    /* libc grows its own blocks, because it can do so without copying. */
    return p ? okosu_next.realloc(p, size) : malloc(size);
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

static void *aligned(size_t align, size_t size)
{
    if (size < OKOSU_PREZERO_MIN || !align || align & (align - 1))
        return NULL;
    return large(size, align, false);
}

OKOSU_EXPORT void *memalign(size_t align, size_t size)
{
    void *p = aligned(align, size);

    return p ? p : okosu_next.memalign(align, size);
}

OKOSU_EXPORT void *aligned_alloc(size_t align, size_t size)
{
    void *p = aligned(align, size);

    return p ? p : okosu_next.aligned_alloc(align, size);
}

OKOSU_EXPORT int posix_memalign(void **out, size_t align, size_t size)
{
    void *p = align % sizeof(void *) == 0 ? aligned(align, size) : NULL;

    if (!p)
        return okosu_next.posix_memalign(out, align, size);
    *out = p;
    return 0;
}

OKOSU_EXPORT size_t malloc_usable_size(void *p)
{
    return is_ours(p) ? okosu_prezero_usable(p) : okosu_next.malloc_usable_size(p);
}

/* A mapping at a fixed place in the pool. */
static __attribute__((noinline)) void *map_over(void *at, size_t length, int prot, int flags,
                                                int fd, off_t offset)
{
    void *p;

    if (!okosu_prezero_map_over(at, length))
        return MAP_FAILED;
    p = okosu_next.mmap(at, length, prot, flags, fd, offset);
    okosu_prezero_mapped_over(at, length, p != MAP_FAILED);
    return p;
}

/* Stacks, guard areas, code and reservations are recognised by other flags and protections. */
OKOSU_EXPORT void *mmap(void *hint, size_t length, int prot, int flags, int fd, off_t offset)
{
    int saved = errno;
    void *p = NULL;

    if (UNLIKELY(flags & MAP_FIXED && okosu_prezero_meets(hint, length)))
        return map_over(hint, length, prot, flags, fd, offset);
    if (UNLIKELY(length >= OKOSU_PREZERO_MIN && length <= PTRDIFF_MAX && !hint && !offset &&
                 prot == (PROT_READ | PROT_WRITE) && !(flags & ~KNOWN_FLAGS) &&
                 (flags & NEEDED_FLAGS) == NEEDED_FLAGS))
        p = okosu_prezero_map(length);
    errno = saved;
    return p ? p : okosu_next.mmap(hint, length, prot, flags, fd, offset);
}

OKOSU_EXPORT void *mmap64(void *hint, size_t length, int prot, int flags, int fd, off_t offset)
{
    return mmap(hint, length, prot, flags, fd, offset);
}

OKOSU_EXPORT int munmap(void *start, size_t length)
{
    if (UNLIKELY(okosu_prezero_meets(start, length)) && length && !((uintptr_t)start % 4096))
        return okosu_prezero_unmap(start, length);
    return okosu_next.munmap(start, length);
}

/* These functions do more to a block than write to it: they protect it, lock it, or give it
 * properties that it would keep. */
#define CHANGES(name, parameters, ...)                                                             \
    OKOSU_EXPORT int name parameters                                                               \
    {                                                                                              \
        if (UNLIKELY(okosu_prezero_meets(start, length)))                                          \
            okosu_prezero_changed((uintptr_t)start, length);                                       \
        return okosu_next.name(__VA_ARGS__);                                                       \
    }

CHANGES(mprotect, (void *start, size_t length, int prot), start, length, prot)
CHANGES(pkey_mprotect, (void *start, size_t length, int prot, int key), start, length, prot, key)
CHANGES(mlock, (const void *start, size_t length), start, length)
CHANGES(mlock2, (const void *start, size_t length, unsigned flags), start, length, flags)

/* libnuma's: no libc has this function, so that it is looked up here and not in next.c. */
long mbind(void *start, unsigned long length, int mode, const unsigned long *nodes,
           unsigned long bits, unsigned flags);

OKOSU_EXPORT long mbind(void *start, unsigned long length, int mode, const unsigned long *nodes,
                        unsigned long bits, unsigned flags)
{
    static long (*next)(void *, unsigned long, int, const unsigned long *, unsigned long, unsigned);

    if (UNLIKELY(okosu_prezero_meets(start, length)))
        okosu_prezero_changed((uintptr_t)start, length);
    if (!next && !okosu_next_find(&next, "mbind"))
        return syscall(SYS_mbind, start, length, mode, nodes, bits, flags);
    return next(start, length, mode, nodes, bits, flags);
}

/* Only SHM_REMAP replaces what is mapped, and how long the segment is only the kernel knows. */
OKOSU_EXPORT void *shmat(int id, const void *start, int flags)
{
    struct shmid_ds segment;
    bool over = UNLIKELY(flags & SHM_REMAP) && shmctl(id, IPC_STAT, &segment) == 0 &&
                okosu_prezero_meets(start, segment.shm_segsz);
    void *p;

    if (over && !okosu_prezero_map_over((void *)start, segment.shm_segsz))
        return MAP_FAILED;
    p = okosu_next.shmat(id, start, flags);
    if (over)
        okosu_prezero_mapped_over((void *)start, segment.shm_segsz, p != MAP_FAILED);
    return p;
}

/* Whether the advice is over when the call returns. */
static bool is_about_content(int advice)
{
    return advice == MADV_DONTNEED || advice == MADV_WILLNEED || advice == MADV_FREE ||
           advice == MADV_COLD || advice == MADV_PAGEOUT;
}

OKOSU_EXPORT int madvise(void *start, size_t length, int advice)
{
    if (UNLIKELY(okosu_prezero_meets(start, length)) && !((uintptr_t)start % 4096)) {
        if (!is_about_content(advice))
            okosu_prezero_changed((uintptr_t)start, length);
        if (advice == MADV_DONTNEED && !okosu_prezero_empty(start, length))
            return -1;
    }
    return okosu_next.madvise(start, length, advice);
}

/* Move pages out of the pool, which keeps their addresses. Where they cannot be moved they are
 * copied if all of them can be read: the daemon's memory stays the pool's; a block may lie in
 * several of the kernel's mappings, which the program takes for one; and Linux before 5.7 knows no
 * MREMAP_DONTUNMAP. */
static void *lift(void *old, size_t length, bool *moved)
{
    int error = ENOMEM;
    void *p;

    *moved = false;
    if (okosu_prezero_is_private(old, length)) {
        p = okosu_next.mremap(old, length, length, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
        *moved = p != MAP_FAILED;
        if (*moved)
            return p;
        error = errno;
    }
    if (okosu_prezero_was_changed(old, length)) {
        errno = error;
        return MAP_FAILED;
    }
    p = okosu_next.mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? p : memcpy(p, old, length);
}

/* The pages leave the pool in one step and become what the program asked for in another, because
 * only a move that keeps the length leaves a mapping behind. */
static void *move_out(void *old, size_t old_length, size_t new_length, int flags, void *to)
{
    bool moved;
    void *p, *lifted = lift(old, old_length, &moved);
    int saved;

    if (lifted == MAP_FAILED)
        return MAP_FAILED;
    p = okosu_next.mremap(lifted, old_length, new_length, flags, to);
    saved = errno;
    if (p != MAP_FAILED)
        okosu_prezero_unmap(old, old_length);
    else if (moved)
        okosu_next.mremap(lifted, old_length, old_length, MREMAP_MAYMOVE | MREMAP_FIXED, old);
    else
        okosu_next.munmap(lifted, old_length);
    errno = saved;
    return p;
}

static void *move_within(void *old, size_t old_length, size_t new_length, int flags, void *to)
{
    bool moves = flags & MREMAP_FIXED || (flags & MREMAP_MAYMOVE && new_length > old_length);

    if (!okosu_prezero_owns(old) || !okosu_prezero_owns((char *)old + old_length - 1) ||
        !old_length || !new_length || (uintptr_t)old % 4096 ||
        flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED))
        return okosu_next.mremap(old, old_length, new_length, flags, to);
    if (moves)
        return move_out(old, old_length, new_length, flags, to);
    if (new_length > old_length)
        return okosu_next.mremap(old, old_length, new_length, flags, to);
    new_length = (new_length + 4095) & ~(size_t)4095;
    if (new_length < old_length &&
        okosu_prezero_unmap((char *)old + new_length, old_length - new_length))
        return MAP_FAILED;
    return old;
}

OKOSU_EXPORT void *mremap(void *old, size_t old_length, size_t new_length, int flags, ...)
{
    bool fixed = flags & MREMAP_FIXED;
    va_list more;
    void *to, *p;

    va_start(more, flags);
    to = fixed ? va_arg(more, void *) : NULL;
    va_end(more);
    if (!fixed || !okosu_prezero_meets(to, new_length))
        return move_within(old, old_length, new_length, flags, to);
    if (!okosu_prezero_map_over(to, new_length))
        return MAP_FAILED;
    p = move_within(old, old_length, new_length, flags, to);
    okosu_prezero_mapped_over(to, new_length, p != MAP_FAILED);
    return p;
}

/* mlockall would populate all of the pool's addresses and keep them in memory, and counts them
 * against the limit. */
OKOSU_EXPORT int mlockall(int flags)
{
    static int (*next)(int);

    okosu_prezero_stop();
    if (!next && !okosu_next_find(&next, "mlockall"))
        return (int)syscall(SYS_mlockall, flags);
    return next(flags);
}

/* The kernel refuses these to a process of several threads, if they concern what threads share (a
 * user namespace, the root folder). The pool's thread ends before them and comes back when there is
 * work: unlike a helper outside the thread group, which would share the memory without libc's
 * knowledge, that needs nothing of libc that it does not promise. */
OKOSU_EXPORT int unshare(int flags)
{
    static int (*next)(int);
    bool paused;
    int rc, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    paused = okosu_prezero_pause();
    rc = next || okosu_next_find(&next, "unshare") ? next(flags) : (int)syscall(SYS_unshare, flags);
    if (paused)
        okosu_prezero_resume();
    pthread_setcancelstate(cancel, NULL);
    return rc;
}

OKOSU_EXPORT int setns(int fd, int kind)
{
    static int (*next)(int, int);
    bool paused;
    int rc, cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    paused = okosu_prezero_pause();
    rc = next || okosu_next_find(&next, "setns") ? next(fd, kind)
                                                 : (int)syscall(SYS_setns, fd, kind);
    if (paused)
        okosu_prezero_resume();
    pthread_setcancelstate(cancel, NULL);
    return rc;
}

bool okosu_hooks_serve(void)
{
    return true;
}

void okosu_hooks_stop(void)
{
    okosu_prezero_stop();
}
