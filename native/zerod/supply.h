/* SPDX-License-Identifier: Apache-2.0 */
/* supply: how much clean memory each shelf has: pages brought from the kernel, and handed back. */
#ifndef ZEROD_SUPPLY_H
#define ZEROD_SUPPLY_H

#include "store.h"

/* With the lock held, which is let go meanwhile: populate or drop one slot. False: nothing to do.
 * store->starved: the kernel had no memory at the last try, which is repeated from time to time. */
bool zerod_supply_step(struct zerod_store *store, uint64_t *next);
/* `bytes` were worked on now: *next is when there may be more, at this rate (bytes a second). */
void zerod_supply_charge(uint64_t *next, size_t bytes, uint64_t rate);

#endif
