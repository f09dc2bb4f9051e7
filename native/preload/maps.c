/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned and advised mappings (see maps.h). */
#include "maps.h"

#include "evidence.h"
#include "large.h"
#include "lock.h"
#include "policy.h"
#include "sys.h"

#include <linux/mman.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/shm.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define KNOWN_FLAGS                                                                                \
    (MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_NONBLOCK | MAP_NORESERVE | MAP_FIXED |       \
     MAP_FIXED_NOREPLACE)
#define SHARED_FLAGS                                                                               \
    (MAP_TYPE | MAP_ANONYMOUS | MAP_NONBLOCK | MAP_NORESERVE | MAP_FIXED | MAP_FIXED_NOREPLACE)
#define MAPS_MAX 1024

struct advised_map {
    uintptr_t start, end;
    size_t chunks;
};

static struct okosu_lock lock;
static struct advised_map maps[MAPS_MAX];
static unsigned maps_used;         /* entries from here on are free */
static _Atomic unsigned maps_live; /* what lets munmap skip the lock */

/* Executable memory is left alone, because the levers are not meant for a code generator's pages;
 * stacks are recognised by the other flags, and address space for later by its protection. */
bool okosu_maps_wants(size_t length, int prot, int flags, long offset)
{
    return !offset && length >= OKOSU_CHUNK && length <= PTRDIFF_MAX - 2 * OKOSU_CHUNK &&
           prot == (PROT_READ | PROT_WRITE) && !(flags & ~KNOWN_FLAGS) &&
           (flags & (MAP_PRIVATE | MAP_ANONYMOUS)) == (MAP_PRIVATE | MAP_ANONYMOUS);
}

static uintptr_t round_up(uintptr_t at)
{
    return (at + OKOSU_CHUNK - 1) & ~(OKOSU_CHUNK - 1);
}

/* Kernels before 6.7 do not align; then a longer mapping is made and trimmed. The first mapping is
 * kept until that has worked, so that the call cannot fail where mmap would not have. */
intptr_t okosu_maps_aligned(size_t length, int prot, int flags)
{
    intptr_t plain = okosu_sys.map(NULL, length, prot, flags), longer;
    uintptr_t start;

    if (okosu_sys_failed(plain) || plain % (intptr_t)OKOSU_CHUNK == 0)
        return plain;
    longer = okosu_sys.map(NULL, length + OKOSU_CHUNK, prot, flags);
    if (okosu_sys_failed(longer)) {
        okosu_reason_add(OKOSU_WHY_MAP_UNALIGNED);
        return plain;
    }
    start = round_up((uintptr_t)longer);
    if (start > (uintptr_t)longer)
        okosu_sys.unmap((void *)longer, start - (uintptr_t)longer);
    okosu_sys.unmap((void *)(start + length), (uintptr_t)longer + OKOSU_CHUNK - start);
    okosu_sys.unmap((void *)plain, length);
    return (intptr_t)start;
}

/* Finds room for one more entry; entries with no chunks are free. The lock is held. */
static struct advised_map *free_entry(void)
{
    unsigned i;

    for (i = 0; i < maps_used; i++) {
        if (!maps[i].chunks)
            return &maps[i];
    }
    return maps_used < MAPS_MAX ? &maps[maps_used++] : NULL;
}

static void forget_entry(struct advised_map *m)
{
    okosu_policy_return(m->chunks);
    m->chunks = 0;
    atomic_fetch_sub(&maps_live, 1);
    while (maps_used && !maps[maps_used - 1].chunks)
        maps_used--;
}

/* What is left of an entry without [start, end), which covers one of its ends. */
static void cut_entry(struct advised_map *m, uintptr_t start, uintptr_t end)
{
    uintptr_t first = round_up(m->start), last = first + m->chunks * OKOSU_CHUNK;
    size_t left;

    if (start <= m->start)
        m->start = end;
    else
        m->end = start;
    if (round_up(m->start) > first)
        first = round_up(m->start);
    if (m->end < last)
        last = m->end;
    left = last > first ? (last - first) / OKOSU_CHUNK : 0;
    if (!left) {
        forget_entry(m);
        return;
    }
    okosu_policy_return(m->chunks - left);
    m->chunks = left;
}

/* Drops [start, end), but for a hole inside an entry. The lock is held. */
static void forget_range(uintptr_t start, uintptr_t end)
{
    unsigned i;

    for (i = 0; i < maps_used; i++) {
        struct advised_map *m = &maps[i];

        if (!m->chunks || m->end <= start || m->start >= end)
            continue;
        if (start <= m->start && end >= m->end)
            forget_entry(m);
        else if (start <= m->start || end >= m->end)
            cut_entry(m, start, end);
    }
}

static bool remember(uintptr_t start, size_t length, size_t chunks)
{
    struct advised_map *m = NULL;

    /* A signal handler that maps memory while this thread holds the lock gets a plain mapping. */
    if (okosu_lock_is_mine(&lock))
        return false;
    okosu_lock_take(&lock);
    /* These addresses may have been returned unseen, by munmap of a piece or by mremap, and are now
     * used again. */
    forget_range(start, start + length);
    m = free_entry();
    if (m) {
        *m = (struct advised_map){start, start + length, chunks};
        atomic_fetch_add(&maps_live, 1);
    }
    okosu_lock_release(&lock);
    return m != NULL;
}

