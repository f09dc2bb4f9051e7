/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A set-associative array of keys, which is what a cache and a TLB are made of. The caller says in
 * which set a key belongs, and always says the same; a key is any number but ARRAY_NONE.
 */
#ifndef OKOSU_MODEL_ARRAY_H
#define OKOSU_MODEL_ARRAY_H

#include <stdbool.h>
#include <stdint.h>

#define ARRAY_NONE UINT64_MAX
/* A tree of pseudo-LRU is one word. */
#define ARRAY_PLRU_WAYS 64u

enum array_policy {
    ARRAY_LRU,
    ARRAY_PLRU,   /* a binary tree over the ways; ways are a power of two */
    ARRAY_RANDOM, /* xorshift64, the upper half of its word modulo ways */
};

struct array {
    uint32_t sets;
    uint32_t ways;
    enum array_policy policy;
    uint64_t *keys;   /* by place: sets * ways */
    uint32_t *newest; /* by set, the place used last: using it again changes nothing */
    uint32_t *held;   /* by set, how many keys it has */
    uint32_t *older;  /* LRU: a ring through the places of each set, empty ones at its old end */
    uint32_t *newer;  /* LRU: the same ring the other way */
    uint64_t
        *trees; /* PLRU: bit n is node n of the set's tree, set where the right half is older */
    uint64_t *away[2]; /* PLRU, by way: the nodes above it, and those that then are set */
    uint32_t *table; /* many ways: places by a hash of their key, the next ones where it is taken */
    uint32_t table_shift;
    uint64_t random;
};

/* 0 or -ENOMEM. `sets` is a power of two; `random` is the generator's first state, not 0. */
int array_make(struct array *array, uint32_t sets, uint32_t ways, enum array_policy policy,
               uint64_t random);
void array_free(struct array *array);
/* Forget every key. The generator goes on where it is. */
void array_clear(struct array *array);

/* Make a place that holds a key its set's newest. */
static inline void array_renew(struct array *array, uint32_t set, uint32_t place)
{
    uint32_t newest = array->newest[set];

    if (place == newest)
        return;
    array->newest[set] = place;
    if (array->policy == ARRAY_PLRU) {
        uint32_t way = place - set * array->ways;

        array->trees[set] = (array->trees[set] & ~array->away[0][way]) | array->away[1][way];
    } else if (array->policy == ARRAY_LRU) {
        uint32_t older = array->older[place], newer = array->newer[place], oldest;

        array->newer[older] = newer;
        array->older[newer] = older;
        /* The gap between the newest and the oldest is where either end of the ring grows. */
        oldest = array->newer[newest];
        array->older[place] = newest;
        array->newer[place] = oldest;
        array->newer[newest] = place;
        array->older[oldest] = place;
    }
}

bool array_use_older(struct array *array, uint32_t set, uint64_t key);

/* Say whether the key is there, and if so make it the set's newest. */
static inline bool array_use(struct array *array, uint32_t set, uint64_t key)
{
    if (array->keys[array->newest[set]] == key)
        return true;
    return array_use_older(array, set, key);
}

/* array_use() for a key that was at this place: false where it is no longer there. */
static inline bool array_use_at(struct array *array, uint32_t set, uint32_t place, uint64_t key)
{
    if (array->keys[place] != key)
        return false;
    array_renew(array, set, place);
    return true;
}

/* Put in a key that is not there, as the newest. Returns the key that had to go for it, ARRAY_NONE
 * where a place was empty: the first empty one is taken. */
uint64_t array_put(struct array *array, uint32_t set, uint64_t key);
/* Take a key out; false where it was not there. */
bool array_drop(struct array *array, uint32_t set, uint64_t key);

#endif
