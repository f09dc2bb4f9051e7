/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* The TLBs of one CPU: levels, each of one array for all page sizes or of one for each. A size that
 * no array of a level holds is never found there. */
#ifndef OKOSU_MODEL_TLBS_H
#define OKOSU_MODEL_TLBS_H

#include "array.h"
#include "shape.h"

struct tlbs {
    const struct shape *shape;
    struct array arrays[SHAPE_TLBS];
    struct array *holder[SHAPE_TLB_LEVELS][SHAPE_SIZES]; /* NULL: none */
};

/* 0 or -ENOMEM. */
int tlbs_make(struct tlbs *tlbs, const struct shape *shape, uint32_t cpu);
void tlbs_free(struct tlbs *tlbs);
void tlbs_flush(struct tlbs *tlbs);
/* The key of a page. It holds the size too: sizes may share an array, and a page of each may have
 * the same number. */
static inline uint64_t tlbs_key(uint64_t address, enum page_size size)
{
    return address >> (size == PAGE_2M ? HUGE_SHIFT : PAGE_SHIFT) << 1 | size;
}

static inline uint32_t tlbs_set(const struct array *array, uint64_t key)
{
    return (uint32_t)(key >> 1) & (array->sets - 1);
}

/* Translate an address in a page of this size. Returns the level where the entry was found (the
 * number of levels means a walk). Afterwards it is in every level nearer to the CPU. */
uint32_t tlbs_access(struct tlbs *tlbs, uint64_t address, enum page_size size);

#endif
