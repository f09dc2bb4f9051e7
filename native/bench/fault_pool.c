/* SPDX-License-Identifier: Apache-2.0 */
/* fault_pool: blocks of the pool of clean memory, beside the faults that they spare. */
#include "fault_bench.h"

#include "harness.h"

#include <okosu/zero_pool.h>

#include <errno.h>

/* Every unit is clean before the clock runs, and in no cache. */
int fault_pool_fill(struct fault_region *region)
{
    struct okosu_zero_pool_options options = {.cap = region->bytes,
                                              .low = region->bytes,
                                              .high = region->bytes,
                                              .backing = OKOSU_POOL_THP,
                                              .no_worker = true};
    int error = okosu_zero_pool_open(&region->pool, &options);

    if (error)
        return error;
    if (okosu_zero_pool_work(region->pool, region->bytes) != region->bytes)
        return -ENOMEM;
    region->base = okosu_zero_pool_take(region->pool, region->bytes);
    bench_make_cold(region->base, region->bytes);
    return okosu_zero_pool_give(region->pool, region->base, 0);
}

void fault_pool_drop(struct fault_region *region)
{
    okosu_zero_pool_close(region->pool);
    region->pool = NULL;
}

/* A block for each huge page; or again and again the first, which the caches hold then. */
int fault_pool_take(struct fault_region *region)
{
    enum fault_how how = region->method->how;

    for (size_t i = 0; i < region->bytes; i += FAULT_HUGE) {
        char *block = okosu_zero_pool_take(region->pool, FAULT_HUGE);

        if (!block)
            return -ENOMEM;
        *(volatile char *)block = 1;
        if (how != FAULT_TAKE)
            fault_read(block, FAULT_HUGE);
        if (how == FAULT_TAKE_READ_AGAIN)
            okosu_zero_pool_give(region->pool, block, 0);
    }
    return 0;
}
