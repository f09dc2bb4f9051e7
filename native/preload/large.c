/* SPDX-License-Identifier: Apache-2.0 */
/* The region of large blocks (see large.h); commit.c manages the memory in it. */
#include "large.h"

#include "commit.h"
#include "config.h"
#include "evidence.h"
#include "lock.h"

#include <sys/mman.h>

#define REGION_BYTES ((size_t)1 << 40)
#define REGION_LEAST ((size_t)64 << 20)
#define ALWAYS_KEPT ((size_t)32 << 20)
#define RESERVED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

_Atomic uintptr_t okosu_large_base;
atomic_size_t okosu_large_span;

static struct {
    struct okosu_lock lock;
    struct okosu_runs runs;
    struct okosu_span span;
    bool tried;
    size_t live, kept, peak; /* chunks */
    size_t keep_limit;       /* chunks that may be kept without OKOSU_RETAIN */
    unsigned turn;           /* blocks given out, for the rotation of offsets */
} region;

/* The kernel looks for room from the top down, or (legacy layout) from a third of the address space
 * up, and programs lie near both ends; between 5/32 and 7/32 it places only what asks for that
 * place. */
static uintptr_t choose_place(size_t bytes, unsigned attempt)
{
    uintptr_t unit = okosu_sys.address_top() / 32;
    uintptr_t spread = unit > bytes ? (2 * unit - bytes) / OKOSU_CHUNK : 1;

    return unit * 5 + okosu_sys.random(attempt) % spread * OKOSU_CHUNK;
}

static bool reserve_at(uintptr_t place, size_t bytes)
{
    size_t count = bytes / OKOSU_CHUNK, table = count * sizeof(struct okosu_chunk);
    intptr_t at, chunks;

    place &= ~(OKOSU_CHUNK - 1);
    at = okosu_sys.map((void *)place, bytes, PROT_NONE, RESERVED);
    if (okosu_sys_failed(at))
        return false;
    if ((uintptr_t)at != place) {
        okosu_sys.unmap((void *)at, bytes);
        return false;
    }
    chunks = okosu_sys.map(NULL, table, PROT_READ | PROT_WRITE, RESERVED);
    if (okosu_sys_failed(chunks)) {
        okosu_sys.unmap((void *)at, bytes);
        return false;
    }
    region.span.base = (char *)at;
    region.span.chunks = (struct okosu_chunk *)chunks;
    okosu_runs_start(&region.runs, region.span.chunks, (uint32_t)count, place / OKOSU_CHUNK);
    atomic_store_explicit(&okosu_large_base, place, memory_order_relaxed);
    atomic_store_explicit(&okosu_large_span, bytes, memory_order_release);
    return true;
}

/* The region is reserved at the first large request, so that programs without one keep their usual
 * address space. Under an RLIMIT_AS the region takes at most a quarter, because the rest of the
 * program needs room too. */
static bool is_reserved(void)
{
    size_t bytes, limit;
    unsigned attempt;

    if (region.tried)
        return region.span.base != NULL;
    region.tried = true;
    bytes = okosu_sys.address_top() / 32;
    limit = okosu_sys.address_limit() / 4;
    if (bytes > REGION_BYTES)
        bytes = REGION_BYTES;
    if (bytes > limit)
        bytes = limit;
    for (; bytes >= REGION_LEAST; bytes /= 2) {
        bytes &= ~(OKOSU_CHUNK - 1);
        for (attempt = 0; attempt < 4; attempt++) {
            if (reserve_at(choose_place(bytes, attempt), bytes))
                return true;
        }
    }
    okosu_reason_add(OKOSU_WHY_NO_REGION);
    return false;
}

void okosu_large_begin(void)
{
    okosu_lock_take(&region.lock);
    is_reserved();
    okosu_lock_release(&region.lock);
}

