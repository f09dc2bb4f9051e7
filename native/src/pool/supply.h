/* SPDX-License-Identifier: Apache-2.0 */
/* supply: gets a pool's units from the kernel or from okosu-zerod, and returns them. Its functions
 * are called without the pool's lock, for units that no other thread uses meanwhile. */
#pragma once

#include "pool/pool.h"

/* Bring a unit's memory in, clean. 0 or -errno. */
int okosu_supply_populate(struct okosu_zero_pool *pool, size_t index);
/* Have its first `bytes` cleared. 0; -errno: the unit must be dropped. */
int okosu_supply_clear(struct okosu_zero_pool *pool, size_t index, size_t bytes);
/* Return its memory. 0, or -errno: the unit is never used again. */
int okosu_supply_drop(struct okosu_zero_pool *pool, size_t index);
/* Map `count` units anew, whatever is mapped there; their content is then unknown. 0 or -errno.
 * Never talks to the daemon. */
int okosu_supply_renew(struct okosu_zero_pool *pool, size_t index, size_t count);
