/* SPDX-License-Identifier: Apache-2.0 */
/* Regions of small anonymous mappings (see small_maps.h). */
#include "small_maps.h"

#include "config.h"
#include "evidence.h"
#include "lock.h"
#include "maps.h"
#include "policy.h"
#include "sys.h"

#include <linux/mman.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#define FIRST_REGION ((size_t)8 << 20)
#define LARGEST_REGION ((size_t)32 << 20)
#define REGIONS_MAX 256

/* Pieces are cut from [at, end); [start, at) was handed out, `gone` bytes of which are unmapped. */
struct region {
    uintptr_t start, at, end;
    size_t gone, chunks;
};

static struct okosu_lock lock;
static struct region regions[REGIONS_MAX]; /* those with no chunks are free */
static struct region *current;
static size_t next_length = FIRST_REGION;
static _Atomic unsigned live; /* what lets munmap skip the lock */

static size_t whole_pages(size_t length)
{
    return (length + OKOSU_PAGE - 1) & ~(OKOSU_PAGE - 1);
}

bool okosu_small_wants(const void *hint, size_t length, int prot, int flags, long offset)
{
    return !hint && !offset && length >= OKOSU_SMALL_MIN && length < OKOSU_CHUNK &&
           prot == (PROT_READ | PROT_WRITE) && flags == (MAP_PRIVATE | MAP_ANONYMOUS);
}

static void drop_if_gone(struct region *r)
{
    if (r == current || !r->chunks || r->gone < r->at - r->start)
        return;
    okosu_policy_return(r->chunks);
    r->chunks = 0;
    atomic_fetch_sub(&live, 1);
}

static bool unmap_rest(struct region *r)
{
    bool any = r->end > r->at && !okosu_sys.unmap((void *)r->at, r->end - r->at);

    r->end = r->at;
    return any;
}

static struct region *free_region(void)
{
    for (unsigned i = 0; i < REGIONS_MAX; i++) {
        if (!regions[i].chunks)
            return &regions[i];
    }
    okosu_reason_add(OKOSU_WHY_MAP_TABLE);
    return NULL;
}

static intptr_t map_advised(size_t length)
{
    intptr_t start =
        okosu_maps_aligned(length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);

    if (okosu_sys_failed(start))
        return start;
    if (!okosu_sys.advise((void *)start, length, MADV_HUGEPAGE))
        return start;
    okosu_reason_add(OKOSU_WHY_ADVICE_FAILED);
    okosu_sys.unmap((void *)start, length);
    return -1;
}

/* Makes `current` a region that is whole, or NULL. The lock is held. */
static void begin_region(void)
{
    struct region *last = current, *r;
    size_t length = next_length, granted;
    intptr_t start;

    current = NULL;
    if (last) {
        unmap_rest(last);
        drop_if_gone(last);
    }
    if (okosu_config.filtered || okosu_sys.address_limit() != SIZE_MAX)
        return;
    r = free_region();
    if (!r)
        return;
    granted = okosu_policy_grant(length / OKOSU_CHUNK, OKOSU_KIND_THP);
    start = granted * OKOSU_CHUNK == length ? map_advised(length) : -1;
    if (okosu_sys_failed(start)) {
        okosu_policy_return(granted);
        return;
    }
    *r = (struct region){(uintptr_t)start, (uintptr_t)start, (uintptr_t)start + length, 0, granted};
    atomic_fetch_add(&live, 1);
    okosu_evidence_advised(length);
    if (next_length < LARGEST_REGION)
        next_length *= 2;
    current = r;
}

void *okosu_small_map(size_t length)
{
    void *piece = NULL;

    /* A signal handler that maps memory while this thread holds the lock gets a plain mapping. */
    if (okosu_lock_is_mine(&lock))
        return NULL;
    length = whole_pages(length);
    okosu_lock_take(&lock);
    if (!current || current->end - current->at < length)
        begin_region();
    if (current) {
        piece = (void *)current->at;
        current->at += length;
    }
    okosu_lock_release(&lock);
    if (piece)
        okosu_count(&okosu_counters.mmaps, 1);
    return piece;
}

void okosu_small_forget(const void *start, size_t length)
{
    uintptr_t first = (uintptr_t)start, last = first + whole_pages(length);

    if (!atomic_load_explicit(&live, memory_order_relaxed) || okosu_lock_is_mine(&lock))
        return;
    okosu_lock_take(&lock);
    for (unsigned i = 0; i < REGIONS_MAX; i++) {
        struct region *r = &regions[i];
        uintptr_t from = first > r->start ? first : r->start, to = last < r->at ? last : r->at;

        if (!r->chunks || from >= to)
            continue;
        r->gone += to - from;
        drop_if_gone(r);
    }
    okosu_lock_release(&lock);
}

bool okosu_small_relieve(void)
{
    bool any = false;

    if (!atomic_load_explicit(&live, memory_order_relaxed) || okosu_lock_is_mine(&lock))
        return false;
    okosu_lock_take(&lock);
    if (current)
        any = unmap_rest(current);
    okosu_lock_release(&lock);
    return any;
}

void okosu_small_prefork(void)
{
    okosu_lock_take(&lock);
}

/* The child's next piece begins in a chunk of its own: the parent's last one is shared, and each
 * write to it would be copied. */
void okosu_small_postfork(bool in_child)
{
    if (in_child && current) {
        uintptr_t own = (current->at + OKOSU_CHUNK - 1) & ~(OKOSU_CHUNK - 1);

        if (own > current->end)
            own = current->end;
        if (own > current->at && !okosu_sys.unmap((void *)current->at, own - current->at)) {
            current->gone += own - current->at;
            current->at = own;
        }
    }
    okosu_lock_release(&lock);
}
