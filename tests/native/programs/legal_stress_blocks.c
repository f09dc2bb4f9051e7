/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of legal_stress on blocks of malloc and of related functions. */
#include "legal_stress.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#define FOREIGN_BYTES (16 * PAGE)
#define PATTERN_BYTES (256 * KIB)

static int foreign_file;
static unsigned char pattern[PATTERN_BYTES];

#ifdef __x86_64__
/* The memcpy of programs that were linked before 2011, which is memmove by ABI. */
void *old_memcpy(void *to, const void *from, size_t size);
__asm__(".symver old_memcpy, memcpy@GLIBC_2.2.5");
#else
#define old_memcpy memmove
#endif

static void put_aligned(struct world *world, struct block *block)
{
    size_t align = (size_t)64 << below(world, 8);
    void *p = NULL;

    switch (below(world, 4)) {
    case 0:
        p = memalign(align, block->size);
        break;
    case 1:
        block->size = (block->size + align - 1) / align * align;
        p = aligned_alloc(align, block->size);
        break;
    case 2:
        align = PAGE;
        p = valloc(block->size);
        break;
    default:
        CHECK(!posix_memalign(&p, align, block->size));
    }
    CHECK(p && (uintptr_t)p % align == 0);
    block->at = p;
}

static void new_block(struct world *world, struct block *block, size_t size)
{
    size_t how = below(world, 8);

    block->size = size;
    if (how < 2) {
        block->at = calloc(1, size);
        CHECK(block->at && (size > 256 || is_empty(block->at, size)));
        fill_empty(block->at, size);
        return;
    }
    if (how == 2)
        put_aligned(world, block);
    else
        block->at = malloc(size);
    CHECK(block->at);
    fill(block->at, block->size);
}

static void check_block(const struct block *block)
{
    CHECK(!block->at || holds(block->at, (uintptr_t)block->at, block->size, block->size));
}

static void resize_block(struct world *world, struct block *block, size_t size)
{
    const uintptr_t begin = (uintptr_t)block->at;
    size_t old = block->size;

    block->size = size;
    block->at = below(world, 4) ? realloc(block->at, size) : reallocarray(block->at, 1, size);
    CHECK(block->at);
    CHECK(!begin || holds(block->at, begin, old, old < size ? old : size));
    fill(block->at, size);
}

/* One of the blocks is made, or checked and then freed, resized or used whole. */
static void use_block(struct world *world, struct block *block, size_t least, size_t most)
{
    size_t how = below(world, 8), size = least + below(world, most - least);

    check_block(block);
    if (!block->at) {
        new_block(world, block, size);
    } else if (how < 4) {
        free(block->at);
        block->at = NULL;
    } else if (how < 7) {
        resize_block(world, block, size);
    } else {
        size = malloc_usable_size(block->at);
        CHECK(size >= block->size);
        block->size = size;
        fill(block->at, size);
    }
}

static void use_small(struct world *world)
{
    use_block(world, &world->small[below(world, SMALL)], 1, below(world, 16) ? 200 : 2 * KIB);
}

static void use_medium(struct world *world)
{
    use_block(world, &world->medium[below(world, MEDIUM)], 2 * KIB, 100 * KIB);
}

/* libc has mappings for these. */
static void use_mapped(struct world *world)
{
    use_block(world, &world->large[below(world, LARGE)], 128 * KIB, 2000 * KIB);
}

static void use_large(struct world *world)
{
    use_block(world, &world->large[below(world, LARGE)], 2000 * KIB,
              below(world, 2) ? 2200 * KIB : 6500 * KIB);
}

static void use_huge(struct world *world)
{
    use_block(world, &world->huge[below(world, HUGE)], 31 * MIB, 37 * MIB);
}

/* A block becomes one of any other size. */
static void use_any_size(struct world *world)
{
    struct block *block =
        below(world, 2) ? &world->large[below(world, LARGE)] : &world->medium[below(world, MEDIUM)];

    check_block(block);
    resize_block(world, block, block->at ? 1 + below(world, (size_t)1 << below(world, 23)) : 100);
}

static void use_trim(struct world *world)
{
    malloc_trim(below(world, 2) * MIB);
}

/* Parts of one block that overlap, or do not. */
static void use_overlap(struct world *world, void *(*move)(void *, const void *, size_t))
{
    size_t size = 64 + below(world, below(world, 8) ? 8 * KIB : PATTERN_BYTES - 64);
    size_t from = below(world, below(world, 2) ? 64 : size / 2);
    size_t to = below(world, below(world, 2) ? 64 : size / 2);
    size_t length = size - (from > to ? from : to);
    unsigned char *at = malloc(size);

    CHECK(at);
    memcpy(at, pattern, size);
    CHECK(move(at + to, at + from, length) == at + to);
    CHECK(memcmp(at + to, pattern + from, length) == 0);
    CHECK(memcmp(at, pattern, to) == 0);
    free(at);
}

