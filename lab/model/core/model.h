/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The whole model: CPUs with their TLBs and caches, the counts, and the marks that the guest sends. It sees data accesses alone: no instruction fetches, no page walks, no prefetches.
 *
 * The model sleeps, and counts nothing but instructions, until the first mark, and from MARK_SLEEP
 * to the next mark. When it wakes, the caches are as they were and the TLBs are empty. A mark is a NOP
 * (0f 1f 80 and MARK_BASE plus one of the codes below). MARK_PAGES and MARK_LABEL are followed by a
 * message: MARK_DIGITS loads of one byte by the program from one page, each of which says 12 bits
 * by where in the page it is. Three digits are a number, the lowest first:
 *
 *   MARK_PAGES   page number, count of 4 KiB pages, then in one digit log2 of the page size
 *   MARK_LABEL   the next region's label; four digits are 0 */
#ifndef OKOSU_MODEL_MODEL_H
#define OKOSU_MODEL_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "caches.h"
#include "pages.h"
#include "shape.h"
#include "tlbs.h"

#define MARK_BASE 0x6f6b0000u
enum mark { MARK_BEGIN = 1, MARK_END, MARK_PAGES, MARK_FORGET, MARK_LABEL, MARK_SLEEP };
enum { MARK_DIGITS = 7, MODEL_LANES = 8, MODEL_SHORTCUTS = 256 };

enum mode { MODE_USER, MODE_KERNEL, MODES };

struct counts {
    uint64_t instructions; /* a string instruction with a REP is one */
    uint64_t loads, stores;
    uint64_t load_bytes, store_bytes;
    uint64_t found[SHAPE_LEVELS + 1];          /* lines by the level where they were; then memory */
    uint64_t full_lru_misses[SHAPE_LEVELS];    /* lines, of levels with a full-lru beside them */
    uint64_t translated[SHAPE_TLB_LEVELS + 1]; /* accesses by the TLB's level; then by a walk */
    uint64_t walks[SHAPE_SIZES];               /* by page size */
    uint64_t flushes;                          /* of the TLBs */
    uint64_t crossings;                        /* accesses cut at the end of a page */
    uint64_t io;                               /* accesses to devices, in none of the above */
};

struct message {
    enum mark kind;
    uint32_t taken; /* digits received */
    uint64_t page;
    uint64_t digit[MARK_DIGITS];
};

/* Where the line that was accessed last is in the first TLB and the first cache. While it is still
 * there, an access to it needs no search. */
struct shortcut {
    uint64_t line;     /* virtual */
    uint64_t physical; /* the line's number, which is its key in the first cache */
    uint32_t cache_set, cache_place;
    struct array *tlb; /* NULL: there is no shortcut */
    uint64_t tlb_key;
    uint32_t tlb_set, tlb_place;
};

struct cpu {
    struct tlbs tlbs;
    struct shortcut shortcuts[MODEL_SHORTCUTS];
    struct counts counts[MODES];
    struct message message;
    bool listening; /* a message is being received */
    /* The string instruction being repeated: its address, the count of instructions when it began,
     * and the lines that it loaded and stored last. */
    uint64_t string_at, string_count;
    uint64_t string_line[2];
};

struct model {
    struct shape shape;
    struct caches caches;
    struct pages pages;
    struct cpu *cpus;
    bool awake;
    bool inside; /* whether a region is open */
    uint64_t label;
    uint64_t broken; /* messages and marks that made no sense */
    /* Instructions so far, in lanes that are summed: with one counter every increment of the
     * emulator would wait for the one before. The plugin, or the trace, increments them. */
    uint64_t executed[MODES][MODEL_LANES];
    uint64_t credited[MODES]; /* those that are in some CPU's counts already */
    uint32_t turn;            /* the CPU that the rest belongs to */
    FILE *out;
};

/* 0 or -ENOMEM. A region's end and model_finish() write to `out`: a line of JSON for each CPU. */
int model_make(struct model *model, const struct shape *shape, FILE *out);
void model_free(struct model *model);
/* Write what was counted outside of regions. */
void model_finish(struct model *model);

void model_access(struct model *model, uint32_t cpu, enum mode mode, bool store, uint64_t address,
                  uint64_t physical, uint32_t bytes);
void model_io(struct model *model, uint32_t cpu, enum mode mode);
void model_flush_tlb(struct model *model, uint32_t cpu, enum mode mode);
void model_mark(struct model *model, uint32_t cpu, uint32_t code);

/* One round of the string instruction at this address begins; the first round counts as one
 * instruction. */
void model_string(struct model *model, uint32_t cpu, enum mode mode, uint64_t at);
/* An access of a round. One that stays in the line of the access before is not counted again, as in
 * processors that move strings by lines. */
void model_string_access(struct model *model, uint32_t cpu, enum mode mode, bool store,
                         uint64_t address, uint64_t physical, uint32_t bytes);

/* From here on instructions belong to this CPU. */
void model_turn(struct model *model, uint32_t cpu);

#endif
