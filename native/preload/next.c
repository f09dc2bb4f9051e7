/* SPDX-License-Identifier: Apache-2.0 */
/* Resolution of the next functions, and the arena for what dlsym allocates meanwhile (see
 * next.h). */
#include "next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARENA_BYTES 16384

static _Alignas(16) char arena[ARENA_BYTES];
static atomic_size_t arena_used;
static atomic_bool resolving;
static bool resolved;

static bool in_arena(const void *p)
{
    return (uintptr_t)p - (uintptr_t)arena < ARENA_BYTES;
}

/* Each block is preceded by its size, which realloc needs. */
static void *arena_take(size_t size)
{
    size_t at, need = (size + 31) & ~(size_t)15;

    if (size > ARENA_BYTES)
        goto full;
    at = atomic_fetch_add(&arena_used, need);
    if (at + need > ARENA_BYTES)
        goto full;
    memcpy(arena + at, &size, sizeof size);
    return arena + at + 16;
full:
    errno = ENOMEM;
    return NULL;
}

static void *first_malloc(size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.malloc(size) : arena_take(size);
}

static void *first_calloc(size_t count, size_t size)
{
    okosu_next_resolve();
    if (resolved)
        return okosu_next.calloc(count, size);
    if (size && count > ARENA_BYTES / size)
        return NULL;
    return arena_take(count * size);
}

static void first_free(void *p)
{
    if (!p || in_arena(p))
        return;
    okosu_next_resolve();
    if (resolved)
        okosu_next.free(p);
}

static void *first_realloc(void *p, size_t size)
{
    void *moved;
    size_t old;

    if (p && !in_arena(p)) {
        okosu_next_resolve();
        return resolved ? okosu_next.realloc(p, size) : NULL;
    }
    moved = first_malloc(size);
    if (moved && p) {
        memcpy(&old, (char *)p - 16, sizeof old);
        memcpy(moved, p, old < size ? old : size);
    }
    return moved;
}

static size_t first_usable_size(void *p)
{
    size_t size = 0;

    if (in_arena(p)) {
        memcpy(&size, (char *)p - 16, sizeof size);
        return size;
    }
    okosu_next_resolve();
    return resolved ? okosu_next.malloc_usable_size(p) : 0;
}

static void *first_memalign(size_t align, size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.memalign(align, size) : NULL;
}

static void *first_aligned_alloc(size_t align, size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.aligned_alloc(align, size) : NULL;
}

static int first_posix_memalign(void **out, size_t align, size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.posix_memalign(out, align, size) : ENOMEM;
}

static void *first_valloc(size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.valloc(size) : NULL;
}

static void *first_pvalloc(size_t size)
{
    okosu_next_resolve();
    return resolved ? okosu_next.pvalloc(size) : NULL;
}

static void *raw_mmap(void *hint, size_t length, int prot, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, hint, length, prot, flags, fd, offset);
}

static int raw_munmap(void *start, size_t length)
{
    return (int)syscall(SYS_munmap, start, length);
}

static int raw_mprotect(void *start, size_t length, int prot)
{
    return (int)syscall(SYS_mprotect, start, length, prot);
}

static int raw_pkey_mprotect(void *start, size_t length, int prot, int key)
{
    return (int)syscall(SYS_pkey_mprotect, start, length, prot, key);
}

static void *raw_mremap(void *start, size_t old, size_t length, int flags, ...)
{
    va_list more;
    void *to;

    va_start(more, flags);
    to = va_arg(more, void *);
    va_end(more);
    return (void *)syscall(SYS_mremap, start, old, length, flags, to);
}

static int raw_madvise(void *start, size_t length, int advice)
{
    return (int)syscall(SYS_madvise, start, length, advice);
}

static int raw_mlock(const void *start, size_t length)
{
    return (int)syscall(SYS_mlock, start, length);
}

static int raw_mlock2(const void *start, size_t length, unsigned flags)
{
    return (int)syscall(SYS_mlock2, start, length, flags);
}

static void *raw_shmat(int id, const void *start, int flags)
{
    return (void *)syscall(SYS_shmat, id, start, flags);
}

static int raw_shmdt(const void *start)
{
    return (int)syscall(SYS_shmdt, start);
}

static void raw_exit(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

struct okosu_next okosu_next = {
    .malloc = first_malloc,
    .free = first_free,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .malloc_usable_size = first_usable_size,
    .mmap = raw_mmap,
    .munmap = raw_munmap,
    .mprotect = raw_mprotect,
    .pkey_mprotect = raw_pkey_mprotect,
    .mremap = raw_mremap,
    .madvise = raw_madvise,
    .mlock = raw_mlock,
    .mlock2 = raw_mlock2,
    .shmat = raw_shmat,
    .shmdt = raw_shmdt,
    .exit_now = raw_exit,
};

/* The arena's blocks outlive the resolution: their owners may free or grow them later. Only in that
 * case do these functions stand before the real ones. */
static struct {
    void (*free)(void *);
    void *(*realloc)(void *, size_t);
    size_t (*malloc_usable_size)(void *);
} behind;

static void checked_free(void *p)
{
    if (!in_arena(p))
        behind.free(p);
}

static void *checked_realloc(void *p, size_t size)
{
    return in_arena(p) ? first_realloc(p, size) : behind.realloc(p, size);
}

static size_t checked_usable_size(void *p)
{
    return in_arena(p) ? first_usable_size(p) : behind.malloc_usable_size(p);
}

static void guard_arena(struct okosu_next *n)
{
    if (!atomic_load(&arena_used))
        return;
    behind.free = n->free;
    behind.realloc = n->realloc;
    behind.malloc_usable_size = n->malloc_usable_size;
    n->free = checked_free;
    n->realloc = checked_realloc;
    n->malloc_usable_size = checked_usable_size;
}

/* ISO C has no conversion from an object pointer to a function pointer; POSIX has dlsym. */
bool okosu_next_find(void *slot, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found)
        memcpy(slot, &found, sizeof found);
    return found != NULL;
}

/* valloc is obsolete and may disappear from libc. */
static void *no_valloc(size_t size)
{
    (void)size;
    errno = ENOMEM;
    return NULL;
}

/* Only of what libc has. A look-up that fails leaves dlerror's message behind, in the arena;
 * the next look-up frees it by the program's free, and an allocator before ours that looks up the
 * next free at its first call would free the message again within. */
#define FIND(name) okosu_next_find(&found.name, #name)

void okosu_next_resolve(void)
{
    struct okosu_next found;

    if (resolved || atomic_exchange(&resolving, true))
        return;
    found = okosu_next;
    OKOSU_NEXT_FUNCTIONS(FIND)
    if (found.valloc == first_valloc)
        found.valloc = no_valloc;
    if (found.pvalloc == first_pvalloc)
        found.pvalloc = no_valloc;
    okosu_next_find(&found.register_atfork, "__register_atfork");
    okosu_next_find(&found.exit_now, "_exit");
    guard_arena(&found);
    okosu_next = found;
    resolved = true;
    atomic_store(&resolving, false);
}
