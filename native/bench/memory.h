/* SPDX-License-Identifier: Apache-2.0 */
/* memory: what okosu-bench-copy and okosu-bench-zero share: the variants that are measured, memory
 * that is in no cache, and the ways of calling them over and over. */
#pragma once

#include "harness.h"

#include <okosu/variant.h>

#include <string.h>

typedef void *copy_function(void *dst, const void *src, size_t n);
typedef void *set_function(void *p, int byte, size_t n);
typedef void *zero_function(void *p, size_t n);

enum { MEMORY_ANY_USE = -1, MEMORY_VARIANTS = 32 };

/* The row of the tables that is the C library's routine: it is measured as a peer, called directly. */
#define MEMORY_LIBC "libc"

/* A copy, or else a set, or else a set to 0. */
struct memory_variant {
    const char *name, *kind, *library;
    char config[96];
    copy_function *copy;
    set_function *set;
    zero_function *zero;
    int use;     /* whose choice `config` names; MEMORY_ANY_USE: none */
    size_t most; /* bytes; larger sizes are not measured, for they take too long; 0: all are */
};

/* Memory that is in no cache: `areas` places of n bytes, of each operand, `offset` from a line, used
 * in random orders that no prefetcher follows. */
struct memory_cold {
    size_t operands; /* 1, or 2: at[0] is written, at[1] read */
    char *at[2];
    size_t n, stride, areas;
    uint32_t *order; /* of the areas of at[0], and then of at[1] */
    size_t next;
};

/* What one row's calls work on. */
struct memory_call {
    const struct memory_variant *variant;
    char *dst;
    const char *src;
    size_t n;
    size_t reload; /* offset in dst of the bytes that mode reload waits for */
    struct memory_cold *cold;
};

struct memory_mode {
    const char *name;
    void (*run)(void *arg, size_t calls); /* arg: a struct memory_call */
    bool cold;
    uint64_t needs;  /* OKOSU_CPU_... */
    size_t from, to; /* sizes for which it is measured */
    size_t places;   /* of the first so many placements */
};

/* What the two benches differ in. */
struct memory_bench {
    const char *routine; /* of the points: "copy", "set" */
    size_t operands;
    const char *(*chosen)(int use, size_t n); /* by the entry of this use */
    struct memory_variant variants[MEMORY_VARIANTS];
    size_t count;
};

/* Append a variant of this machine, or say that it is absent. */
void memory_add(struct bench *bench, struct memory_bench *memory, const struct okosu_variant *about,
                struct memory_variant variant);
/* Append an entry of okosu's, whose choice config names, or glibc's routine (name NULL). */
void memory_add_entry(struct memory_bench *memory, const char *name, struct memory_variant variant);
/* Append the peers of --peers: each shared object NAME.so in a directory DIR/memory, whose memcpy, or
 * memset, is measured as NAME. What cannot be loaded, or lacks it, is told as absent. */
void memory_add_peers(struct bench *bench, struct memory_bench *memory);
/* A row of this variant at this size; `config` becomes what its entry chose for it. */
struct bench_row memory_row(const struct memory_bench *memory, const char *routine,
                            struct memory_variant *variant, size_t n);

/* offsets: of each operand from a line. 0 or -ENOMEM after a message. */
int memory_cold_make(struct bench *bench, struct memory_cold *cold, size_t operands, size_t n,
                     const size_t offsets[2]);
void memory_cold_drop(struct bench *bench, struct memory_cold *cold);
/* Write back and drop all areas from the caches, and begin with the first. */
void memory_cold_prepare(struct memory_cold *cold);

/* The next of the areas, to be given to memory_cold_at() of each operand. */
static inline size_t memory_cold_next(struct memory_cold *cold)
{
    size_t next = cold->next == cold->areas ? 0 : cold->next;

    cold->next = next + 1;
    return next;
}

static inline char *memory_cold_at(const struct memory_cold *cold, size_t operand, size_t area)
{
    return cold->at[operand] + cold->order[operand * cold->areas + area] * cold->stride;
}

/*
 * The loop of a `run`: calls by one pointer, so that no row pays for a jump that others have not.
 * BEFORE and AFTER are statements round each call; DST, SRC and N its operands.
 */
#define MEMORY_LOOP(call, calls, BEFORE, DST, SRC, N, AFTER)                                       \
    do {                                                                                           \
        copy_function *copy_ = (call)->variant->copy;                                              \
        set_function *set_ = (call)->variant->set;                                                 \
        zero_function *zero_ = (call)->variant->zero;                                              \
        if (copy_) {                                                                               \
            for (size_t i = 0; i < (calls); i++) {                                                 \
                BEFORE;                                                                            \
                copy_(DST, SRC, N);                                                                \
                AFTER;                                                                             \
            }                                                                                      \
        } else if (set_) {                                                                         \
            for (size_t i = 0; i < (calls); i++) {                                                 \
                BEFORE;                                                                            \
                set_(DST, 0, N);                                                                   \
                AFTER;                                                                             \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < (calls); i++) {                                                 \
                BEFORE;                                                                            \
                zero_(DST, N);                                                                     \
                AFTER;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/*
 * hot: the same bytes again and again. cold: each call another place that was dropped from every
 * cache (as bench_make_cold() does), one call after the other. drained: the same with a
 * fence after each call, which is what a call costs that nothing overlaps with. reload: each call
 * waits for a load of 8 bytes of what the last one stored.
 */
void memory_run_hot(void *arg, size_t calls);
void memory_run_cold(void *arg, size_t calls);
void memory_run_drained(void *arg, size_t calls);
void memory_run_reload(void *arg, size_t calls);

/* Every size in every mode that it is for, at that mode's placements (offsets of the operands from a
 * page), and the mix; as far as the options want them. 0 or -errno after a message. */
int memory_sweep(struct bench *bench, struct memory_bench *memory, const size_t *all,
                 size_t all_count, const struct memory_mode *modes, size_t mode_count,
                 const size_t (*placements)[2]);

/* Calls whose sizes are drawn from histograms, so that branches are mispredicted as they are in
 * programs: routine "mix", all from one call site, and "sites", from 32. 0 or -errno after a message. */
int memory_mix(struct bench *bench, struct memory_bench *memory);
