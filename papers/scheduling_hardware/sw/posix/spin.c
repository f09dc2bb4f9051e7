/* SPDX-License-Identifier: Apache-2.0 */
/* Spin locks. The holder may wait for this very PE, so who spins lets others run now and then. */
#include "backend.h"

enum { ROUNDS = 64 };

int pthread_spin_init(pthread_spinlock_t *spin, int shared)
{
    if (shared != PTHREAD_PROCESS_PRIVATE && shared != PTHREAD_PROCESS_SHARED)
        return EINVAL;
    *spin = (pthread_spinlock_t){0};
    return 0;
}

int pthread_spin_destroy(pthread_spinlock_t *spin)
{
    return spin->word != 0 ? EBUSY : 0;
}

int pthread_spin_trylock(pthread_spinlock_t *spin)
{
    if (swap_word(&spin->word, 1) != 0)
        return EBUSY;
    spin->owner = thread_self();
    return 0;
}

int pthread_spin_lock(pthread_spinlock_t *spin)
{
    if (spin->word != 0 && spin->owner == thread_self())
        return EDEADLK;
    for (int round = 0; pthread_spin_trylock(spin) != 0;) {
        /* Only loads, for an exchange keeps the bus from everybody. */
        while (spin->word != 0)
            if (++round % ROUNDS == 0)
                sched_yield();
    }
    return 0;
}

int pthread_spin_unlock(pthread_spinlock_t *spin)
{
    spin->owner = 0;
    spin->word = 0;
    return 0;
}
