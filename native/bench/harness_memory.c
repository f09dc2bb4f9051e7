/* SPDX-License-Identifier: Apache-2.0 */
/* Harness, memory: huge-page backed buffers whose placement in a line and a page is the caller's. */
#include "harness_internal.h"

#include "base/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define HUGE_PAGE ((size_t)2 << 20)
/*
 * Buffers follow one another in a range of addresses that begins on a multiple of this, so that the
 * low bits of all of them are the same in every run. First-level caches look lines up by a hash of
 * address bits well above the page's (on Zen up to bit 27: Lipp et al., "Take A Way", 2020), and
 * where the kernel places mappings at random, two operands collide there in some processes and not
 * in others: axpy differed by 10 %.
 */
#define RANGE_ALIGNMENT ((size_t)1 << 30)
#define RANGE_BYTES ((size_t)64 << 30)

struct bench_buffer {
    struct bench_buffer *next;
    void *mapping;
    size_t bytes;
    void *start;
};

/* Only addresses are reserved; where those are limited, buffers lie wherever the kernel puts
 * them. */
static char *reserve(void)
{
    char *range = mmap(NULL, RANGE_BYTES + RANGE_ALIGNMENT, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (range == MAP_FAILED)
        return NULL;
    return (char *)(((uintptr_t)range + RANGE_ALIGNMENT - 1) & ~(RANGE_ALIGNMENT - 1));
}

/* Maps whole huge pages, of which the first stays empty and keeps buffers apart. */
static void *map(struct bench *bench, size_t whole)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *at = NULL;

    if (bench->range == NULL && !bench->range_tried)
        bench->range = reserve();
    bench->range_tried = true;
    if (bench->range && whole <= RANGE_BYTES - bench->range_used) {
        at = bench->range + bench->range_used;
        flags |= MAP_FIXED;
        bench->range_used += whole;
    }
    return mmap(at, whole, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void *bench_buffer(struct bench *bench, size_t bytes, size_t offset)
{
    struct bench_buffer *buffer = calloc(1, sizeof(*buffer));
    size_t whole = (bytes + offset + 2 * HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *aligned;

    if (buffer == NULL)
        goto none;
    buffer->bytes = whole;
    buffer->mapping = map(bench, whole);
    if (buffer->mapping == MAP_FAILED)
        goto none;
    /* Refused where the kernel has no huge pages: the buffer is then of small ones. */
    madvise(buffer->mapping, whole, MADV_HUGEPAGE);
    aligned = (char *)(((uintptr_t)buffer->mapping + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
    for (size_t i = 0; i < bytes + offset; i += 4096)
        ((volatile char *)aligned)[i] = 0;
    buffer->start = aligned + offset;
    buffer->next = bench->buffers;
    bench->buffers = buffer;
    return buffer->start;
none:
    okosu_message("no memory for a buffer", strerror(errno), "measure smaller sizes: --sizes=N");
    free(buffer);
    return NULL;
}

void bench_buffer_drop(struct bench *bench, void *start)
{
    struct bench_buffer **at = &bench->buffers;

    while (*at && (*at)->start != start)
        at = &(*at)->next;
    if (*at) {
        struct bench_buffer *buffer = *at;

        *at = buffer->next;
        munmap(buffer->mapping, buffer->bytes);
        free(buffer);
    }
}

void bench_buffers_free(struct bench *bench)
{
    while (bench->buffers)
        bench_buffer_drop(bench, bench->buffers->start);
}

#if defined(__x86_64__)
/* Bit 23 of leaf 7 (Intel's SDM volume 2, CPUID). */
static bool has_clflushopt(void)
{
    unsigned a, b = 0, c, d;

    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & 1u << 23);
}
#endif

void bench_make_cold(const void *p, size_t bytes)
{
    const char *at = (const char *)((uintptr_t)p & ~(uintptr_t)63);
    const char *end = (const char *)p + bytes;

#if defined(__x86_64__)
    static int optimised = -1;

    if (optimised < 0)
        optimised = has_clflushopt();
    /* On Intel's processors clflush waits for the one before it (SDM volume 2, CLFLUSH). */
    for (; optimised && at < end; at += 64)
        __asm__ volatile("clflushopt %0" : : "m"(*at) : "memory");
    for (; at < end; at += 64)
        __asm__ volatile("clflush %0" : : "m"(*at) : "memory");
    __asm__ volatile("mfence" : : : "memory");
#elif defined(__aarch64__)
    for (; at < end; at += 64)
        __asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
    __asm__ volatile("dsb ish" : : : "memory");
#else
#error "no way to empty the caches is known here"
#endif
}
