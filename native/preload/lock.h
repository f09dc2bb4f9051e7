/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of the preload library: a futex that its owner may take again.
 *
 * Why not pthread_mutex: atfork handlers of other libraries allocate while ours holds the lock, in
 * the parent before the fork and in the child after it. A recursive pthread mutex names its owner
 * by thread id, which changes in the child; here the owner is pthread_self(), which does not.
 *
 * 1. `owner` is non-zero only while `state` is non-zero, and only the owner writes it.
 * 2. `depth` is touched by the owner alone. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct okosu_lock {
    _Atomic uint32_t state; /* 0 free, 1 taken, 2 taken and perhaps waited for */
    uint32_t depth;
    _Atomic uintptr_t owner;
};

void okosu_lock_take(struct okosu_lock *lock);
void okosu_lock_release(struct okosu_lock *lock);
bool okosu_lock_is_mine(struct okosu_lock *lock);
