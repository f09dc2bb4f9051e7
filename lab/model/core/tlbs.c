/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "tlbs.h"

#include <errno.h>

#include "seed.h"

/* Numbers of the TLBs' random generators begin after those of the caches. */
#define FIRST_NUMBER ((uint64_t)SHAPE_CPUS * SHAPE_LEVELS)

int tlbs_make(struct tlbs *tlbs, const struct shape *shape, uint32_t cpu)
{
    *tlbs = (struct tlbs){.shape = shape};
    for (uint32_t i = 0; i < shape->tlbs; i++) {
        const struct tlb_shape *tlb = &shape->tlb[i];
        uint64_t number = FIRST_NUMBER + (uint64_t)cpu * SHAPE_TLBS + i;

        if (array_make(&tlbs->arrays[i], tlb->sets, tlb->ways, tlb->policy,
                       seed_of(shape->seed, number))) {
            tlbs_free(tlbs);
            return -ENOMEM;
        }
        for (int size = 0; size < SHAPE_SIZES; size++)
            if (tlb->holds[size])
                tlbs->holder[tlb->level][size] = &tlbs->arrays[i];
    }
    return 0;
}

void tlbs_free(struct tlbs *tlbs)
{
    for (uint32_t i = 0; i < SHAPE_TLBS; i++)
        array_free(&tlbs->arrays[i]);
}

void tlbs_flush(struct tlbs *tlbs)
{
    for (uint32_t i = 0; i < tlbs->shape->tlbs; i++)
        array_clear(&tlbs->arrays[i]);
}

uint32_t tlbs_access(struct tlbs *tlbs, uint64_t address, enum page_size size)
{
    uint64_t key = tlbs_key(address, size);
    uint32_t levels = tlbs->shape->tlb_levels, found;

    for (found = 0; found < levels; found++) {
        struct array *array = tlbs->holder[found][size];

        if (array && array_use(array, tlbs_set(array, key), key))
            break;
    }
    for (uint32_t level = found; level-- > 0;) {
        struct array *array = tlbs->holder[level][size];

        if (array)
            array_put(array, tlbs_set(array, key), key);
    }
    return found;
}
