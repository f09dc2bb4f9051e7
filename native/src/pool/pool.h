/* SPDX-License-Identifier: Apache-2.0 */
/* pool: what its functions and its worker share. */
#ifndef OKOSU_POOL_POOL_H
#define OKOSU_POOL_POOL_H

#include "pool/units.h"

#include <okosu/zero_pool.h>

#include <pthread.h>
#include <stdatomic.h>

#define OKOSU_POOL_PAGE ((size_t)4096)

struct okosu_zero_pool {
    struct okosu_zero_pool_options options;
    const struct okosu_zero_engine *engine;
    unsigned char *base;
    /* false in a child of fork, which has no worker and may hold no lock; and how often this
     * process was a child when the pool was made, for emulators that do not wipe `mine` */
    volatile bool *mine;
    unsigned childhood;
    bool hugetlb;
    struct okosu_unit *rows;

    /* Blocks on their way back: index + 1 of the last one, 0: none. Whoever has the lock takes them
     * in, so that giving one needs no lock. */
    _Atomic uint32_t returned;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;  /* there is something to do, or `stop` */
    struct okosu_units units;
    bool stop, filling;
    bool asleep;         /* the worker looks only when `work` is signalled */
    uint64_t fill_after; /* ns of CLOCK_MONOTONIC: no memory was to be had, try again then */
    _Atomic uint64_t misses, gives;
    uint64_t takes, cleared, populated, dropped, failures;

    pthread_t worker;
    bool has_worker;
};

/* Start the thread; 0 or -errno. */
int okosu_pool_start(struct okosu_zero_pool *pool);
/* There may be something to do. Costs something only where the worker sleeps. */
void okosu_pool_wake(struct okosu_zero_pool *pool);
/* With the lock held: take in what was given back. */
void okosu_pool_take_in(struct okosu_zero_pool *pool);
/* End it, if there is one. */
void okosu_pool_end(struct okosu_zero_pool *pool);

/* With the lock held, which is let go meanwhile: clear, populate or drop one unit. Bytes that
 * became clean, 0 where there was nothing to do or it failed; `did` tells the two apart. */
size_t okosu_pool_step(struct okosu_zero_pool *pool, bool *did);
/* With the lock held: whether okosu_pool_step() would do something now; else *until is when it
 * may, or 0. */
bool okosu_pool_has_work(struct okosu_zero_pool *pool, uint64_t *until);
uint64_t okosu_pool_now(void);

#endif
