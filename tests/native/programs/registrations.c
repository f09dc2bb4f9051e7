/* SPDX-License-Identifier: Apache-2.0 */
/* A library that registers memory, as UCX does for a network adapter, and that ends a registration
 * when it sees the memory mapped anew, moved or taken away. To stand behind ours. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE ((uintptr_t)4096)
#define RANGES 64
#define LARGE ((size_t)2 << 20)
#define STEPS 90
#define STRIDE (LARGE / 4)

static struct range {
    uintptr_t start, end; /* whole pages, of which one in STRIDE bytes was written; 0, 0: ended */
} ranges[RANGES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *passed; /* the last large block that the next allocator served */
static size_t ended;

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

#define NEXT(type, name, ...)                                                                      \
    static __typeof__(type(*)(__VA_ARGS__)) next_##name;                                           \
    if (!next_##name)                                                                              \
        *(void **)&next_##name = next(#name);

/* Like UCX's, allocates a little while the allocator may hold a lock. */
static void end(void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at, to = from + bytes;

    free(malloc(100));
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < RANGES; i++) {
        struct range *range = &ranges[i];

        if (range->end && from < range->end && range->start < to) {
            *range = (struct range){0};
            ended++;
        }
    }
    pthread_mutex_unlock(&mutex);
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    NEXT(void *, mmap, void *, size_t, int, int, int, off_t)
    if (flags & MAP_FIXED)
        end(at, bytes);
    return next_mmap(at, bytes, prot, flags, fd, offset);
}

int munmap(void *at, size_t bytes)
{
    NEXT(int, munmap, void *, size_t)
    end(at, bytes);
    return next_munmap(at, bytes);
}

int madvise(void *at, size_t bytes, int advice)
{
    NEXT(int, madvise, void *, size_t, int)
    if (advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE)
        end(at, bytes);
    return next_madvise(at, bytes, advice);
}

/* As in older versions of UCX, the place to move to is lost. */
void *mremap(void *at, size_t bytes, size_t new_bytes, int flags, ...)
{
    NEXT(void *, mremap, void *, size_t, size_t, int, ...)
    end(at, bytes);
    return next_mremap(at, bytes, new_bytes, flags);
}

void *malloc(size_t bytes)
{
    void *p;
    NEXT(void *, malloc, size_t)

    p = next_malloc(bytes);
    if (bytes >= LARGE)
        passed = p;
    return p;
}

static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

__attribute__((constructor)) static void enter_handlers(void)
{
    pthread_atfork(lock, unlock, unlock);
}

static bool is_there(int pagemap, uintptr_t at)
{
    uint64_t entry = 0;

    if (pread(pagemap, &entry, sizeof entry, (off_t)(at / PAGE * sizeof entry)) != sizeof entry)
        abort();
    return entry >> 62; /* in memory or swapped out */
}

/* Only blocks that ours served: libc's own calls cannot be seen from here. */
static bool enter(char *p, size_t bytes)
{
    uintptr_t start = ((uintptr_t)p + PAGE - 1) & -PAGE, end_of = ((uintptr_t)p + bytes) & -PAGE;

    if (p == passed)
        return false;
    for (uintptr_t at = start; at < end_of; at += STRIDE)
        *(volatile char *)at = 1;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < RANGES; i++) {
        if (!ranges[i].end) {
            ranges[i] = (struct range){start, end_of};
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    return true;
}

/* The first range of which a page is gone although nothing was seen, or NULL. */
static const struct range *find_stale(int pagemap)
{
    const struct range *stale = NULL;

    pthread_mutex_lock(&mutex);
    for (int i = 0; i < RANGES && !stale; i++) {
        const struct range *range = &ranges[i];

        for (uintptr_t at = range->start; at < range->end; at += STRIDE) {
            if (!is_there(pagemap, at))
                stale = range;
        }
    }
    pthread_mutex_unlock(&mutex);
    return stale;
}

/* The exit status of a child of fork, which frees the blocks that it inherits. */
static int free_in_child(char **blocks, int count)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0) {
        int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

        for (int i = 0; i < count; i++)
            free(blocks[i]);
        _exit(find_stale(pagemap) ? 3 : 0);
    }
    waitpid(pid, &status, 0);
    return status;
}

int registrations(void);

/* 0: no registration outlived its memory. Prints how many blocks were registered, and how many
 * registrations ended. */
int registrations(void)
{
    static const size_t sizes[] = {3 << 20, 33 << 20, 5 << 20, 20 << 20, 36 << 20, 9 << 20};
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t registered = 0;
    char *blocks[4] = {0};

    alarm(600); /* a dead-lock would otherwise hang the test */
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned at = step * 7 % 4, how = step % 5;
        size_t bytes = sizes[step * 5 % 6];

        if (how == 4 && blocks[at]) {
            blocks[at] = realloc(blocks[at], bytes);
        } else {
            free(blocks[at]);
            if (find_stale(pagemap))
                return 1;
            blocks[at] = how == 3 ? NULL : malloc(bytes);
        }
        if (find_stale(pagemap))
            return 2;
        if (blocks[at] && how != 4)
            registered += enter(blocks[at], bytes);
    }
    if (free_in_child(blocks, 4))
        return 3;
    printf("%zu %zu\n", registered, ended);
    return 0;
}