/* Returns kept runs until used and kept runs together are at most `most` chunks. */
static void trim_kept(size_t most)
{
    while (region.kept && region.live + region.kept > most) {
        uint32_t first = okosu_runs_take_kept(&region.runs);
        uint32_t length = region.span.chunks[first].length;

        region.kept -= length;
        okosu_discard(&region.span, first, length);
        okosu_runs_put(&region.runs, first, OKOSU_RUN_CLEAN);
    }
}

static void count_live(size_t chunks)
{
    region.live += chunks;
    if (region.live > region.peak)
        region.peak = region.live;
    trim_kept(region.peak);
}

/* Equal-sized arrays that all began at the same offset would compete for the same cache sets. So
 * the starting line rotates through a page in steps of 39 of 64 (neighbours far apart, all 64
 * visited), and the starting page through eight where the last chunk has room for that anyway. */
static uint32_t choose_offset(size_t size, size_t align)
{
    unsigned turn = region.turn++;
    size_t line = turn * 39 % 64 * 64, page = turn % 8 * OKOSU_PAGE;

    if (okosu_span_chunks(size + line + page) > okosu_span_chunks(size + line))
        page = 0;
    return (uint32_t)((line + page) & ~(align - 1));
}

/* Takes a run out of the kept ones: one that is long enough, or one that clean address space behind
 * it makes long enough. */
static uint32_t take_kept_run(uint32_t length, uint32_t align)
{
    uint32_t first = okosu_runs_take(&region.runs, OKOSU_RUN_KEPT, length, align), kept = length;

    if (first == OKOSU_RUNS_NONE && align == 1) {
        kept = okosu_runs_take_joined(&region.runs, length, &first);
        if (!kept)
            return OKOSU_RUNS_NONE;
    }
    if (first != OKOSU_RUNS_NONE) {
        region.kept -= kept;
        okosu_count(&okosu_counters.retained_hits, 1);
    }
    return first;
}

static uint32_t take_run(uint32_t length, uint32_t align, bool *fresh)
{
    uint32_t first = region.kept ? take_kept_run(length, align) : OKOSU_RUNS_NONE;

    *fresh = first == OKOSU_RUNS_NONE;
    if (*fresh)
        first = okosu_runs_take(&region.runs, OKOSU_RUN_CLEAN, length, align);
    if (first == OKOSU_RUNS_NONE)
        okosu_reason_add(OKOSU_WHY_REGION_FULL);
    else
        count_live(length);
    return first;
}

/* Call with the lock held, for a run that the caller owns: it becomes clean address space again. */
static void put_clean(uint32_t first)
{
    region.live -= region.span.chunks[first].length;
    okosu_runs_put(&region.runs, first, OKOSU_RUN_CLEAN);
}

static void discard_and_put(uint32_t first)
{
    okosu_discard(&region.span, first, region.span.chunks[first].length);
    okosu_lock_take(&region.lock);
    put_clean(first);
    okosu_lock_release(&region.lock);
}

void *okosu_large_alloc(size_t size, size_t align, bool *zeroed)
{
    uint32_t first = OKOSU_RUNS_NONE, offset = 0;
    struct okosu_chunk *c;

    okosu_lock_take(&region.lock);
    if (is_reserved() && size < (size_t)region.runs.count * OKOSU_CHUNK &&
        align / OKOSU_CHUNK < region.runs.count) {
        offset = choose_offset(size, align);
        first = take_run(okosu_span_chunks(offset + size),
                         align > OKOSU_CHUNK ? (uint32_t)(align / OKOSU_CHUNK) : 1, zeroed);
    }
    okosu_lock_release(&region.lock);
    if (first == OKOSU_RUNS_NONE)
        return NULL;
    if (okosu_commit(&region.span, first, 0, offset + size, *zeroed)) {
        discard_and_put(first);
        return NULL;
    }
    c = &region.span.chunks[first];
    c->offset = offset;
    c->size = size;
    okosu_count(&okosu_counters.blocks, 1);
    return okosu_span_at(&region.span, first) + offset;
}