static void advise(uintptr_t start, size_t length)
{
    uintptr_t inner = round_up(start);
    size_t wanted = inner < start + length ? (start + length - inner) / OKOSU_CHUNK : 0;
    size_t chunks = okosu_policy_grant(wanted, OKOSU_KIND_THP);

    if (!chunks)
        return;
    if (chunks < wanted) {
        okosu_reason_add(OKOSU_WHY_RESERVATION);
        okosu_policy_return(chunks);
        return;
    }
    if (!remember(start, length, chunks)) {
        okosu_reason_add(OKOSU_WHY_MAP_TABLE);
        okosu_policy_return(chunks);
        return;
    }
    if (okosu_sys.advise((void *)start, length, MADV_HUGEPAGE)) {
        okosu_reason_add(OKOSU_WHY_ADVICE_FAILED);
        okosu_maps_forget((void *)start, length);
        return;
    }
    okosu_evidence_advised(chunks * OKOSU_CHUNK);
    okosu_count(&okosu_counters.mmaps, 1);
}

/* What a block holds is charged to the budget with the block. */
static bool touches_blocks(uintptr_t start, size_t length)
{
    return okosu_large_owns((void *)start) || okosu_large_owns((void *)(start + length - 1));
}

long okosu_maps_map(void *hint, size_t length, int prot, int flags)
{
    size_t rounded = (length + OKOSU_PAGE - 1) & ~(OKOSU_PAGE - 1);
    int plain = flags & ~(MAP_POPULATE | MAP_NONBLOCK);
    intptr_t start = hint || flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)
                         ? okosu_sys.map(hint, rounded, prot, plain)
                         : okosu_maps_aligned(rounded, prot, plain);

    if (okosu_sys_failed(start))
        return start;
    if (!touches_blocks((uintptr_t)start, rounded))
        advise((uintptr_t)start, rounded);
    /* Populate only after the advice, or the pages would be small. Like MAP_POPULATE, it may fail
     * silently. */
    if ((flags & (MAP_POPULATE | MAP_NONBLOCK)) == MAP_POPULATE)
        okosu_sys.advise((void *)start, rounded, MADV_POPULATE_WRITE);
    return start;
}

bool okosu_maps_wants_shared(size_t length, int prot, int flags)
{
    int type = flags & MAP_TYPE;

    return okosu_config.tier == OKOSU_TIER_SHARED && length >= OKOSU_CHUNK &&
           length <= PTRDIFF_MAX && prot == (PROT_READ | PROT_WRITE) && !(flags & ~SHARED_FLAGS) &&
           (type == MAP_SHARED || type == MAP_SHARED_VALIDATE);
}

bool okosu_maps_wants_segment(int flags)
{
    return okosu_config.tier == OKOSU_TIER_SHARED && !okosu_config.filtered &&
           !(flags & (SHM_RDONLY | SHM_EXEC));
}

void okosu_maps_shared(void *start, size_t length, int flags, int fd, long offset)
{
    uintptr_t from = flags & MAP_ANONYMOUS ? 0 : (uintptr_t)offset;

    /* What a file is could only be asked by a call that a filter may forbid. */
    if (!(flags & MAP_ANONYMOUS) && (okosu_config.filtered || !okosu_sys.is_memory(fd)))
        return;
    /* Huge pages of a file lie at its multiples of 2 MiB. */
    if (((uintptr_t)start - from) % OKOSU_CHUNK) {
        okosu_reason_add(OKOSU_WHY_MAP_UNALIGNED);
        return;
    }
    length = (length + OKOSU_PAGE - 1) & ~(OKOSU_PAGE - 1);
    if (!touches_blocks((uintptr_t)start, length))
        advise((uintptr_t)start, length);
}

void okosu_maps_forget(const void *start, size_t length)
{
    if (!atomic_load_explicit(&maps_live, memory_order_relaxed) || okosu_lock_is_mine(&lock))
        return;
    okosu_lock_take(&lock);
    forget_range((uintptr_t)start,
                 (uintptr_t)start + ((length + OKOSU_PAGE - 1) & ~(OKOSU_PAGE - 1)));
    okosu_lock_release(&lock);
}

void okosu_maps_detach(const void *start)
{
    unsigned i;

    if (!atomic_load_explicit(&maps_live, memory_order_relaxed) || okosu_lock_is_mine(&lock))
        return;
    okosu_lock_take(&lock);
    for (i = 0; i < maps_used; i++) {
        if (maps[i].chunks && maps[i].start == (uintptr_t)start) {
            forget_entry(&maps[i]);
            break;
        }
    }
    okosu_lock_release(&lock);
}

void okosu_maps_prefork(void)
{
    okosu_lock_take(&lock);
}

void okosu_maps_postfork(void)
{
    okosu_lock_release(&lock);
}
