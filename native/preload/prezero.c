/* SPDX-License-Identifier: Apache-2.0 */
/* The pool behind libokosu-prezero.so (see prezero.h): when it is made, and how much it keeps. */
#include "prezero.h"

#include <okosu/zero.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define UNIT OKOSU_PREZERO_MIN

enum kind { NOBODY, MALLOC, MMAP, HOLED };

/* Of the first unit of a block; its holder's. */
struct block {
    size_t asked, dirty; /* bytes; dirty: from the block's start, the most that it ever held */
    uint32_t offset;     /* of the program's pointer */
    uint8_t kind;
};

_Atomic uintptr_t okosu_prezero_base;
atomic_size_t okosu_prezero_span;

static struct okosu_zero_pool *pool;
static struct block *blocks;
static atomic_bool begun;
static atomic_size_t held, wanted; /* bytes; wanted: what the pool was told to keep ready */
static atomic_uint turn;

/* Half of what is available, and of the address space at most a quarter. 0: not known. */
static size_t choose_cap(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    struct rlimit limit;
    char line[128];
    size_t kb = 0, cap;

    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "MemAvailable: %zu", &kb) == 1)
            break;
    if (file)
        fclose(file);
    cap = kb / 2 << 10;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY &&
        cap > limit.rlim_cur / 4)
        cap = limit.rlim_cur / 4;
    return cap & ~(UNIT - 1);
}

/* At the first large request: programs without one have no thread and no pool. What this allocates
 * itself goes to the next allocator, for `begun` is set. */
static void begin(void)
{
    struct okosu_zero_pool_options options = {.cap = choose_cap(), .backing = OKOSU_POOL_THP};
    int saved = errno;
    void *base;

    if (options.cap < UNIT)
        goto out;
    blocks = mmap(NULL, options.cap / UNIT * sizeof(*blocks), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (blocks == MAP_FAILED || okosu_zero_pool_open(&pool, &options))
        goto out;
    base = okosu_zero_pool_base(pool);
    atomic_store_explicit(&okosu_prezero_base, (uintptr_t)base, memory_order_relaxed);
    atomic_store_explicit(&okosu_prezero_span, options.cap, memory_order_release);
out:
    errno = saved;
}

/* The pool keeps ready as much as the largest request, or half of what was ever held at once, and a
 * quarter more, so that it need not be told of every small growth: that takes a lock. */
static void want(size_t bytes)
{
    size_t most = atomic_load(&held) / 2, now = atomic_load(&wanted);

    if (most < bytes)
        most = bytes;
    if (most <= now || !atomic_compare_exchange_strong(&wanted, &now, most + most / 4))
        return;
    okosu_zero_pool_want(pool, most + most / 4);
}

/* What is not clean yet is cleared here where it must be: that costs less than the kernel's faults
 * and clearing. */
static struct block *take(size_t bytes, bool zero, char **start, size_t *dirty)
{
    struct block *block;
    size_t cleared;

    *dirty = 0;

    if (!atomic_exchange(&begun, true))
        begin();
    if (!atomic_load_explicit(&okosu_prezero_span, memory_order_acquire))
        return NULL;
    want(bytes);
    *start = okosu_zero_pool_take(pool, bytes);
    if (!*start)
        *start = okosu_zero_pool_take_any(pool, bytes, dirty);
    if (!*start)
        return NULL;
    cleared = *dirty < bytes ? *dirty : bytes;
    if (zero && cleared) {
        okosu_zero_far(*start, cleared);
        *dirty = *dirty > bytes ? *dirty : 0;
    }
    atomic_fetch_add(&held, okosu_zero_pool_size(pool, *start));
    block = &blocks[((uintptr_t)*start - atomic_load(&okosu_prezero_base)) / UNIT];
    return block;
}

/* Equal arrays that all began at the same offset would meet in the same cache sets: lines rotate
 * through a page in steps of 39 of 64, so that neighbours are far apart and all are visited. */
static uint32_t choose_offset(size_t size, size_t align)
{
    uint32_t offset = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) * 39 % 64 * 64;

    offset &= ~((uint32_t)(align < PAGE ? align : PAGE) - 1);
    /* A unit more only to be placed well is not worth it. */
    return size % UNIT && size % UNIT + offset <= UNIT ? offset : 0;
}

