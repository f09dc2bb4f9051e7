/* SPDX-License-Identifier: Apache-2.0 */
/* Another preloaded allocator, to stand behind ours: it counts what reaches it, refuses pointers
 * that it did not give out, and writes `count of mallocs, largest request` to descriptor
 * COUNTING_FD. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK 0x600dc0de600dc0deu

/* Before each block: the mark, the size, and what to give back. */
struct head {
    uint64_t mark, size;
    void *start, *unused;
};

static atomic_size_t calls, largest;

static void *next_malloc(size_t size)
{
    static void *(*next)(size_t);

    if (!next) {
        void *found = dlsym(RTLD_NEXT, "malloc");

        memcpy(&next, &found, sizeof next);
    }
    return next(size);
}

static void next_free(void *p)
{
    static void (*next)(void *);

    if (!next) {
        void *found = dlsym(RTLD_NEXT, "free");

        memcpy(&next, &found, sizeof next);
    }
    next(p);
}

void *memalign(size_t align, size_t size)
{
    char *start = size < SIZE_MAX / 2 ? next_malloc(size + align + sizeof(struct head)) : NULL;
    struct head *h;

    atomic_fetch_add(&calls, 1);
    if (size > atomic_load(&largest))
        atomic_store(&largest, size);
    if (!start) {
        errno = ENOMEM;
        return NULL;
    }
    h = (struct head *)(((uintptr_t)start + sizeof *h + align - 1) & -align) - 1;
    *h = (struct head){MARK, size, start, NULL};
    return h + 1;
}

void *malloc(size_t size)
{
    return memalign(16, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

int posix_memalign(void **out, size_t align, size_t size)
{
    *out = memalign(align, size);
    return *out ? 0 : ENOMEM;
}

void free(void *p)
{
    struct head *h = p;

    if (!p)
        return;
    if ((--h)->mark != MARK)
        abort();
    h->mark = 0;
    next_free(h->start);
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    void *p;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    p = malloc(bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

size_t malloc_usable_size(void *p)
{
    return p ? ((struct head *)p - 1)->size : 0;
}

void *realloc(void *p, size_t size)
{
    size_t old = malloc_usable_size(p);
    void *moved = malloc(size);

    if (moved && p) {
        memcpy(moved, p, old < size ? old : size);
        free(p);
    }
    return moved;
}

__attribute__((destructor)) static void report(void)
{
    const char *fd = getenv("COUNTING_FD");
    char text[80];
    int length = snprintf(text, sizeof text, "%zu %zu\n", calls, largest);

    if (fd && write(atoi(fd), text, (size_t)length) != length)
        abort();
}
