/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of the pool (see prezero.h). */
#include "prezero.h"

#include "next.h"

#include <sys/mman.h>

#define PAGE ((size_t)4096)
#define UNIT OKOSU_PREZERO_MIN

enum kind { NOBODY, MALLOC, CALLOC, MMAP, HOLED };

/* The row of a block's first unit; it belongs to the thread that holds the block. */
struct block {
    size_t asked, dirty; /* bytes; dirty: so many first bytes may not be zero */
    uint32_t offset;     /* of the program's pointer */
    uint8_t kind;
    bool changed; /* protected, or mapped over */
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

/* The block whose first unit this address lies in, or NULL. */
static struct block *block_at(const void *p, char **start)
{
    struct block *all = atomic_load(&rows);
    size_t index = index_of(p);

    *start = (char *)atomic_load(&okosu_prezero_base) + index * UNIT;
    return all && okosu_prezero_size(*start) ? &all[index] : NULL;
}

static struct block *of_malloc(const void *p, char **start)
{
    struct block *block = block_at(p, start);

    if (!block || (block->kind != MALLOC && block->kind != CALLOC))
        return NULL;
    return (const char *)p == *start + block->offset ? block : NULL;
}

void okosu_prezero_free(void *p)
{
    char *start;
    struct block *block = of_malloc(p, &start);
    size_t dirty;
    bool was_zero;

    /* Not the start of a block: ignored here, where libc would abort the program. */
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

void *okosu_prezero_map(size_t length)
{
    struct block *block;
    size_t dirty;
    char *start = okosu_prezero_take(length, OKOSU_PREZERO_CLEAN, &dirty);

    block = start ? row_of(start) : NULL;
    if (!block)
        return NULL;
    *block = (struct block){.asked = (length + PAGE - 1) & ~(PAGE - 1), .kind = MMAP};
    return start;
}

static void mark_hole(struct block *block)
{
    if (block->kind == MMAP)
        block->kind = HOLED;
}

static void mark_changed(struct block *block)
{
    block->changed = true;
}

/* Every block that the range meets. */
static void for_each_in(uintptr_t from, uintptr_t to, void (*mark)(struct block *))
{
    uintptr_t base = atomic_load_explicit(&okosu_prezero_base, memory_order_relaxed);
    size_t span = atomic_load(&okosu_prezero_span);
    struct block *all = atomic_load(&rows);

    for (uintptr_t at = base; all && at < to && at < base + span; at += UNIT) {
        size_t bytes = okosu_prezero_size((const char *)at);

        if (bytes && at + bytes > from)
            mark(&all[(at - base) / UNIT]);
    }
}

void okosu_prezero_changed(const void *start, size_t length)
{
    for_each_in((uintptr_t)start, (uintptr_t)start + length, mark_changed);
}

bool okosu_prezero_unmap(void *p, size_t length)
{
    char *start;
    struct block *block = block_at(p, &start);

    length = (length + PAGE - 1) & ~(PAGE - 1);
    if (block && block->kind == MMAP && start == (char *)p && length >= block->asked &&
        length <= okosu_prezero_size(start)) {
        block->kind = NOBODY;
        if (okosu_prezero_renew(start, true))
            return true;
        block->kind = HOLED;
        return false;
    }
    for_each_in((uintptr_t)p, (uintptr_t)p + length, mark_hole);
    return false;
}
