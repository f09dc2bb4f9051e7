/* SPDX-License-Identifier: Apache-2.0 */
/* legal_stress SEED OPERATIONS THREADS: what a program may do to its memory, at random: malloc and
 * related functions, mappings that are unmapped in part, moved, protected, emptied and mapped over,
 * and children of fork. All content is known from where it lies and how long it is, and is checked
 * before each change. It prints "legal"; exit status 1 names what is wrong. */
#include "block_check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define PAGE ((size_t)4096)
#define CELL (512 * KIB)
#define CELLS 18
#define BLOCKS 12
#define REGIONS 6

struct block {
    unsigned char *at;
    size_t size;
};

enum cell { GONE, FULL, HIDDEN };

/* A mapping in cells: unmapped, written to, or written to and inaccessible. */
struct region {
    unsigned char *at;
    size_t cells;
    enum cell cell[CELLS];
};

struct world {
    uint64_t seed;
    long operations;
    struct block block[BLOCKS];
    struct region region[REGIONS];
};

static size_t below(struct world *world, size_t limit)
{
    return next_random(&world->seed) % limit;
}

static uint64_t word_at(uintptr_t begin, size_t size, size_t offset)
{
    uint64_t mixed = ((uint64_t)begin ^ size << 20 ^ offset) + 1;

    return next_random(&mixed);
}

/* A word in each page, and the last byte. `begin` and `size` tell the content of what lies at `at`,
 * which may have moved since. */
static void fill(unsigned char *at, size_t size)
{
    for (size_t i = 0; i + 8 <= size; i += PAGE) {
        uint64_t word = word_at((uintptr_t)at, size, i);

        memcpy(at + i, &word, 8);
    }
    if (size % PAGE > 8)
        at[size - 1] = (unsigned char)size;
}

static bool holds(const unsigned char *at, uintptr_t begin, size_t size, size_t upto)
{
    for (size_t i = 0; i + 8 <= upto; i += PAGE) {
        uint64_t word = word_at(begin, size, i);

        if (memcmp(at + i, &word, 8) != 0)
            return false;
    }
    return upto < size || size % PAGE <= 8 || at[size - 1] == (unsigned char)size;
}

static bool is_empty(const unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size; i += PAGE)
        if (at[i] || at[i + (size - i < PAGE ? size - i : PAGE) - 1])
            return false;
    return true;
}

static size_t any_size(struct world *world)
{
    static const size_t most[] = {200, 64 * KIB, 2000 * KIB, 2100 * KIB, 9000 * KIB};

    return 1 + below(world, most[below(world, 5)]);
}

static void new_block(struct world *world, struct block *block)
{
    size_t align = (size_t)64 << below(world, 12);
    void *p;

    block->size = any_size(world);
    switch (below(world, 4)) {
    case 0:
        p = calloc(1, block->size);
        CHECK(p && is_empty(p, block->size));
        break;
    case 1:
        CHECK(!posix_memalign(&p, align, block->size) && (uintptr_t)p % align == 0);
        break;
    default:
        p = malloc(block->size);
    }
    CHECK(p && malloc_usable_size(p) >= block->size);
    block->at = p;
    fill(block->at, block->size);
}

static void check_block(const struct block *block)
{
    CHECK(!block->at || holds(block->at, (uintptr_t)block->at, block->size, block->size));
}

static void use_block(struct world *world)
{
    struct block *block = &world->block[below(world, BLOCKS)];
    const uintptr_t begin = (uintptr_t)block->at;
    size_t old = block->size;

    check_block(block);
    if (!block->at) {
        new_block(world, block);
        return;
    }
    if (below(world, 2)) {
        free(block->at);
        block->at = NULL;
        return;
    }
    block->size = any_size(world);
    block->at = realloc(block->at, block->size);
    CHECK(block->at);
    CHECK(holds(block->at, begin, old, old < block->size ? old : block->size));
    fill(block->at, block->size);
}

static unsigned char *cell_at(const struct region *region, size_t i)
{
    return region->at + i * CELL;
}

static void fill_cells(struct region *region, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        fill(cell_at(region, i), CELL);
        region->cell[i] = FULL;
    }
}

static void check_region(const struct region *region)
{
    for (size_t i = 0; i < region->cells; i++)
        if (region->cell[i] == FULL)
            CHECK(holds(cell_at(region, i), (uintptr_t)cell_at(region, i), CELL, CELL));
}

