/* SPDX-License-Identifier: Apache-2.0 */
/* supply: uses the daemon's units where it has some, else the kernel's pages. */
#include "pool/supply.h"

#include "pool/backing.h"
#include "pool/broker.h"

#include "base/pages.h"

#include <okosu/zero.h>

static void *at(const struct okosu_zero_pool *pool, size_t index)
{
    return pool->base + index * pool->options.unit;
}

int okosu_supply_populate(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    if (pool->broker && okosu_broker_fetch(pool->broker, index) == 0)
        return 0;
    /* A unit that was mapped and could not be populated is dropped like any other. */
    rc = okosu_broker_memory(pool->broker, index) == OKOSU_UNIT_OWN
             ? 0
             : okosu_supply_drop(pool, index);
    if (!rc && pool->hugetlb)
        rc = okosu_pages_populate(at(pool, index), pool->options.unit);
    else if (!rc)
        okosu_backing_touch(at(pool, index), pool->options.unit);
    return rc;
}

int okosu_supply_clear(struct okosu_zero_pool *pool, size_t index, size_t bytes)
{
    switch (okosu_broker_memory(pool->broker, index)) {
    case OKOSU_UNIT_BROKERED:
        return okosu_broker_clear(pool->broker, index, bytes);
    case OKOSU_UNIT_LEFT:
        /* Not every engine can clear shared memory: exchanging pages with the kernel cannot. */
        okosu_zero_page(at(pool, index), bytes);
        return 0;
    case OKOSU_UNIT_OWN:
        break;
    }
    return pool->engine->clear(at(pool, index), bytes);
}

int okosu_supply_drop(struct okosu_zero_pool *pool, size_t index)
{
    int rc;

    if (okosu_broker_memory(pool->broker, index) == OKOSU_UNIT_OWN)
        return okosu_backing_drop(at(pool, index), pool->options.unit);
    rc =
        okosu_backing_renew(at(pool, index), pool->options.unit, pool->hugetlb, pool->options.node);
    /* The daemon gets its unit back only after the unit is unmapped here. */
    if (!rc)
        okosu_broker_drop(pool->broker, index);
    return rc;
}

int okosu_supply_renew(struct okosu_zero_pool *pool, size_t index, size_t count)
{
    int rc = okosu_backing_renew(at(pool, index), count * pool->options.unit, pool->hugetlb,
                                 pool->options.node);

    for (size_t i = index; i < index + count && !rc && pool->broker; i++)
        okosu_broker_leave(pool->broker, i);
    return rc;
}