static void use_memmove(struct world *world)
{
    use_overlap(world, memmove);
}

static void use_old_memcpy(struct world *world)
{
    use_overlap(world, old_memcpy);
}

void make_foreign_file(void)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < PATTERN_BYTES; i += 8) {
        uint64_t word = next_random(&seed);

        memcpy(pattern + i, &word, 8);
    }
    foreign_file = memfd_create("foreign", 0);
    CHECK(foreign_file >= 0 && write(foreign_file, pattern, FOREIGN_BYTES) == FOREIGN_BYTES);
}

static void check_foreign_file(struct world *world)
{
    unsigned char page[PAGE];
    off_t at = (off_t)(below(world, FOREIGN_BYTES / PAGE) * PAGE);

    CHECK(pread(foreign_file, page, PAGE, at) == (ssize_t)PAGE);
    CHECK(memcmp(page, pattern + at, PAGE) == 0);
}

/* Does to a part of a block what ends with the block, for libc unmaps it; then blocks of the same
 * size are used. Smaller blocks may come from libc's heap. */
static void use_changed(struct world *world, void (*change)(unsigned char *))
{
    static const size_t most[] = {MIB, 5 * MIB, 36 * MIB};
    size_t size = 2 * MIB + below(world, most[below(world, 31) / 15]);
    size_t offset = PAGE + below(world, size - FOREIGN_BYTES - 3 * PAGE);
    unsigned char *at;

    at = malloc(size);
    CHECK(at);
    fill(at, size);
    change(at + offset - (uintptr_t)(at + offset) % PAGE);
    CHECK(holds(at, (uintptr_t)at, size, 8));
    free(at);
    for (int i = 0; i < 2; i++) {
        bool zero = below(world, 8) == 0;

        at = zero ? calloc(1, size) : malloc(size);
        CHECK(at && (!zero || is_empty(at + offset, FOREIGN_BYTES)));
        fill(at, size);
        memset(at + offset - PAGE, 1, FOREIGN_BYTES + PAGE);
        free(at);
    }
    check_foreign_file(world);
}

static void map_file(unsigned char *at)
{
    CHECK(mmap(at, FOREIGN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, foreign_file,
               0) == at);
}

static void use_file_in_block(struct world *world)
{
    use_changed(world, map_file);
}

static void move_file(unsigned char *at)
{
    void *file = mmap(NULL, FOREIGN_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, foreign_file, 0);

    CHECK(file != MAP_FAILED);
    CHECK(mremap(file, FOREIGN_BYTES, FOREIGN_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at);
}

static void use_moved_file_in_block(struct world *world)
{
    use_changed(world, move_file);
}

static void protect(unsigned char *at)
{
    CHECK(!mprotect(at, FOREIGN_BYTES, PROT_NONE));
}

static void use_protected_block(struct world *world)
{
    use_changed(world, protect);
}

static void keep_from_children(unsigned char *at)
{
    CHECK(!madvise(at, FOREIGN_BYTES, MADV_DONTFORK));
}

static void use_private_block(struct world *world)
{
    use_changed(world, keep_from_children);
}

/* The limit may forbid it. */
static void lock(unsigned char *at)
{
    (void)!mlock(at, FOREIGN_BYTES);
}

static void use_locked_block(struct world *world)
{
    use_changed(world, lock);
}

static void unmap(unsigned char *at)
{
    CHECK(!munmap(at, FOREIGN_BYTES));
}

/* free() unmaps the whole block, and what another thread mapped into the hole. */
static void use_block_with_hole(struct world *world)
{
    use_changed(world, world->alone ? unmap : protect);
}

void check_blocks(const struct world *world)
{
    for (size_t i = 0; i < SMALL; i++)
        check_block(&world->small[i]);
    for (size_t i = 0; i < MEDIUM; i++)
        check_block(&world->medium[i]);
    for (size_t i = 0; i < LARGE; i++)
        check_block(&world->large[i]);
    for (size_t i = 0; i < HUGE; i++)
        check_block(&world->huge[i]);
}

const struct kind block_kinds[] = {
    {"small-block", 94772, use_small},
    {"medium-block", 3000, use_medium},
    {"block-that-libc-maps", 900, use_mapped},
    {"large-block", 250, use_large},
    {"huge-block", 6, use_huge},
    {"any-size", 60, use_any_size},
    {"trim", 10, use_trim},
    {"memmove", 200, use_memmove},
    {"old-memcpy", 200, use_old_memcpy},
    {"file-in-block", 15, use_file_in_block},
    {"moved-file-in-block", 8, use_moved_file_in_block},
    {"protected-block", 15, use_protected_block},
    {"block-not-for-children", 8, use_private_block},
    {"locked-block", 8, use_locked_block},
    {"block-with-hole", 8, use_block_with_hole},
    {NULL, 0, NULL},
};
