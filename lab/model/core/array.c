/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Up to so many ways a key is searched one by one, above by a hash table. */
#define NARROW 16u
#define NOWHERE UINT32_MAX

static size_t table_size(const struct array *array)
{
    return (size_t)1 << (64 - array->table_shift);
}

/* Compute, for each way, the nodes of the tree above it and their values when all point away from
 * it. */
static void make_away(struct array *array)
{
    for (uint32_t way = 0; way < array->ways; way++)
        for (uint32_t node = array->ways + way; node > 1; node /= 2) {
            array->away[0][way] |= 1ull << node / 2;
            if (node % 2 == 0)
                array->away[1][way] |= 1ull << node / 2;
        }
}

int array_make(struct array *array, uint32_t sets, uint32_t ways, enum array_policy policy,
               uint64_t random)
{
    size_t places = (size_t)sets * ways;
    bool whole = true;

    *array = (struct array){.sets = sets, .ways = ways, .policy = policy, .random = random};
    whole &= (array->keys = malloc(places * sizeof(*array->keys))) != NULL;
    whole &= (array->newest = malloc(sets * sizeof(*array->newest))) != NULL;
    whole &= (array->held = malloc(sets * sizeof(*array->held))) != NULL;
    if (policy == ARRAY_LRU) {
        whole &= (array->older = malloc(places * sizeof(*array->older))) != NULL;
        whole &= (array->newer = malloc(places * sizeof(*array->newer))) != NULL;
    } else if (policy == ARRAY_PLRU) {
        whole &= (array->trees = malloc(sets * sizeof(*array->trees))) != NULL;
        for (int i = 0; i < 2; i++)
            whole &= (array->away[i] = calloc(ways, sizeof(*array->away[i]))) != NULL;
    }
    if (ways > NARROW) {
        array->table_shift = 63;
        while (table_size(array) < 2 * places)
            array->table_shift--;
        whole &= (array->table = malloc(table_size(array) * sizeof(*array->table))) != NULL;
    }
    if (!whole) {
        array_free(array);
        return -ENOMEM;
    }
    if (policy == ARRAY_PLRU)
        make_away(array);
    array_clear(array);
    return 0;
}

void array_free(struct array *array)
{
    free(array->keys);
    free(array->newest);
    free(array->held);
    free(array->older);
    free(array->newer);
    free(array->trees);
    free(array->away[0]);
    free(array->away[1]);
    free(array->table);
    *array = (struct array){0};
}

void array_clear(struct array *array)
{
    size_t places = (size_t)array->sets * array->ways;

    memset(array->keys, 0xff, places * sizeof(*array->keys));
    memset(array->held, 0, array->sets * sizeof(*array->held));
    if (array->trees)
        memset(array->trees, 0, array->sets * sizeof(*array->trees));
    if (array->table)
        memset(array->table, 0xff, table_size(array) * sizeof(*array->table));
    for (uint32_t set = 0; set < array->sets; set++) {
        uint32_t first = set * array->ways, last = first + array->ways - 1;

        array->newest[set] = last;
        for (uint32_t place = first; array->older && place <= last; place++) {
            array->older[place] = place == first ? last : place - 1;
            array->newer[place] = place == last ? first : place + 1;
        }
    }
}

static uint32_t hash(const struct array *array, uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> array->table_shift);
}

static uint32_t next(const struct array *array, uint32_t slot)
{
    return (slot + 1) & (uint32_t)(table_size(array) - 1);
}

static void table_add(struct array *array, uint32_t place)
{
    uint32_t slot = hash(array, array->keys[place]);

    while (array->table[slot] != NOWHERE)
        slot = next(array, slot);
    array->table[slot] = place;
}

/* Remove a place from the table, before its key changes. Entries behind it move up where their
 * hash allows it, so that searches by linear probing still find them. */
static void table_remove(struct array *array, uint32_t place)
{
    uint32_t mask = (uint32_t)(table_size(array) - 1), hole = hash(array, array->keys[place]);

    while (array->table[hole] != place)
        hole = next(array, hole);
    for (uint32_t slot = next(array, hole); array->table[slot] != NOWHERE;
         slot = next(array, slot)) {
        uint32_t wanted = hash(array, array->keys[array->table[slot]]);

        if (((slot - wanted) & mask) >= ((slot - hole) & mask)) {
            array->table[hole] = array->table[slot];
            hole = slot;
        }
    }
    array->table[hole] = NOWHERE;
}

static uint32_t search(const struct array *array, uint32_t set, uint64_t key)
{
    uint32_t first = set * array->ways;

    if (array->table) {
        for (uint32_t slot = hash(array, key); array->table[slot] != NOWHERE;
             slot = next(array, slot))
            if (array->keys[array->table[slot]] == key)
                return array->table[slot];
        return NOWHERE;
    }
    for (uint32_t way = 0; way < array->ways; way++)
        if (array->keys[first + way] == key)
            return first + way;
    return NOWHERE;
}

bool array_use_older(struct array *array, uint32_t set, uint64_t key)
{
    uint32_t place = search(array, set, key);

    if (place == NOWHERE)
        return false;
    array_renew(array, set, place);
    return true;
}

static uint32_t follow(uint64_t tree, uint32_t ways)
{
    uint32_t node = 1;

    while (node < ways)
        node = 2 * node + (tree >> node & 1);
    return node - ways;
}

static uint32_t victim(struct array *array, uint32_t set)
{
    uint32_t first = set * array->ways;

    if (array->policy == ARRAY_LRU)
        return array->newer[array->newest[set]];
    for (uint32_t place = first; array->held[set] < array->ways; place++)
        if (array->keys[place] == ARRAY_NONE)
            return place;
    if (array->policy == ARRAY_PLRU)
        return first + follow(array->trees[set], array->ways);
    array->random ^= array->random << 13;
    array->random ^= array->random >> 7;
    array->random ^= array->random << 17;
    return first + (uint32_t)(array->random >> 32) % array->ways;
}

uint64_t array_put(struct array *array, uint32_t set, uint64_t key)
{
    uint32_t place = victim(array, set);
    uint64_t gone = array->keys[place];

    if (gone == ARRAY_NONE)
        array->held[set]++;
    else if (array->table)
        table_remove(array, place);
    array->keys[place] = key;
    if (array->table)
        table_add(array, place);
    array_renew(array, set, place);
    return gone;
}

bool array_drop(struct array *array, uint32_t set, uint64_t key)
{
    uint32_t place = search(array, set, key);

    if (place == NOWHERE)
        return false;
    if (array->table)
        table_remove(array, place);
    array->keys[place] = ARRAY_NONE;
    array->held[set]--;
    /* Move the place to the old end of the LRU ring, so that it is the next to be filled. */
    if (array->policy == ARRAY_LRU) {
        array_renew(array, set, place);
        array->newest[set] = array->older[place];
    }
    return true;
}
