/* SPDX-License-Identifier: Apache-2.0 */
/* pool: what the pool's functions and its worker share. */
#pragma once

#include "base/now.h"
#include "pool/units.h"

#include <okosu/zero_pool.h>

#include <pthread.h>
#include <stdatomic.h>

#define OKOSU_POOL_PAGE ((size_t)4096)

struct okosu_zero_pool {
    /* This line holds what take and give read, and the next one what only they write. */
    _Alignas(64) unsigned char *base;
    /* `mine` is false in a child of fork, which has no worker and may hold no lock. `childhood`
     * counts how often this process had been a child when the pool was made, for emulators that do
     * not clear `mine`. */
    volatile bool *mine;
    unsigned childhood;
    uint8_t shift;            /* a unit has 1 << shift bytes */
    atomic_bool asleep;       /* the worker must be woken, or started (stand_back) */
    struct okosu_units units; /* needs no lock: see units.h */

    _Alignas(64) _Atomic uint64_t takes;
    _Atomic uint64_t misses, gives;

    _Alignas(64) struct okosu_zero_pool_options options;
    const struct okosu_zero_engine *engine;
    bool hugetlb;
    atomic_bool retired;
    struct okosu_broker *broker; /* NULL: all units are its own */
    struct okosu_unit *rows;

    /* As in the options, until okosu_zero_pool_want(). */
    atomic_size_t low, high, keep, clean;

    pthread_mutex_t lock; /* protects all below, which take and give do not need */
    pthread_cond_t work;  /* signalled when there is something to do, or `stop` is set */
    bool stop, filling;
    uint64_t fill_after; /* ns of CLOCK_MONOTONIC: there was no memory, try again then */
    uint64_t cleared, populated, dropped, failures;
    _Atomic uint64_t waits;
    /* With `stand_back`: when a new worker may be started, and how long the last one stayed away;
     * and what a thread of the program had run and waited for a CPU (ns) when it last looked. */
    _Atomic uint64_t away_until;
    uint64_t away_ns, started, ran, waited;
    long looked;

    pthread_t worker;
    atomic_bool has_worker;
    _Atomic pid_t worker_id; /* of the last one that began, which may have ended */
};

/* Start the thread; 0 or -errno. */
int okosu_pool_start(struct okosu_zero_pool *pool);
/* Call when there may be something to do. Costs something only where the worker sleeps. */
void okosu_pool_wake(struct okosu_zero_pool *pool);
/* End the worker, if there is one. */
void okosu_pool_end(struct okosu_zero_pool *pool);
/* After okosu_pool_end(), a pool that stands back starts a worker again when there is work. */
void okosu_pool_resume(struct okosu_zero_pool *pool);

/* Whether this process made the pool, and is no child of the one that did. */
bool okosu_pool_is_mine(const struct okosu_zero_pool *pool);

/* Call in a child of fork: let go of the memory that the parent's pool kept. */
void okosu_pool_forget(struct okosu_zero_pool *pool);

/* For a caller whose blocks may be unmapped in parts, or have other things mapped over them.
 *
 * The start of the held block that this address of the pool is in, or NULL. */
void *okosu_pool_block(const struct okosu_zero_pool *pool, const void *at);
/* Hold the unit that this address is in, which nobody holds. False: another thread uses it. */
bool okosu_pool_seize(struct okosu_zero_pool *pool, const void *at);
/* Whether these addresses have the pool's own memory, and none of the daemon's, which is shared. */
bool okosu_pool_is_private(const struct okosu_zero_pool *pool, const void *at, size_t bytes);
/* Unmap all units that nobody holds, and the others when they are given back: from now on the
 * kernel may map anything there. Call when nothing more will be taken. */
void okosu_pool_retire(struct okosu_zero_pool *pool);

/* Clear, populate or drop one unit. Call with the lock held; it is released meanwhile. Returns the
 * bytes that became clean, 0 where there was nothing to do or it failed; `did` tells the two
 * apart. */
size_t okosu_pool_step(struct okosu_zero_pool *pool, bool *did);
/* Call with the lock held: whether okosu_pool_step() would do something now; else *until is when it
 * may, or 0. */
bool okosu_pool_has_work(struct okosu_zero_pool *pool, uint64_t *until);