static void new_region(struct world *world, struct region *region)
{
    region->cells = 1 + below(world, CELLS);
    region->at = mmap(NULL, region->cells * CELL, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(region->at != MAP_FAILED && is_empty(region->at, region->cells * CELL));
    fill_cells(region, 0, region->cells);
}

static void lose_cells(struct region *region, size_t from, size_t to)
{
    size_t left = 0;

    for (size_t i = 0; i < region->cells; i++) {
        if (i >= from && i < to)
            region->cell[i] = GONE;
        left += region->cell[i] != GONE;
    }
    if (!left)
        region->cells = 0;
}

/* The cells become another region. The kernel refuses to move what it keeps as several mappings. */
static void move_cells(struct world *world, struct region *region, size_t from, size_t to)
{
    struct region *other = NULL;
    size_t old = to - from, cells = 1 + below(world, CELLS), kept = old < cells ? old : cells;
    unsigned char *was = cell_at(region, from), *at;

    for (size_t i = 0; i < REGIONS; i++)
        if (!world->region[i].cells)
            other = &world->region[i];
    if (!other)
        return;
    at = mremap(was, old * CELL, cells * CELL, MREMAP_MAYMOVE);
    if (at == MAP_FAILED)
        return;
    for (size_t i = 0; i < kept; i++)
        CHECK(holds(at + i * CELL, (uintptr_t)(was + i * CELL), CELL, CELL));
    CHECK(is_empty(at + kept * CELL, (cells - kept) * CELL));
    *other = (struct region){.at = at, .cells = cells};
    fill_cells(other, 0, cells);
    lose_cells(region, from, to);
}

static void use_region(struct world *world)
{
    struct region *region = &world->region[below(world, REGIONS)];
    size_t from, to, bytes;
    unsigned char *at;

    check_region(region);
    if (!region->cells) {
        new_region(world, region);
        return;
    }
    /* A run of cells that can be written to. */
    from = below(world, region->cells);
    at = cell_at(region, from);
    if (region->cell[from] == HIDDEN) {
        CHECK(!mprotect(at, CELL, PROT_READ | PROT_WRITE) && holds(at, (uintptr_t)at, CELL, CELL));
        region->cell[from] = FULL;
    }
    for (to = from; to < region->cells && region->cell[to] == FULL; to++)
        if (below(world, 4) == 0 && to > from)
            break;
    if (to == from)
        return;
    bytes = (to - from) * CELL;
    switch (below(world, 6)) {
    case 0:
        move_cells(world, region, from, to);
        break;
    case 1:
        CHECK(!mprotect(at, CELL, PROT_NONE));
        region->cell[from] = HIDDEN;
        break;
    case 2:
        CHECK(!madvise(at, bytes, MADV_DONTNEED) && is_empty(at, bytes));
        fill_cells(region, from, to);
        break;
    case 3:
        CHECK(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                   0) == at);
        CHECK(is_empty(at, bytes));
        fill_cells(region, from, to);
        break;
    default:
        CHECK(!munmap(at, bytes));
        lose_cells(region, from, to);
    }
}

static void check_all(const struct world *world)
{
    for (size_t i = 0; i < BLOCKS; i++)
        check_block(&world->block[i]);
    for (size_t i = 0; i < REGIONS; i++)
        check_region(&world->region[i]);
}

static void fork_child(struct world *world)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (!child) {
        check_all(world);
        for (int i = 0; i < 20; i++)
            below(world, 2) ? use_block(world) : use_region(world);
        check_all(world);
        fflush(stdout);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
}

static void *live(void *arg)
{
    struct world *world = arg;

    for (long i = 0; i < world->operations; i++) {
        if (below(world, 200) == 0)
            fork_child(world);
        below(world, 2) ? use_block(world) : use_region(world);
    }
    check_all(world);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct world world[16];
    pthread_t thread[16];
    size_t threads = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;

    if (threads < 1 || threads > 16)
        return 2;
    /* libc's own blocks are mappings, too, which lie wherever there is room. */
    CHECK(mallopt(M_MMAP_THRESHOLD, 1 << 17));
    for (size_t i = 0; i < threads; i++) {
        world[i].seed = strtoul(argv[1], NULL, 10) * 16 + i + 1;
        world[i].operations = strtol(argv[2], NULL, 10) / (long)threads;
        CHECK(!pthread_create(&thread[i], NULL, live, &world[i]));
    }
    for (size_t i = 0; i < threads; i++)
        CHECK(!pthread_join(thread[i], NULL));
    return puts("legal") < 0;
}
