/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What is to be simulated, and the text that says so. A statement a line, words by blanks, numbers
 * in decimal or 0x, # to the end of a line is a comment:
 *
 *   okosu-model 1                        the first statement
 *   seed N                               where random replacement starts
 *   cpus N                               1 to 64
 *   kernel-pages 4k|2m                   the page size of all kernel addresses
 *   cache BYTES WAYS LINE POLICY FILL SHARING
 *                                        the next level: POLICY lru, plru or random; FILL none,
 *                                        inclusive (what it evicts leaves the levels before it) or
 *                                        victim (it holds what the level before it evicts);
 *                                        SHARING private or shared (among the CPUs)
 *   row BIT MASK                         of that cache's set number, BIT is the parity of the
 *                                        physical address and MASK instead of one address bit
 *   full-lru                             beside that cache, not the first, a fully associative one
 *                                        of its size, with LRU, sees the same accesses: what it
 *                                        misses is counted
 *   tlb LEVEL ENTRIES WAYS POLICY PAGES  an array of that level: PAGES 4k, 2m or 4k+2m */
#ifndef OKOSU_MODEL_SHAPE_H
#define OKOSU_MODEL_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "array.h"

enum {
    SHAPE_CPUS = 64,
    SHAPE_LEVELS = 8,
    SHAPE_ROWS = 32,
    SHAPE_TLBS = 8,
    SHAPE_TLB_LEVELS = 4,
    SHAPE_SIZES = 2,
    PAGE_SHIFT = 12,
    HUGE_SHIFT = 21,
};

enum page_size { PAGE_4K, PAGE_2M };
enum fill { FILL_NONE, FILL_INCLUSIVE, FILL_VICTIM };

struct row {
    uint32_t bit;
    uint64_t mask;
};

struct cache_shape {
    uint32_t sets;
    uint32_t ways;
    uint32_t line_shift;
    enum array_policy policy;
    enum fill fill;
    bool shared;
    bool full_lru;
    uint32_t rows;
    struct row row[SHAPE_ROWS];
};

struct tlb_shape {
    uint32_t level; /* from 0 */
    uint32_t sets;
    uint32_t ways;
    enum array_policy policy;
    bool holds[SHAPE_SIZES]; /* by page size */
};

struct shape {
    uint64_t seed;
    uint32_t cpus;
    enum page_size kernel_pages;
    uint32_t levels;
    struct cache_shape cache[SHAPE_LEVELS];
    uint32_t tlbs;
    uint32_t tlb_levels;
    struct tlb_shape tlb[SHAPE_TLBS];
};

/* 0, or -EINVAL with `why` saying what is wrong on which line. */
int shape_read(FILE *file, struct shape *shape, char *why, size_t room);

#endif