/* The first chunk of the block at p, or OKOSU_RUNS_NONE. */
static uint32_t block_of(const void *p)
{
    size_t at = (size_t)((const char *)p - region.span.base);
    uint32_t first = (uint32_t)(at / OKOSU_CHUNK);
    const struct okosu_chunk *c = &region.span.chunks[first];

    /* The last chunk of a run is USED too: only the first one carries the offset of a block. */
    if (c->state != OKOSU_RUN_USED || c->offset != at % OKOSU_CHUNK || !c->size)
        return OKOSU_RUNS_NONE;
    return first;
}

/* Whether a freed run is kept. Without OKOSU_RETAIN the rule is glibc's: after freeing a block of
 * up to 32 MiB, glibc takes blocks of that size from its heap, and keeps twice as much there. A
 * program that allocates and frees such a block in a loop then never faults; returning its memory
 * to the kernel here made that loop five times slower than without us (8 MiB: 210 us a turn, 1.5 ms
 * with huge pages). */
static bool is_kept(size_t length)
{
    if (okosu_config.retain)
        return true;
    if (okosu_config.tier == OKOSU_TIER_NONE || length > ALWAYS_KEPT / OKOSU_CHUNK + 1)
        return false;
    if (2 * length > region.keep_limit)
        region.keep_limit = 2 * length;
    return region.kept + length <= region.keep_limit;
}

void okosu_large_changed(uintptr_t start, size_t length)
{
    size_t span = atomic_load_explicit(&okosu_large_span, memory_order_acquire), last, at;

    /* A range that begins below the region is cut to it, for it may be munmap's of much more. */
    if (!length || !span)
        return;
    at = start - (uintptr_t)region.span.base;
    if (at >= span) {
        if (-at >= length)
            return;
        length -= -at;
        at = 0;
    }
    last = length > span - at ? span - 1 : at + length - 1;
    for (at /= OKOSU_CHUNK; at <= last / OKOSU_CHUNK; at++)
        region.span.chunks[at].changed = true;
}

/* Whether the memory of a run that is being freed may be other than ours. */
static bool is_changed(uint32_t first)
{
    const struct okosu_chunk *c = &region.span.chunks[first];
    uint32_t i, length = c->length;

    for (i = 0; i < length; i++) {
        if (c[i].changed)
            return true;
    }
    return length > ALWAYS_KEPT / OKOSU_CHUNK && !okosu_is_plain(&region.span, first, length);
}

void okosu_large_free(void *p)
{
    uint32_t first;
    bool keep;

    okosu_lock_take(&region.lock);
    first = block_of(p);
    if (first == OKOSU_RUNS_NONE) {
        okosu_lock_release(&region.lock);
        okosu_reason_add(OKOSU_WHY_BAD_FREE);
        return;
    }
    region.span.chunks[first].state = OKOSU_RUN_LEAVING;
    region.span.chunks[first].size = 0;
    keep = is_kept(region.span.chunks[first].length);
    if (keep && is_changed(first)) {
        okosu_reason_add(OKOSU_WHY_CHANGED);
        keep = false;
    }
    if (keep) {
        region.live -= region.span.chunks[first].length;
        region.kept += region.span.chunks[first].length;
        okosu_runs_put(&region.runs, first, OKOSU_RUN_KEPT);
    }
    okosu_lock_release(&region.lock);
    if (!keep)
        discard_and_put(first);
}

/* Shortens the run to `length` chunks and gives the rest back. */
static void cut_run(uint32_t first, uint32_t length)
{
    uint32_t rest;

    okosu_lock_take(&region.lock);
    rest = okosu_runs_split(&region.runs, first, length);
    okosu_lock_release(&region.lock);
    discard_and_put(rest);
}

static bool extend_run(uint32_t first, uint32_t length)
{
    uint32_t old = region.span.chunks[first].length;
    bool extended;

    okosu_lock_take(&region.lock);
    extended = okosu_runs_extend(&region.runs, first, length);
    if (extended)
        count_live(length - old);
    okosu_lock_release(&region.lock);
    return extended;
}