void *okosu_prezero_alloc(size_t size, size_t align, bool zero)
{
    uint32_t offset = choose_offset(size, align);
    struct block *block;
    size_t dirty;
    char *start;

    if (align > UNIT || size > SIZE_MAX / 2)
        return NULL;
    block = take(size + offset, zero, &start, &dirty);
    if (!block)
        return NULL;
    *block = (struct block){.asked = size,
                            .dirty = dirty > offset + size ? dirty : offset + size,
                            .offset = offset,
                            .kind = MALLOC};
    return start + offset;
}

/* The block whose first unit this address lies in, or NULL. */
static struct block *block_at(const void *p, char **start)
{
    uintptr_t base = atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed);
    size_t index = ((uintptr_t)p - base) / UNIT;

    *start = (char *)base + index * UNIT;
    return okosu_zero_pool_size(pool, *start) ? &blocks[index] : NULL;
}

static struct block *of_malloc(const void *p, char **start)
{
    struct block *block = block_at(p, start);

    return block && block->kind == MALLOC && (const char *)p == *start + block->offset ? block
                                                                                       : NULL;
}

void okosu_prezero_free(void *p)
{
    char *start;
    struct block *block = of_malloc(p, &start);
    size_t dirty;

    /* Not a block: ignored, where libc would end the program. */
    if (!block)
        return;
    dirty = block->dirty;
    block->kind = NOBODY;
    atomic_fetch_sub(&held, okosu_zero_pool_size(pool, start));
    okosu_zero_pool_give(pool, start, dirty);
}

bool okosu_prezero_resize(void *p, size_t size)
{
    char *start;
    struct block *block = of_malloc(p, &start);
    size_t room;

    if (!block || size < UNIT / 2)
        return false;
    room = okosu_zero_pool_size(pool, start) - block->offset;
    if (size > room)
        return false;
    block->asked = size;
    if (block->dirty < block->offset + size)
        block->dirty = block->offset + size;
    return true;
}

size_t okosu_prezero_usable(const void *p)
{
    char *start;
    const struct block *block = of_malloc(p, &start);

    return block ? block->asked : 0;
}

void *okosu_prezero_map(size_t length)
{
    struct block *block;
    size_t dirty;
    char *start;

    block = take(length, true, &start, &dirty);
    if (!block)
        return NULL;
    *block = (struct block){.asked = (length + PAGE - 1) & ~(PAGE - 1), .kind = MMAP};
    return start;
}

/* Any block of mmap's that the range meets without covering it. */
static void mark_holes(uintptr_t from, uintptr_t to)
{
    uintptr_t base = atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed);
    size_t span = atomic_load(&okosu_prezero_span);

    for (uintptr_t at = base; at < to && at < base + span; at += UNIT) {
        char *start = (char *)at;
        size_t bytes = okosu_zero_pool_size(pool, start);

        if (bytes && at + bytes > from && blocks[(at - base) / UNIT].kind == MMAP)
            blocks[(at - base) / UNIT].kind = HOLED;
    }
}

bool okosu_prezero_unmap(void *p, size_t length)
{
    char *start;
    struct block *block = block_at(p, &start);

    length = (length + PAGE - 1) & ~(PAGE - 1);
    if (block && block->kind == MMAP && start == (char *)p && length >= block->asked &&
        length <= okosu_zero_pool_size(pool, start)) {
        size_t bytes = okosu_zero_pool_size(pool, start);

        block->kind = NOBODY;
        if (okosu_zero_pool_renew(pool, start) == 0) {
            atomic_fetch_sub(&held, bytes);
            return true;
        }
        block->kind = HOLED;
        return false;
    }
    mark_holes((uintptr_t)p, (uintptr_t)p + length);
    return false;
}
