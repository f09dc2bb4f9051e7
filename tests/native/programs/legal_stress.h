/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of legal_stress share: a thread's world, which is a model of the memory that it
 * has, and the content of that memory, which is known from where it lies and how long it is. */
#pragma once

#include "block_check.h"

#include <string.h>

#define KIB ((size_t)1 << 10)
#define CELL (512 * KIB)
#define CELLS 14
#define REGIONS 6
#define SMALL 192
#define MEDIUM 24
#define LARGE 12
#define HUGE 2
#define KINDS_MOST 64
#define STACK_BYTES (64 * KIB)

struct block {
    unsigned char *at;
    size_t size;
};

/* SHARED is a page of the world's file, and the others are of its own. HIDDEN is inaccessible. */
enum cell { GONE, FULL, HIDDEN, SHARED };

/* A mapping in cells. */
struct region {
    unsigned char *at;
    size_t cells;
    enum cell cell[CELLS];
};

/* `file` has a place for each cell of each region; `written` tells where the cell lay that was last
 * there, which is what the file holds. Alone is a world whose process has no other thread. Of what is
 * locked no page can be emptied. */
struct world {
    uint64_t seed;
    long operations;
    bool alone, is_child, is_locked;
    int file;
    struct block small[SMALL], medium[MEDIUM], large[LARGE], huge[HUGE];
    struct region region[REGIONS];
    uintptr_t written[REGIONS][CELLS];
    long count[KINDS_MOST];
    volatile long done;
    unsigned char signal_stack[STACK_BYTES];
};

struct kind {
    const char *name;
    unsigned weight; /* of 100,000 operations */
    void (*run)(struct world *world);
};

/* The kinds of operation that each part has end with a kind without a name. */
extern const struct kind block_kinds[], region_kinds[], process_kinds[], thread_kinds[];

static inline size_t below(struct world *world, size_t limit)
{
    return next_random(&world->seed) % limit;
}

void fill(unsigned char *at, size_t size);
void fill_empty(unsigned char *at, size_t size);
/* `begin` and `size` tell the content of what lies at `at`, which may have moved since; of it only
 * the first `upto` bytes are there. */
bool holds(const unsigned char *at, uintptr_t begin, size_t size, size_t upto);
bool is_empty(const unsigned char *at, size_t size);

/* The file of 'f' that is mapped over parts of blocks: nobody ever writes to it. */
void make_foreign_file(void);
void check_blocks(const struct world *world);
void check_regions(const struct world *world);
/* In a child of fork: so many operations on memory, among which small blocks are not frequent. */
void live_in_child(struct world *world, int operations);
/* A thread that is cancelled allocates large blocks. */
void use_cancelled(struct world *world);
/* legal_stress_library.c: takes the library's mutex, and allocates under it as soon as a fork waits
 * for the mutex; *taken becomes true as soon as it has the mutex. */
void library_work(volatile bool *taken);
