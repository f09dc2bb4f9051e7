/* SPDX-License-Identifier: Apache-2.0 */
/* Another preloaded allocator, to stand behind ours: it counts what reaches it, refuses pointers
 * that it did not give out, and writes `count of mallocs, largest request` to descriptor
 * COUNTING_FD.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK 0x600dc0de600dc0deu

/* Sixteen bytes before each block: the mark and the size. */
struct head {
    uint64_t mark, size;
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

void *malloc(size_t size)
{
    struct head *h = next_malloc(size + sizeof *h);

    atomic_fetch_add(&calls, 1);
    if (size > atomic_load(&largest))
        atomic_store(&largest, size);
    if (!h)
        return NULL;
    *h = (struct head){MARK, size};
    return h + 1;
}

void free(void *p)
{
    struct head *h = p;

    if (!p)
        return;
    if ((--h)->mark != MARK)
        abort();
    h->mark = 0;
    next_free(h);
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
