/* SPDX-License-Identifier: Apache-2.0 */
/* zero_bench: what the parts of okosu-bench-zero share. */
#ifndef OKOSU_BENCH_ZERO_H
#define OKOSU_BENCH_ZERO_H

#include "harness.h"

#include <okosu/zero.h>

typedef void *zero_function(void *p, int byte, size_t n);
typedef void *zero_only_function(void *p, size_t n);

/* A routine that is measured. */
struct zero_routine {
    const char *variant, *kind, *library;
    char config[96];
    zero_function *set;
    zero_only_function *zero; /* where set is NULL */
    /* The use whose choice `config` names; OKOSU_ZERO_USES: none. */
    enum okosu_zero_use use;
};

enum { ZERO_ROUTINES = 24 };

/* All that can run here: the table's, the entries, glibc's memset. Returns how many. */
size_t zero_routines(struct bench *bench, struct zero_routine routines[ZERO_ROUTINES]);
/* A row of this routine at this size; `config` becomes what its entry chose for it. */
struct bench_row zero_row(const char *kernel, struct zero_routine *routine, size_t n);

/* Memory that is in no cache: `areas` places of n bytes, `offset` from a line, used in a random
 * order that no prefetcher follows. */
struct zero_cold {
    char *memory;
    size_t n, stride, areas;
    uint32_t *order; /* of the areas */
    size_t next;
};

/* Batches of at most this many bytes or areas: what is made cold takes time too. */
#define ZERO_COLD_BYTES ((size_t)16 << 20)
enum { ZERO_COLD_AREAS = 2048 };

int zero_cold_make(struct bench *bench, struct zero_cold *cold, size_t n, size_t offset);
void zero_cold_drop(struct bench *bench, struct zero_cold *cold);
/* Write back and drop all areas from the caches, and begin with the first. */
void zero_cold_prepare(struct zero_cold *cold);
char *zero_cold_next(struct zero_cold *cold);

/* Each measures its points. 0 or -errno after a message. */
int zero_mix_sweep(struct bench *bench, struct zero_routine *routines, size_t count);
int zero_page_sweep(struct bench *bench, struct zero_routine *routines, size_t count);

#endif
