/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* A set-associative array of keys: a cache or a TLB. The caller names the set of a key, always the
 * same one; a key is any number but ARRAY_NONE. */
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
    uint32_t *newest; /* by set, the place used last */
    uint32_t *held;   /* by set, how many keys it has */
    uint32_t *older; /* LRU: a ring through the places of each set, the empty ones at the old end */
    uint32_t *newer; /* LRU: the same ring in the other direction */
    uint64_t
        *trees; /* PLRU: bit n is node n of the set's tree, set where the right half is older */
    uint64_t *away
        [2]; /* PLRU, by way: the nodes above it, and their values when all point away from it */
    uint32_t *table; /* many ways: places by the hash of their key, with linear probing */
    uint32_t table_shift;
    uint64_t random;
};

/* 0 or -ENOMEM. `sets` is a power of two; `random` is the generator's first state, not 0. */
int array_make(struct array *array, uint32_t sets, uint32_t ways, enum array_policy policy,
               uint64_t random);
void array_free(struct array *array);
/* Remove every key. The random generator keeps its state. */
void array_clear(struct array *array);

/* Make this place the newest of its set. */
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
        /* The place is taken out of the ring and put between the newest and the oldest. */
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

/* As array_use(), for a key that was found at this place before: false where it is no longer there. */
static inline bool array_use_at(struct array *array, uint32_t set, uint32_t place, uint64_t key)
{
    if (array->keys[place] != key)
        return false;
    array_renew(array, set, place);
    return true;
}

/* Add a key that is not there, as the newest of its set. Returns the key that it replaced, or
 * ARRAY_NONE where the set had an empty place; the first empty one is taken. */
uint64_t array_put(struct array *array, uint32_t set, uint64_t key);
/* Remove a key; false where it was not there. */
bool array_drop(struct array *array, uint32_t set, uint64_t key);

#endif
