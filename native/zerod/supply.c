/* SPDX-License-Identifier: Apache-2.0 */
/* supply: keeps the shelves between their watermarks, and decides which user's clean pages go when
 * another user needs them. */
#include "supply.h"

#include "prove.h"

#include "base/now.h"

void zerod_supply_charge(uint64_t *next, size_t bytes, uint64_t rate)
{
    uint64_t now = zerod_now();

    if (!rate)
        return;
    /* Time in which less than the rate was used gives no credit for later. */
    if (*next < now)
        *next = now;
    *next += (uint64_t)((double)bytes / (double)rate * (double)OKOSU_NS_PER_S);
}

static size_t units(const struct zerod_store *store, size_t bytes)
{
    return bytes / store->limits.unit;
}

/* Between `low` and `high` a shelf goes on filling if it was filling, and goes on waiting if
 * not. */
static bool wants_more(const struct zerod_store *store, struct zerod_shelf *shelf)
{
    size_t clean = shelf->in[ZEROD_CLEAN];

    if (clean < units(store, store->limits.low))
        shelf->filling = true;
    if (clean >= units(store, store->limits.high))
        shelf->filling = false;
    return shelf->filling && shelf->in[ZEROD_HOLE] && !shelf->pinned;
}

static bool has_too_much(const struct zerod_store *store, const struct zerod_shelf *shelf)
{
    size_t keep = units(store, store->limits.keep);

    return keep && shelf->in[ZEROD_CLEAN] > keep && !shelf->pinned;
}

/* Chooses whose clean pages are dropped when another user has fewer and the cap is reached: first
 * those of users without a running program. */
static struct zerod_shelf *victim_for(const struct zerod_store *store,
                                      const struct zerod_shelf *shelf)
{
    struct zerod_shelf *victim = NULL;

    for (size_t i = 0; i < store->shelves; i++) {
        struct zerod_shelf *other = store->shelf[i];

        if (other == shelf || other->pinned || !other->in[ZEROD_CLEAN] ||
            (other->clients && other->in[ZEROD_CLEAN] <= shelf->in[ZEROD_CLEAN] + 1) ||
            (!other->clients && !shelf->clients))
            continue;
        if (!victim || (victim->clients && !other->clients) ||
            (!victim->clients == !other->clients &&
             victim->in[ZEROD_CLEAN] < other->in[ZEROD_CLEAN]))
            victim = other;
    }
    return victim;
}

/* Changes a slot's memory, without the lock. */
struct change {
    struct zerod_store *store;
    struct zerod_shelf *shelf;
    size_t index;
    int rc;
};

static void drop(void *arg)
{
    struct change *it = arg;

    it->rc = zerod_store_empty(it->store, it->shelf, it->index);
}

static void populate(void *arg)
{
    struct change *it = arg;

    it->rc = zerod_store_fill(it->store, it->shelf, it->index);
}

static int change(struct zerod_store *store, struct zerod_shelf *shelf, size_t index,
                  void (*work)(void *arg))
{
    struct change it = {store, shelf, index, 0};

    shelf->slots[index].busy = true;
    pthread_mutex_unlock(&store->lock);
    zerod_hand_do(store->hand, work, &it);
    pthread_mutex_lock(&store->lock);
    shelf->slots[index].busy = false;
    return it.rc;
}

/* Drops the highest clean slot, because the next one is taken at the low end. */
static bool drop_one(struct zerod_store *store, struct zerod_shelf *shelf)
{
    size_t index = store->slots;
    int rc;

    while (index-- > 0) {
        if (shelf->slots[index].state == ZEROD_CLEAN && !shelf->slots[index].busy)
            break;
    }
    if (index == SIZE_MAX)
        return false;
    /* The state changes first, so that nobody takes the slot meanwhile. */
    zerod_store_set(shelf, index, ZEROD_HOLE);
    rc = change(store, shelf, index, drop);
    if (rc)
        zerod_store_set(shelf, index, ZEROD_CLEAN);
    else
        store->present--;
    return !rc;
}

static bool populate_one(struct zerod_store *store, struct zerod_shelf *shelf, uint64_t *next)
{
    size_t index = zerod_store_find(store, shelf, ZEROD_HOLE);
    int rc;

    if (index == store->slots)
        return false;
    store->present++;
    rc = change(store, shelf, index, populate);
    zerod_supply_charge(next, store->limits.unit, store->limits.rate);
    store->starved = rc;
    if (rc) {
        store->present--;
        store->failures++;
        return false;
    }
    zerod_store_set(shelf, index, ZEROD_CLEAN);
    return true;
}

static bool supply_one(struct zerod_store *store, struct zerod_shelf *shelf, uint64_t *next)
{
    struct zerod_shelf *victim;

    if (has_too_much(store, shelf))
        return drop_one(store, shelf);
    if (!wants_more(store, shelf))
        return false;
    if (store->present == store->slots) {
        victim = victim_for(store, shelf);
        if (!victim || !drop_one(store, victim))
            return false;
    }
    return populate_one(store, shelf, next);
}

bool zerod_supply_step(struct zerod_store *store, uint64_t *next)
{
    for (size_t i = 0; i < store->shelves; i++) {
        if (supply_one(store, zerod_store_turn(store, i), next)) {
            store->turn++;
            return true;
        }
    }
    return false;
}
