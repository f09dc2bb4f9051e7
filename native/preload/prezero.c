/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the pool (see prezero.h). */
#include "prezero.h"

#include "next.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)
#define UNIT OKOSU_PREZERO_MIN
#define WORD_BITS 64
/* How often, every millisecond, to look whether the pool still uses a unit. */
#define LOOKS 2000

enum kind { NOBODY, MALLOC, CALLOC, MMAP };

/* A block has a row for each of its units. All but `mapped` is in that of the first unit, and but
 * for the atomic members belongs to the thread that holds the block: several threads may each unmap
 * some pages of one mapping. */
struct block {
    size_t asked, dirty; /* bytes; dirty: so many first bytes may not be zero */
    uint32_t offset;     /* of the program's pointer */
    uint8_t kind;
    atomic_bool changed; /* protected, locked, or mapped over */
    /* Of a mapping: the pages that the program has not unmapped, one bit each; and how many there
     * are in the whole block, plus 1 for each call that is at work on it. */
    _Atomic uint64_t mapped[UNIT / PAGE / WORD_BITS];
    atomic_size_t uses;
};

static _Atomic(struct block *) rows;
static atomic_uint turn;

static size_t index_of(const void *p)
{
    return ((uintptr_t)p - atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed)) / UNIT;
}

/* The rows of all units, mapped with the first block. NULL: there is no memory for them. */
static struct block *all_rows(void)
{
    struct block *made, *old = atomic_load(&rows);
    size_t bytes = atomic_load(&okosu_prezero_span) / UNIT * sizeof(*made);

    if (old)
        return old;
    made = okosu_next.mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    if (atomic_compare_exchange_strong(&rows, &old, made))
        return made;
    okosu_next.munmap(made, bytes);
    return old;
}

static struct block *row_of(char *start)
{
    struct block *all = all_rows();

    if (all)
        return &all[index_of(start)];
    okosu_prezero_give(start, SIZE_MAX, false);
    return NULL;
}

/* Equal arrays that all began at the same offset would compete for the same cache sets: the
 * starting line rotates through a page in steps of 39 of 64, so that neighbours are far apart and
 * all are visited. */
static uint32_t choose_offset(size_t size, size_t align)
{
    uint32_t offset = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) * 39 % 64 * 64;

    offset &= ~((uint32_t)(align < PAGE ? align : PAGE) - 1);
    /* A better place in the cache is not worth one more unit. */
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
    start =
        okosu_prezero_take(size + offset, zero ? OKOSU_PREZERO_ZERO : OKOSU_PREZERO_ANY, &dirty);
    block = start ? row_of(start) : NULL;
    if (!block)
        return NULL;
    *block = (struct block){.asked = size,
                            .dirty = dirty > offset + size ? dirty : offset + size,
                            .offset = offset,
                            .kind = zero ? CALLOC : MALLOC};
    return start + offset;
}

/* The block of malloc's that begins at p, or NULL. */
static struct block *of_malloc(const void *p, char **start)
{
    struct block *block, *all = atomic_load(&rows);
    size_t index = index_of(p);

    *start = (char *)atomic_load(&okosu_prezero_base) + index * UNIT;
    if (!all || !okosu_prezero_size(*start))
        return NULL;
    block = &all[index];
    if (block->kind != MALLOC && block->kind != CALLOC)
        return NULL;
    return (const char *)p == *start + block->offset ? block : NULL;
}

bool okosu_prezero_is_block(const void *p)
{
    char *start;

    return of_malloc(p, &start);
}

void okosu_prezero_free(void *p)
{
    char *start;
    struct block *block = of_malloc(p, &start);
    size_t dirty;
    bool was_zero;

    if (!block)
        return;
    dirty = block->dirty;
    was_zero = block->kind == CALLOC;
    block->kind = NOBODY;
    if (block->changed)
        okosu_prezero_renew(start, was_zero);
    else
        okosu_prezero_give(start, dirty, was_zero);
}

