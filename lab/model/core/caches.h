/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The caches of all CPUs: levels from the CPU outwards, private ones first. Physically indexed.
 * There is no coherence: a store does not take the line from other CPUs. */
#ifndef OKOSU_MODEL_CACHES_H
#define OKOSU_MODEL_CACHES_H

#include "array.h"
#include "shape.h"

/* One cache: private to a CPU, or shared. */
struct level {
    struct array array;
    struct array full_lru; /* used where the shape asks for it */
    const struct cache_shape *shape;
    uint32_t line_shift;
    uint32_t set_mask;
};

struct caches {
    const struct shape *shape;
    struct level *levels; /* by CPU, then by level; of a shared level CPU 0's is used */
    struct level **at;    /* by CPU, then by level: the one that this CPU uses */
};

/* 0 or -ENOMEM. The shape stays the caller's and must outlive the caches. */
int caches_make(struct caches *caches, const struct shape *shape);
void caches_free(struct caches *caches);

static inline uint64_t caches_line(const struct level *level, uint64_t address)
{
    return address >> level->line_shift;
}

uint32_t caches_set(const struct level *level, uint64_t address);

/* Access the line of a physical address. Returns the level where it was found (the number of levels
 * means memory). Afterwards it is in every level nearer to the CPU, and in the others as their
 * `fill` says. `missed[level]` is incremented where the fully associative cache beside missed. */
uint32_t caches_access(struct caches *caches, uint32_t cpu, uint64_t address, uint64_t *missed);

#endif
