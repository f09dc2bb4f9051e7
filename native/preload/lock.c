/* SPDX-License-Identifier: Apache-2.0 */
/* Futex lock with re-entry by its owner (see lock.h). */
#include "lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static uintptr_t self(void)
{
    return (uintptr_t)pthread_self();
}

bool okosu_lock_is_mine(struct okosu_lock *lock)
{
    return atomic_load_explicit(&lock->owner, memory_order_relaxed) == self();
}

void okosu_lock_take(struct okosu_lock *lock)
{
    uint32_t expected = 0;

    if (okosu_lock_is_mine(lock)) {
        lock->depth++;
        return;
    }
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &expected, 1, memory_order_acquire,
                                                 memory_order_relaxed)) {
        while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
            syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
    }
    atomic_store_explicit(&lock->owner, self(), memory_order_relaxed);
    lock->depth = 1;
}

void okosu_lock_release(struct okosu_lock *lock)
{
    if (--lock->depth)
        return;
    atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
