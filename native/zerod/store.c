/* SPDX-License-Identifier: Apache-2.0 */
/* store: the files, and the state of each of their units. */
#include "store.h"

#include "memory.h"

#include "base/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int zerod_store_open(struct zerod_store *store, const struct zerod_limits *limits,
                     const struct zerod_use *use)
{
    pthread_condattr_t attr;
    int error;

    *store = (struct zerod_store){.limits = *limits, .use = *use};
    store->slots = limits->cap / limits->unit;
    error = pthread_condattr_init(&attr);
    if (error)
        return -error;
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    error = pthread_cond_init(&store->work, &attr);
    pthread_condattr_destroy(&attr);
    if (!error)
        error = pthread_mutex_init(&store->lock, NULL);
    return -error;
}

static void remove_shelf(struct zerod_store *store, struct zerod_shelf *shelf)
{
    zerod_pins_drop(&shelf->pins, &store->use);
    if (shelf->base)
        zerod_memory_unmap(shelf->base, store->limits.cap);
    for (size_t slot = 0; shelf->slots && slot < store->slots; slot++) {
        if (shelf->slots[slot].state != ZEROD_HOLE)
            close(shelf->slots[slot].fd);
    }
    free(shelf->slots);
    free(shelf);
}

void zerod_store_close(struct zerod_store *store)
{
    while (store->shelves)
        remove_shelf(store, store->shelf[--store->shelves]);
    pthread_cond_destroy(&store->work);
    pthread_mutex_destroy(&store->lock);
}

/* For an engine that pins, all memory that the user may have is populated and pinned at once, because a
 * pinned page must never be exchanged for another: the hardware would go on clearing the old one.
 * Where that is too much memory, the last engine of the table clears the shelf. */
static void pin(struct zerod_store *store, struct zerod_shelf *shelf)
{
    const struct zerod_limits *limits = &store->limits;
    size_t filled = 0, units = limits->user_cap / limits->unit;
    int rc = 0;

    if (!store->use.engine->pin || store->present)
        return;
    while (filled < units && !(rc = zerod_store_fill(store, shelf, filled)))
        filled++;
    if (!rc)
        rc = zerod_pins_make(&shelf->pins, &store->use, shelf->base, units * limits->unit,
                             limits->unit);
    if (rc) {
        okosu_complain(rc, strerror(-rc), "a smaller --cap, or ulimit -l",
                       "memory cannot be pinned: it is cleared by %s", zerod_engine_last->name);
        while (filled)
            zerod_store_empty(store, shelf, --filled);
        return;
    }
    shelf->pinned = true;
    for (size_t slot = 0; slot < units; slot++)
        zerod_store_set(shelf, slot, ZEROD_CLEAN);
    store->present = units;
}

int zerod_store_shelf(struct zerod_store *store, uid_t uid, struct zerod_shelf **found)
{
    struct zerod_shelf *shelf;
    int rc = -ENOMEM, fd;

    for (size_t i = 0; i < store->shelves; i++) {
        if (store->shelf[i]->uid == uid) {
            *found = store->shelf[i];
            return 0;
        }
    }
    shelf = store->shelves < ZEROD_SHELVES ? calloc(1, sizeof(*shelf)) : NULL;
    if (!shelf)
        return -ENOMEM;
    shelf->uid = uid;
    shelf->slots = calloc(store->slots, sizeof(*shelf->slots));
    shelf->base = zerod_memory_reserve(store->limits.cap, store->limits.unit);
    if (!shelf->base)
        rc = -errno;
    if (!shelf->base || !shelf->slots)
        goto out;
    /* The first file shows whether there can be any: a node that does not exist, no /proc. */
    fd = zerod_memory_file(store->limits.unit, store->limits.hugetlb);
    rc = fd < 0 ? fd : zerod_memory_place(shelf->base, fd, store->limits.unit, store->limits.node);
    if (fd >= 0)
        close(fd);
    if (!rc)
        rc = zerod_memory_displace(shelf->base, store->limits.unit);
    if (rc)
        goto out;
    shelf->in[ZEROD_HOLE] = store->slots;
    pin(store, shelf);
    store->shelf[store->shelves++] = shelf;
    *found = shelf;
    pthread_cond_signal(&store->work);
    return 0;
out:
    remove_shelf(store, shelf);
    return rc;
}

struct zerod_shelf *zerod_store_turn(const struct zerod_store *store, size_t i)
{
    return store->shelf[(store->turn + i) % store->shelves];
}

void zerod_store_set(struct zerod_shelf *shelf, size_t slot, enum zerod_state state)
{
    shelf->in[shelf->slots[slot].state]--;
    shelf->in[state]++;
    shelf->slots[slot].state = (uint8_t)state;
}

size_t zerod_store_find(const struct zerod_store *store, const struct zerod_shelf *shelf,
                        enum zerod_state state)
{
    size_t slot = 0;

    if (!shelf->in[state])
        return store->slots;
    while (slot < store->slots && (shelf->slots[slot].state != state || shelf->slots[slot].busy))
        slot++;
    return slot;
}

int zerod_store_fill(const struct zerod_store *store, struct zerod_shelf *shelf, size_t slot)
{
    const struct zerod_limits *limits = &store->limits;
    unsigned char *at = zerod_store_at(store, shelf, slot);
    int fd = zerod_memory_file(limits->unit, limits->hugetlb), rc;

    if (fd < 0)
        return fd;
    rc = zerod_memory_place(at, fd, limits->unit, limits->node);
    if (!rc) {
        rc = okosu_pages_populate(at, limits->unit);
        if (rc)
            zerod_memory_displace(at, limits->unit);
    }
    if (rc)
        close(fd);
    else
        shelf->slots[slot].fd = fd;
    return rc;
}

int zerod_store_empty(const struct zerod_store *store, struct zerod_shelf *shelf, size_t slot)
{
    int rc = zerod_memory_displace(zerod_store_at(store, shelf, slot), store->limits.unit);

    if (!rc)
        close(shelf->slots[slot].fd);
    return rc;
}

unsigned char *zerod_store_at(const struct zerod_store *store, const struct zerod_shelf *shelf,
                              size_t slot)
{
    return shelf->base + slot * store->limits.unit;
}
