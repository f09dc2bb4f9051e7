/* SPDX-License-Identifier: Apache-2.0 */
/* supply: keeps each shelf's amount of clean memory, with pages from the kernel that are later
 * returned to it. */
#pragma once

#include "store.h"

/* Call with the lock held, which is released meanwhile: populate or drop one slot. False: there is
 * nothing to do. store->starved: the kernel had no memory at the last try, which is repeated from
 * time to time. */
bool zerod_supply_step(struct zerod_store *store, uint64_t *next);
/* `bytes` were worked on now: sets *next to the time when the rate (bytes per second) allows
 * more. */
void zerod_supply_charge(uint64_t *next, size_t bytes, uint64_t rate);