bool okosu_prezero_resize(void *p, size_t size)
{
    char *start;
    struct block *block = of_malloc(p, &start);
    size_t room, dirty = 0;

    if (!block || size < UNIT / 2 || size > SIZE_MAX / 2)
        return false;
    room = okosu_prezero_size(start) - block->offset;
    if (size > room &&
        !okosu_prezero_extend(start, block->offset + size, block->kind == CALLOC, &dirty))
        return false;
    block->asked = size;
    if (block->dirty < dirty)
        block->dirty = dirty;
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

/* Records that the program has, or has not, mapped the pages of [from, to) in the block that begins
 * at `start`. Returns how many pages that changes. */
static size_t mark(char *start, char *from, char *to, bool is_mapped)
{
    struct block *rows_of_block = &atomic_load(&rows)[index_of(start)];
    size_t page = (size_t)(from - start) / PAGE, end = (size_t)(to - start) / PAGE, count = 0;

    while (page < end) {
        size_t bit = page % WORD_BITS, bits = WORD_BITS - bit;
        _Atomic uint64_t *word =
            &rows_of_block[page / (UNIT / PAGE)].mapped[page % (UNIT / PAGE) / WORD_BITS];
        uint64_t mask, old;

        if (bits > end - page)
            bits = end - page;
        mask = (bits < WORD_BITS ? (UINT64_C(1) << bits) - 1 : UINT64_MAX) << bit;
        old = is_mapped ? atomic_fetch_or(word, mask) : atomic_fetch_and(word, ~mask);
        count += (size_t)__builtin_popcountll(mask & (is_mapped ? ~old : old));
        page += bits;
    }
    return count;
}

void *okosu_prezero_map(size_t length)
{
    struct block *block;
    size_t dirty, bytes = (length + PAGE - 1) & ~(PAGE - 1);
    char *start = okosu_prezero_take(length, OKOSU_PREZERO_CLEAN, &dirty);

    block = start ? row_of(start) : NULL;
    if (!block)
        return NULL;
    *block = (struct block){.asked = bytes, .kind = MMAP};
    atomic_store(&block->uses, mark(start, start, start + bytes, true));
    return start;
}

/* Gives a mapping back to the pool with the last of its uses. */
static bool end_uses(struct block *block, char *start, size_t uses)
{
    if (atomic_fetch_sub(&block->uses, uses) != uses)
        return true;
    block->kind = NOBODY;
    return okosu_prezero_renew(start, true);
}

/* The part of [*at, to) that lies in one block, or that no block has: *at becomes its end. Returns
 * the row of the block, which begins at *start; NULL: there is none. */
static struct block *next_part(char **at, char *to, char **start)
{
    struct block *block = NULL, *all = atomic_load(&rows);
    char *end = (char *)atomic_load(&okosu_prezero_base) + (index_of(*at) + 1) * UNIT;

    *start = all ? okosu_prezero_block(*at) : NULL;
    if (*start) {
        block = &all[index_of(*start)];
        end = *start + okosu_prezero_size(*start);
    }
    *at = end < to ? end : to;
    return block;
}

/* What of [*from, *to) lies in the pool's addresses. */
static void clip(char **from, char **to)
{
    char *base = (char *)atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed);
    char *end = base + atomic_load(&okosu_prezero_span);

    *from = *from > base ? *from : base;
    *to = *to < end ? *to : end;
}

/* No other mapping gets these addresses, as long as something is mapped there. */
static bool make_hole(char *from, char *to)
{
    return okosu_next.mmap(from, (size_t)(to - from), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                           0) != MAP_FAILED;
}

static bool unmap_in(struct block *block, char *start, char *from, char *to)
{
    size_t pages;

    if (block->kind == NOBODY)
        return true;
    if (block->kind != MMAP) {
        block->changed = true;
        return make_hole(from, to);
    }
    atomic_fetch_add(&block->uses, 1);
    /* The whole block is mapped anew as soon as it has no use. */
    if (from > start || (size_t)(to - from) < block->asked) {
        block->changed = true;
        if (!make_hole(from, to)) {
            end_uses(block, start, 1);
            return false;
        }
    }
    pages = mark(start, from, to, false);
    return end_uses(block, start, pages + 1);
}