static void *move_block(uint32_t from, size_t size)
{
    struct okosu_chunk *a = &region.span.chunks[from], *b;
    size_t bytes = a->offset + size;
    uint32_t to;

    okosu_lock_take(&region.lock);
    to = okosu_runs_take(&region.runs, OKOSU_RUN_CLEAN, okosu_span_chunks(bytes), 1);
    if (to != OKOSU_RUNS_NONE)
        count_live(okosu_span_chunks(bytes));
    okosu_lock_release(&region.lock);
    if (to == OKOSU_RUNS_NONE) {
        okosu_reason_add(OKOSU_WHY_REGION_FULL);
        return NULL;
    }
    /* Of a block that was changed the contents are moved, and not the mappings. */
    if (is_changed(from))
        okosu_large_changed((uintptr_t)okosu_span_at(&region.span, from), a->length * OKOSU_CHUNK);
    if (okosu_commit_moved(&region.span, from, to, a->length, bytes)) {
        discard_and_put(to);
        return NULL;
    }
    b = &region.span.chunks[to];
    b->offset = a->offset;
    b->size = size;
    a->size = 0;
    discard_and_put(from);
    return okosu_span_at(&region.span, to) + b->offset;
}

void *okosu_large_resize(void *p, size_t size)
{
    uint32_t first = block_of(p), old, need;
    struct okosu_chunk *c;

    if (first == OKOSU_RUNS_NONE) {
        okosu_reason_add(OKOSU_WHY_BAD_FREE);
        return NULL;
    }
    if (size >= (size_t)region.runs.count * OKOSU_CHUNK)
        return NULL;
    c = &region.span.chunks[first];
    old = c->length;
    need = okosu_span_chunks(c->offset + size);
    if (need < old)
        cut_run(first, need);
    if (need > old && !extend_run(first, need))
        return move_block(first, size);
    if (need >= old && okosu_commit(&region.span, first, old - 1, c->offset + size, false)) {
        if (need > old)
            cut_run(first, old);
        return NULL;
    }
    c->size = size;
    return p;
}

size_t okosu_large_usable(const void *p)
{
    uint32_t first = block_of(p);
    const struct okosu_chunk *c;

    if (first == OKOSU_RUNS_NONE)
        return 0;
    c = &region.span.chunks[first];
    return (c->length - 1) * OKOSU_CHUNK + c[c->length - 1].pages * OKOSU_PAGE - c->offset;
}

bool okosu_large_trim(void)
{
    bool freed;

    okosu_lock_take(&region.lock);
    freed = region.kept > 0;
    trim_kept(0);
    okosu_lock_release(&region.lock);
    return freed;
}

bool okosu_large_relieve(void)
{
    size_t before, after;
    bool freed;

    okosu_lock_take(&region.lock);
    before = after = (size_t)region.runs.count * OKOSU_CHUNK;
    freed = okosu_large_trim();
    if (region.span.base && okosu_sys.address_limit() != SIZE_MAX) {
        after = (size_t)okosu_runs_cut(&region.runs) * OKOSU_CHUNK;
        atomic_store_explicit(&okosu_large_span, after, memory_order_release);
    }
    if (after < before) {
        okosu_sys.unmap(region.span.base + after, before - after);
        okosu_reason_add(OKOSU_WHY_REGION_CUT);
        freed = true;
    }
    okosu_lock_release(&region.lock);
    return freed;
}

void okosu_large_prefork(void)
{
    okosu_lock_take(&region.lock);
}

/* A kept hugetlb page is shared with the parent after a fork; writing to it could fail with SIGBUS
 * in a child that finds the pool empty, so the child keeps nothing. */
void okosu_large_postfork(bool in_child)
{
    if (in_child && okosu_config.tier == OKOSU_TIER_HUGETLB)
        trim_kept(0);
    okosu_lock_release(&region.lock);
}
