/* SPDX-License-Identifier: Apache-2.0 */
#include "backend.h"

/* Weak: posix/cancel.c has one whose routine may be cancelled. */
__attribute__((weak)) IN_LOCK int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    if (once->done)
        return 0;
    if (!lock_try(&once->lock))
        lock_wait(&once->lock, NO_DEADLINE);
    if (!once->done) {
        routine();
        once->done = 1;
    }
    lock_release(&once->lock);
    return 0;
}
