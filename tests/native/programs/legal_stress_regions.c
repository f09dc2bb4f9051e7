/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of legal_stress on mappings, which it changes cell by cell. */
#include "legal_stress.h"

#include <sys/mman.h>
#include <unistd.h>

static unsigned char *cell_at(const struct region *region, size_t i)
{
    return region->at + i * CELL;
}

static bool cell_holds(const struct region *region, size_t i)
{
    return holds(cell_at(region, i), (uintptr_t)cell_at(region, i), CELL, CELL);
}

static void check_region(const struct region *region)
{
    for (size_t i = 0; i < region->cells; i++)
        CHECK((region->cell[i] != FULL && region->cell[i] != SHARED) || cell_holds(region, i));
}

void check_regions(const struct world *world)
{
    for (size_t i = 0; i < REGIONS; i++)
        check_region(&world->region[i]);
}

static void fill_cells(struct region *region, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        fill_empty(cell_at(region, i), CELL);
        region->cell[i] = FULL;
    }
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

static void make_region(struct world *world, struct region *region)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (below(world, 16) ? 0 : MAP_POPULATE) |
                (below(world, 2) ? 0 : MAP_NORESERVE);

    region->cells = 1 + below(world, CELLS);
    region->at = mmap(NULL, region->cells * CELL, PROT_READ | PROT_WRITE, flags, -1, 0);
    CHECK(region->at != MAP_FAILED);
    fill_cells(region, 0, region->cells);
}

/* Cells of one region that can be written to and are not shared. */
struct run {
    struct region *region;
    size_t from, to;
    unsigned char *at;
    size_t bytes;
};

/* Chooses them, and makes a region or a cell accessible, if need be. `bytes` is 0 if there are
 * none. */
static struct run any_run(struct world *world)
{
    struct run run = {.region = &world->region[below(world, REGIONS)]};
    struct region *region = run.region;

    check_region(region);
    if (!region->cells)
        make_region(world, region);
    run.from = run.to = below(world, region->cells);
    run.at = cell_at(region, run.from);
    if (region->cell[run.from] == HIDDEN) {
        CHECK(!mprotect(run.at, CELL, PROT_READ | PROT_WRITE) && cell_holds(region, run.from));
        region->cell[run.from] = FULL;
    }
    while (run.to < region->cells && region->cell[run.to] == FULL &&
           (run.to == run.from || below(world, 4)))
        run.to++;
    run.bytes = (run.to - run.from) * CELL;
    return run;
}

static struct region *free_region(struct world *world)
{
    for (size_t i = 0; i < REGIONS; i++)
        if (!world->region[i].cells)
            return &world->region[i];
    return NULL;
}

static void use_unmap(struct world *world)
{
    struct run run = any_run(world);

    if (run.bytes) {
        CHECK(!munmap(run.at, run.bytes));
        lose_cells(run.region, run.from, run.to);
    }
}

/* The rest of a region goes, in several parts. */
static void use_unmap_all(struct world *world)
{
    struct region *region = &world->region[below(world, REGIONS)];

    check_region(region);
    if (!region->cells)
        make_region(world, region);
    for (size_t from = 0, to = 0; from < region->cells; from = to) {
        for (to = from; to < region->cells && region->cell[to] != GONE; to++)
            if (to > from && below(world, 4) == 0)
                break;
        if (to > from)
            CHECK(!munmap(cell_at(region, from), (to - from) * CELL));
        else
            to++;
    }
    region->cells = 0;
}

/* The cells become another region, of any length. The kernel refuses to move what it keeps as
 * several mappings. */
static void use_move(struct world *world)
{
    struct run run = any_run(world);
    struct region *region = run.region, *other = free_region(world);
    size_t old = run.to - run.from, cells = 1 + below(world, CELLS);
    size_t kept = old < cells ? old : cells;
    unsigned char *at;

    if (!run.bytes || !other)
        return;
    at = mremap(run.at, run.bytes, cells * CELL, MREMAP_MAYMOVE);
    if (at == MAP_FAILED)
        return;
    for (size_t i = 0; i < kept; i++)
        CHECK(holds(at + i * CELL, (uintptr_t)(run.at + i * CELL), CELL, CELL));
    lose_cells(region, run.from, run.to);
    *other = (struct region){.at = at, .cells = cells};
    for (size_t i = 0; i < kept; i++) {
        fill(cell_at(other, i), CELL);
        other->cell[i] = FULL;
    }
    fill_cells(other, kept, cells);
}

static void use_protect(struct world *world)
{
    struct run run = any_run(world);

    if (run.bytes) {
        CHECK(!mprotect(run.at, CELL, PROT_NONE));
        run.region->cell[run.from] = HIDDEN;
    }
}

static void use_empty(struct world *world)
{
    struct run run = any_run(world);

    if (run.bytes && !world->is_locked) {
        CHECK(!madvise(run.at, run.bytes, MADV_DONTNEED));
        fill_cells(run.region, run.from, run.to);
    }
}

static void use_advice(struct world *world)
{
    static const int advice[] = {MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_WILLNEED,  MADV_COLD,
                                 MADV_DONTFORK, MADV_DOFORK,     MADV_SEQUENTIAL};
    struct run run = any_run(world);
    int which = advice[below(world, sizeof advice / sizeof *advice)];

    if (!run.bytes)
        return;
    /* Kernels without huge pages do not know the first. */
    (void)!madvise(run.at, run.bytes, which);
    if (which == MADV_DONTFORK)
        CHECK(!madvise(run.at, run.bytes, MADV_DOFORK));
    check_region(run.region);
}

/* New memory in place of the cells. */
static void use_map_over(struct world *world)
{
    struct run run = any_run(world);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;

    if (run.bytes) {
        CHECK(mmap(run.at, run.bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == run.at);
        fill_cells(run.region, run.from, run.to);
    }
}

/* A cell becomes pages of the file, which still holds what was in the cell that was last there. A
 * child shares the file with its parent. */
static void use_file_over(struct world *world)
{
    struct run run = any_run(world);
    size_t row = (size_t)(run.region - world->region);
    off_t offset = (off_t)((row * CELLS + run.from) * CELL);
    uintptr_t *written = &world->written[row][run.from];
    unsigned char *at = run.at;

    if (!run.bytes || world->is_child)
        return;
    CHECK(mmap(at, CELL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, world->file, offset) ==
          at);
    CHECK(!*written || holds(at, *written, CELL, CELL));
    fill(at, CELL);
    *written = (uintptr_t)at;
    run.region->cell[run.from] = SHARED;
}

const struct kind region_kinds[] = {
    {"unmap", 80, use_unmap},       {"unmap-all", 60, use_unmap_all}, {"move", 60, use_move},
    {"protect", 40, use_protect},   {"empty", 50, use_empty},         {"advice", 40, use_advice},
    {"map-over", 50, use_map_over}, {"file-over", 40, use_file_over}, {NULL, 0, NULL},
};
