/* SPDX-License-Identifier: Apache-2.0 */
/* copy_bench: what the parts of okosu-bench-copy share. */
#ifndef OKOSU_BENCH_COPY_H
#define OKOSU_BENCH_COPY_H

#include "harness.h"

#include <okosu/copy.h>

/* A routine that is measured. */
struct copy_routine {
    const char *variant, *kind, *library;
    char config[96];
    okosu_copy_function *copy;
    /* The use whose choice `config` names; OKOSU_COPY_USES: none. */
    enum okosu_copy_use use;
    size_t most; /* bytes; larger sizes are not measured, for they take too long */
};

enum { COPY_ROUTINES = 24 };

/* All that can run here: the table's, the entries, glibc's memcpy. Returns how many. */
size_t copy_routines(struct bench *bench, struct copy_routine routines[COPY_ROUTINES]);
/* A row of this routine at this size; `config` becomes what its entry chose for it. */
struct bench_row copy_row(const char *kernel, struct copy_routine *routine, size_t n);

/* Memory that is in no cache: `areas` pairs of places of n bytes, each `offset` from a line, used
 * in random orders that no prefetcher follows. */
struct copy_cold {
    char *dst, *src;
    size_t n, stride, areas;
    uint32_t *order; /* of the areas of dst, and then of src */
    size_t next;
};

/* Batches of at most this many bytes of each operand, or this many areas: what is made cold takes
 * time too. */
#define COPY_COLD_BYTES ((size_t)8 << 20)
enum { COPY_COLD_AREAS = 1024 };

int copy_cold_make(struct bench *bench, struct copy_cold *cold, size_t n, size_t to, size_t from);
void copy_cold_drop(struct bench *bench, struct copy_cold *cold);
/* Write back and drop all areas from the caches, and begin with the first. */
void copy_cold_prepare(struct copy_cold *cold);
/* The next pair. */
void copy_cold_next(struct copy_cold *cold, char **dst, const char **src);

/* Each measures its points. 0 or -errno after a message. */
int copy_points_sweep(struct bench *bench, struct copy_routine *routines, size_t count);
int copy_mix_sweep(struct bench *bench, struct copy_routine *routines, size_t count,
                   const char *histogram);
int copy_fixed_sweep(struct bench *bench, struct copy_routine *routines, size_t count);

/* The copies of okosu/copy_inline.h as a file with some instruction set has them. */
struct copy_fixed {
    const char *variant; /* "inline-avx512" */
    uint64_t needs;      /* OKOSU_CPU_... */
    int width;           /* bytes of a vector */
    /* For each power of two from 16 to 4096: `calls` copies from src to dst. */
    void (*run[9])(char *dst, const char *src, size_t calls);
};
enum { COPY_FIXED_LEAST = 16, COPY_FIXED_SIZES = 9 };

extern const struct copy_fixed copy_fixed_base, copy_fixed_avx2, copy_fixed_avx512;

#endif