int okosu_prezero_unmap(void *p, size_t length)
{
    char *from = p, *to = from + ((length + PAGE - 1) & ~(PAGE - 1)), *at = from, *end = to, *start;

    clip(&at, &end);
    if ((from < at && okosu_next.munmap(from, (size_t)(at - from))) ||
        (end < to && okosu_next.munmap(end, (size_t)(to - end))))
        return -1;
    while (at < end) {
        char *part = at;
        struct block *block = next_part(&at, end, &start);

        if (block ? !unmap_in(block, start, part, at)
                  : okosu_prezero_is_stopped() && okosu_next.munmap(part, (size_t)(at - part))) {
            errno = ENOMEM;
            return -1;
        }
    }
    return 0;
}

void okosu_prezero_changed(uintptr_t first, size_t length)
{
    char *at = (char *)first, *to = at + length, *start;

    for (clip(&at, &to); at < to;) {
        struct block *block = next_part(&at, to, &start);

        if (block)
            block->changed = true;
    }
}

bool okosu_prezero_was_changed(const void *p, size_t length)
{
    char *at = (char *)p, *to = at + length, *start;
    bool was = false;

    for (clip(&at, &to); at < to;) {
        struct block *block = next_part(&at, to, &start);

        was |= !block || block->changed;
    }
    return was;
}

bool okosu_prezero_empty(void *p, size_t length)
{
    char *at = p, *to = at + ((length + PAGE - 1) & ~(PAGE - 1)), *start;

    for (clip(&at, &to); at < to;) {
        char *part = at;
        struct block *block = next_part(&at, to, &start);

        if (!block || okosu_prezero_is_private(part, (size_t)(at - part)))
            continue;
        block->changed = true;
        if (okosu_next.mmap(part, (size_t)(at - part), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            return false;
    }
    return true;
}

/* As next_part(), and a unit that nobody holds becomes a mapping of which the program has no page
 * yet. NULL: the pool goes on using the unit. */
static struct block *part_to_map(char **at, char *to, char **start)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    struct block *block, *all = all_rows();
    char *part = *at;

    for (int i = 0; all && i < LOOKS; i++) {
        *at = part;
        block = next_part(at, to, start);
        if (block)
            return block;
        if (okosu_prezero_is_stopped())
            break;
        if (okosu_prezero_seize(part))
            all[index_of(part)] = (struct block){.asked = UNIT, .kind = MMAP};
        else
            syscall(SYS_nanosleep, &moment, NULL); /* no cancellation point */
    }
    return NULL;
}

bool okosu_prezero_map_over(void *p, size_t length)
{
    char *at = p, *to = at + length, *start;

    for (clip(&at, &to); at < to;) {
        char *part = at;
        struct block *block = part_to_map(&at, to, &start);

        if (!block && okosu_prezero_is_stopped())
            continue;
        if (!block) {
            okosu_prezero_mapped_over(p, (size_t)(part - (char *)p), false);
            errno = ENOMEM;
            return false;
        }
        block->changed = true;
        /* In a child of fork the pool holds what was given back. */
        if (block->kind == NOBODY)
            block->kind = MMAP;
        if (block->kind != MMAP)
            continue;
        block->asked = okosu_prezero_size(start);
        atomic_fetch_add(&block->uses, 1);
    }
    return true;
}

void okosu_prezero_mapped_over(void *p, size_t length, bool done)
{
    char *at = p, *to = at + ((length + PAGE - 1) & ~(PAGE - 1)), *start;

    for (clip(&at, &to); at < to;) {
        char *part = at;
        struct block *block = next_part(&at, to, &start);

        if (!block || block->kind != MMAP)
            continue;
        if (done)
            atomic_fetch_add(&block->uses, mark(start, part, at, true));
        end_uses(block, start, 1);
    }
}
