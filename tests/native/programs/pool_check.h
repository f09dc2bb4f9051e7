/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of a process's pool and of a daemon's share: figures that add up, and threads that
 * scan all that they take. */
#pragma once

#include "block_check.h"

#include <okosu/zero_pool.h>

#include <pthread.h>

#define UNIT (2 * MIB)

static inline struct okosu_zero_pool_stats stats_of(struct okosu_zero_pool *pool)
{
    struct okosu_zero_pool_stats s;

    okosu_zero_pool_stats(pool, &s);
    CHECK(s.clean + s.held + s.dirty + s.zeroing + s.absent == s.cap);
    return s;
}

struct pool_user {
    pthread_t thread;
    struct okosu_zero_pool *pool;
    uint64_t seed, takes, misses;
    bool renews; /* one block in sixteen is renewed instead of given back */
};

static inline void *pool_use(void *arg)
{
    struct pool_user *user = arg;
    struct {
        unsigned char *at;
        size_t dirty;
    } held[3] = {0};

    for (uint64_t done = 0; done < user->takes;) {
        size_t slot = next_random(&user->seed) % 3;
        size_t bytes = 1 + next_random(&user->seed) % (3 * UNIT);
        size_t size;

        if (held[slot].at) {
            int rc = user->renews && next_random(&user->seed) % 16 == 0
                         ? okosu_zero_pool_renew(user->pool, held[slot].at)
                         : okosu_zero_pool_give(user->pool, held[slot].at, held[slot].dirty);

            CHECK(rc == 0);
            held[slot].at = NULL;
            continue;
        }
        held[slot].at = okosu_zero_pool_take(user->pool, bytes);
        if (!held[slot].at) {
            user->misses++;
            /* What clears may have no CPU of its own. */
            okosu_zero_pool_work(user->pool, UNIT);
            continue;
        }
        size = okosu_zero_pool_size(user->pool, held[slot].at);
        CHECK(size >= bytes && size < bytes + UNIT);
        CHECK(all_zero(held[slot].at, size));
        held[slot].dirty = bytes;
        soil(held[slot].at, bytes, &user->seed);
        done++;
    }
    for (size_t i = 0; i < 3; i++)
        if (held[i].at)
            CHECK(okosu_zero_pool_give(user->pool, held[i].at, held[i].dirty) == 0);
    return NULL;
}

/* Takes by so many threads together; returns how many found nothing. *brokered becomes the most bytes
 * that were the daemon's whenever a thread ended. */
static inline uint64_t pool_use_all(struct okosu_zero_pool *pool, bool renews, uint64_t takes,
                                    size_t threads, uint64_t seed, size_t *brokered)
{
    struct pool_user user[64];
    uint64_t misses = 0;

    CHECK(threads && threads <= 64);
    *brokered = 0;
    for (size_t i = 0; i < threads; i++) {
        user[i] = (struct pool_user){
            .pool = pool, .seed = seed * 1000 + i + 1, .takes = takes / threads, .renews = renews};
        CHECK(!pthread_create(&user[i].thread, NULL, pool_use, &user[i]));
    }
    for (size_t i = 0; i < threads; i++) {
        size_t now;

        pthread_join(user[i].thread, NULL);
        misses += user[i].misses;
        now = stats_of(pool).brokered;
        *brokered = now > *brokered ? now : *brokered;
    }
    CHECK(stats_of(pool).held == 0);
    return misses;
}
