/* SPDX-License-Identifier: Apache-2.0 */
/* Harness: what the programs okosu-bench-NAME share. A program lists its routines, fills rows
 * (variants, peers, limits) for each point, and the harness interleaves and times them. */
#pragma once

#include "choose/caches.h"

#include <okosu/variant.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one item (an element, a byte, a page) costs: bytes moved to and from memory as the caller
 * sees them, and floating-point operations. A table of these ends with a NULL name. */
struct bench_routine {
    const char *name;
    double bytes_per_item, flops_per_item;
    const char *item; /* "element", "byte", "page" */
    const char *doc;
};

/* One variant of one routine, ready to be called. */
struct bench_row {
    const char *routine; /* a name of the program's table */
    const char *variant; /* "avx512", "openblas-pypi" */
    const char *kind;    /* "okosu", "peer", "limit", "paper" */
    const char *library; /* "okosu 0.1.0"; NULL: this library and its version */
    const char *config;  /* what the library chose; NULL: nothing to say */
    /* Call the routine `calls` times. Results must reach bench_keep(), or the compiler drops the
     * work. */
    void (*run)(void *arg, size_t calls);
    void *arg;
    /* Untimed, before each batch: brings the operands into the state that the mode names (cold);
     * NULL: the batch is preceded by untimed calls instead, which warm the caches. */
    void (*prepare)(void *arg);
    /* Most calls of one batch, where prepare() serves only so many; 0: no limit. */
    size_t calls_limit;
    const char *extra; /* members of the JSON object "extra", without its braces; NULL: none */
};

/* What all rows of one point have in common. */
struct bench_point {
    size_t n;          /* the size that is swept, in the program's own unit */
    size_t items;      /* items of one call; 0: n */
    size_t footprint;  /* bytes that one call touches */
    const char *place; /* NULL: the smallest cache that holds the footprint (bench_place) */
    size_t align[2];   /* offsets of the operands in a 64-byte line, or a page */
    const char *mode;  /* "throughput", "latency", "hot", "cold", "mix..." */
    const char *unit;  /* "cycles" (NULL too) or "ns", each per call */
    double batch_us;   /* shortest batch, microseconds; 0: the harness's choice */
};

struct bench; /* the run: options, clock, random numbers, buffers */

struct bench_program {
    const char *name; /* "blas1" */
    const char *doc;  /* one line for --help */
    const struct bench_routine *routines;
    /* Go over the points; what is printed meanwhile is the output. 0 or -errno after a message. */
    int (*sweep)(struct bench *bench);
    /* Call bench_list_variant() for each variant, for --list; NULL: nothing to add. */
    void (*list)(struct bench *bench);
};

/* The whole of main(): reads the options, measures the clock, prints the header, sweeps. */
int bench_main(int argc, char **argv, const struct bench_program *program);

/*
 * Time the rows that --only, --variant and --points leave: `rounds` rounds, each row once a round
 * in an order drawn anew, and print a line for each row. A batch during which the core's speed
 * moved by more than 1 % (5 % where a batch takes a millisecond) or another program ran is
 * repeated, and after five times left out (`dropped`); one that never had the core to itself is
 * kept and counted (`shared`). Rows of kind "limit" always stay; where nothing else is left, nothing
 * is run. 0 or -errno after a message.
 */
int bench_point_run(struct bench *bench, const struct bench_point *point,
                    const struct bench_row *rows, size_t count);
/* Print a row whose samples the program measured itself (run may be NULL), one a round. */
void bench_values(struct bench *bench, const struct bench_point *point, const struct bench_row *row,
                  const double *samples, size_t count);
void bench_note(struct bench *bench, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A variant that can't take part: why, and what would mend it. Printed once a variant. */
void bench_absent(struct bench *bench, const char *variant, const char *why, const char *fix);
void bench_list_variant(struct bench *bench, const struct okosu_variant *variant);

/* Whether --only (for routines) and --variant leave this; spares the making of rows. */
bool bench_wants_routine(const struct bench *bench, const char *routine);
bool bench_wants_variant(const struct bench *bench, const char *variant);
bool bench_smoke(const struct bench *bench);
unsigned bench_rounds(const struct bench *bench);
/* The directories of --peers, NULL-ended. */
const char *const *bench_peers(const struct bench *bench);
const struct okosu_caches *bench_caches(const struct bench *bench);
/* "L1", "L2", "L3" or "memory": the smallest that holds so many bytes. */
const char *bench_place(const struct bench *bench, size_t footprint);
/* The sizes to sweep: those of --sizes, or every one of `all`, or with --smoke `few` of them spread
 * evenly. The array is the harness's; *count is its length. */
const size_t *bench_sizes(struct bench *bench, const size_t *all, size_t all_count, size_t few,
                          size_t *count);
/* A random number below `limit` (which is not 0), from --seed. */
uint64_t bench_random(struct bench *bench, uint64_t limit);
/* Put the numbers into a random order (Fisher-Yates). */
void bench_shuffle(struct bench *bench, uint32_t *order, size_t count);
/* Nanoseconds of a clock tick, and core cycles of one as measured when the run began. */
double bench_ns_per_tick(const struct bench *bench);
double bench_cycles_per_tick(const struct bench *bench);

/* Let this thread, and those that it starts meanwhile, run on every CPU that is allowed but the one
 * that is measured on; false: go back there. False: there is no other. */
bool bench_elsewhere(bool elsewhere);

/*
 * Memory in whole 2 MiB pages where the kernel gives them, touched, beginning `offset` bytes after
 * a 2 MiB boundary (so that offset is the placement in a line and in a page), with `bytes` to use.
 * It lives until the program ends or bench_buffer_drop(). NULL after a message.
 */
void *bench_buffer(struct bench *bench, size_t bytes, size_t offset);
void bench_buffer_drop(struct bench *bench, void *buffer);
/* Write back and drop these bytes from every cache. */
void bench_make_cold(const void *p, size_t bytes);

/* Make the value used, so that the work that led to it is not dropped. */
static inline void bench_keep(double value)
{
#if defined(__x86_64__)
    __asm__ volatile("" : : "x"(value));
#elif defined(__aarch64__)
    __asm__ volatile("" : : "w"(value));
#else
    volatile double sink = value;
    (void)sink;
#endif
}

/* The same for what lies behind a pointer: all memory counts as read and written here. */
static inline void bench_keep_memory(const void *p)
{
    __asm__ volatile("" : : "r"(p) : "memory");
}
