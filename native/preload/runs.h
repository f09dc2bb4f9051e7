/* SPDX-License-Identifier: Apache-2.0 */
/* The table of 2 MiB chunks: which runs of them are in use, clean, or kept. Pure bookkeeping: no
 * system call, no lock (large.c holds one).
 *
 * 1. The table is tiled by runs. A run's first and last chunk hold its length and state; every
 * chunk between them is INNER, so a pointer into the middle of a run is never taken for a block.
 * 2. Two neighbouring runs are never both CLEAN or both KEPT (they are joined).
 * 3. A CLEAN or KEPT run is in exactly one bin, by the binary logarithm of its length.
 * 4. `pages`, `advised`, `hugetlb` and `changed` of each chunk say what is mapped there, in use or
 *    kept; in a CLEAN run they are 0. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OKOSU_RUNS_NONE UINT32_MAX
#define OKOSU_RUNS_BINS 32

enum okosu_run_state {
    OKOSU_RUN_INNER,
    OKOSU_RUN_CLEAN, /* reserved address space, no memory */
    OKOSU_RUN_KEPT,  /* memory of a freed block, kept for the next one */
    OKOSU_RUN_USED,
    OKOSU_RUN_LEAVING, /* being freed: claimed by one thread */
};

struct okosu_chunk {
    uint32_t length;     /* of the run, in chunks */
    uint32_t prev, next; /* in the bin */
    uint16_t pages;      /* 4 KiB pages committed, from the chunk's start */
    uint8_t state;       /* enum okosu_run_state */
    bool advised : 1;
    bool hugetlb : 1;
    bool changed : 1; /* the program changed the mapping of pages of its block in it */
    uint32_t offset;  /* of the block from the start of its first chunk */
    uint64_t size;    /* that the program asked for */
};

struct okosu_runs {
    struct okosu_chunk *chunks;
    uint32_t count;
    uint64_t first_number; /* address of chunk 0, in chunks: what alignment is counted from */
    uint32_t bins[OKOSU_RUN_KEPT + 1][OKOSU_RUNS_BINS];
};

/* One clean run over `count` zeroed chunks. */
void okosu_runs_start(struct okosu_runs *r, struct okosu_chunk *chunks, uint32_t count,
                      uint64_t first_number);

/* Takes `length` chunks out of a run in `state`, its address a multiple of `align` chunks (a power
 * of two), and makes them USED: the index of the first or OKOSU_RUNS_NONE. */
uint32_t okosu_runs_take(struct okosu_runs *r, enum okosu_run_state state, uint32_t length,
                         uint32_t align);

/* Takes a kept run that is too short, the longest kind first, and as much of the clean run behind
 * it as makes `length` chunks together: how many chunks of it were kept, *first its first; 0 if
 * none. */
uint32_t okosu_runs_take_joined(struct okosu_runs *r, uint32_t length, uint32_t *first);

/* Gives a USED or LEAVING run back as CLEAN or KEPT. */
void okosu_runs_put(struct okosu_runs *r, uint32_t first, enum okosu_run_state state);

/* Lengthens a USED run to `length` chunks out of the clean run behind it. */
bool okosu_runs_extend(struct okosu_runs *r, uint32_t first, uint32_t length);

/* Shortens a USED run to `length` chunks; the rest becomes a LEAVING run of its own (its first). */
uint32_t okosu_runs_split(struct okosu_runs *r, uint32_t first, uint32_t length);

/* Any kept run, the shortest kind first, made LEAVING; OKOSU_RUNS_NONE if there is none. */
uint32_t okosu_runs_take_kept(struct okosu_runs *r);

/* Drops the clean run at the end of the table: the number of chunks that are left. */
uint32_t okosu_runs_cut(struct okosu_runs *r);
