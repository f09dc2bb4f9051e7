/* SPDX-License-Identifier: Apache-2.0 */
/* supply: where a pool's units come from and go to: the kernel, or okosu-zerod. Without the pool's
 * lock, of units that are nobody else's meanwhile. */
#ifndef OKOSU_POOL_SUPPLY_H
#define OKOSU_POOL_SUPPLY_H

#include "pool/pool.h"

/* Have a unit's memory there, clean. 0 or -errno. */
int okosu_supply_populate(struct okosu_zero_pool *pool, size_t index);
/* Have its first `bytes` cleared. 0; -errno: it is to be dropped. */
int okosu_supply_clear(struct okosu_zero_pool *pool, size_t index, size_t bytes);
/* Hand its memory back. 0 or -errno: it stays apart for good. */
int okosu_supply_drop(struct okosu_zero_pool *pool, size_t index);
/* Map `count` units anew, whatever is there; what they hold is not known. 0 or -errno. Never talks
 * to the daemon. */
int okosu_supply_renew(struct okosu_zero_pool *pool, size_t index, size_t count);

#endif
