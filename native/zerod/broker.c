/* SPDX-License-Identifier: Apache-2.0 */
/* broker: it believes a client only in two things: which of the client's own slots a message is
 * about, and how much of such a slot the client wrote to while it keeps it. */
#include "broker.h"

#include "memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void zerod_broker_join(struct zerod_store *store, struct zerod_client *client)
{
    store->clients++;
}

static int hello(struct zerod_store *store, struct zerod_client *client, struct okosu_wire *message)
{
    int rc;

    if (message->value != OKOSU_WIRE_VERSION || client->shelf)
        return -EPROTO;
    rc = zerod_store_shelf(store, client->uid, &client->shelf);
    if (rc)
        return rc;
    client->shelf->clients++;
    message->value = store->limits.unit;
    message->slot = (uint32_t)store->slots;
    return 0;
}

static int take(struct zerod_store *store, struct zerod_client *client, struct okosu_wire *message,
                int *fd)
{
    struct zerod_shelf *shelf = client->shelf;
    size_t slot = zerod_store_find(store, shelf, ZEROD_CLEAN);
    size_t user_units = store->limits.user_cap / store->limits.unit;

    *fd = -1;
    if (client->held >= store->limits.client_cap / store->limits.unit ||
        shelf->in[ZEROD_HELD] >= user_units)
        return -EDQUOT;
    if (shelf->in[ZEROD_HELD] + shelf->in[ZEROD_DIRTY] >= user_units)
        return -EAGAIN;
    /* Fewer clean slots may be left than are to be kept ready. */
    pthread_cond_signal(&store->work);
    if (slot == store->slots)
        return -EAGAIN;
    *fd = zerod_memory_share(shelf->slots[slot].fd);
    if (*fd < 0)
        return *fd;
    zerod_store_set(shelf, slot, ZEROD_HELD);
    shelf->slots[slot].client = client;
    client->held++;
    message->slot = (uint32_t)slot;
    return 0;
}

/* 0: the client holds the slot, and it is not being cleared. */
static int check(const struct zerod_store *store, const struct zerod_client *client, size_t index)
{
    const struct zerod_slot *slot;

    if (index >= store->slots)
        return -EINVAL;
    slot = &client->shelf->slots[index];
    if (slot->state != ZEROD_HELD || slot->client != client)
        return -EINVAL;
    return slot->busy || slot->pages ? -EBUSY : 0;
}

static void put_back(struct zerod_store *store, struct zerod_shelf *shelf, size_t index)
{
    struct zerod_slot *slot = &shelf->slots[index];

    slot->client->held--;
    slot->client = NULL;
    slot->pages = (uint32_t)(store->limits.unit / 4096);
    zerod_store_set(shelf, index, ZEROD_DIRTY);
    pthread_cond_signal(&store->work);
}

static int give(struct zerod_store *store, struct zerod_client *client,
                const struct okosu_wire *message)
{
    int rc = check(store, client, message->slot);

    if (!rc)
        put_back(store, client->shelf, message->slot);
    return rc;
}

/* The clearer sends the answer, unless the request is refused here. */
static int clear(struct zerod_store *store, struct zerod_client *client,
                 const struct okosu_wire *message)
{
    size_t index = message->slot;
    bool possible = message->value && message->value <= store->limits.unit / 4096;
    int rc = possible ? check(store, client, index) : -EINVAL;

    if (rc)
        return rc;
    client->shelf->slots[index].pages = (uint32_t)message->value;
    client->shelf->slots[index].tag = message->tag;
    store->asked++;
    pthread_cond_signal(&store->work);
    return 0;
}

/* The figures are of all users together: they reveal no more than /proc/meminfo does. */
static int stats(const struct zerod_store *store, struct okosu_wire *message)
{
    uint64_t *figure = message->figure;

    memset(figure, 0, sizeof(message->figure));
    for (size_t i = 0; i < store->shelves; i++) {
        const struct zerod_shelf *shelf = store->shelf[i];

        figure[OKOSU_WIRE_CLEAN] += shelf->in[ZEROD_CLEAN];
        figure[OKOSU_WIRE_HELD] += shelf->in[ZEROD_HELD];
        figure[OKOSU_WIRE_DIRTY] += shelf->in[ZEROD_DIRTY];
        for (size_t k = 0; k < store->slots; k++)
            figure[OKOSU_WIRE_BUSY] += shelf->slots[k].busy;
    }
    figure[OKOSU_WIRE_CAP] = store->slots;
    figure[OKOSU_WIRE_CLIENTS] = store->clients;
    figure[OKOSU_WIRE_CLEARED] = store->cleared;
    figure[OKOSU_WIRE_FAILURES] = store->failures;
    return 0;
}

int zerod_broker_message(struct zerod_store *store, struct zerod_client *client, const void *bytes,
                         size_t size)
{
    struct okosu_wire message;
    int fd = -1;

    if (size != sizeof(message))
        return -EPROTO;
    memcpy(&message, bytes, sizeof(message));
    if (!client->shelf && message.kind != OKOSU_WIRE_HELLO && message.kind != OKOSU_WIRE_STATS)
        return -EPROTO;
    switch (message.kind) {
    case OKOSU_WIRE_HELLO:
        message.status = hello(store, client, &message);
        break;
    case OKOSU_WIRE_TAKE:
        message.status = take(store, client, &message, &fd);
        break;
    case OKOSU_WIRE_GIVE:
        message.status = give(store, client, &message);
        break;
    case OKOSU_WIRE_CLEAR:
        message.status = clear(store, client, &message);
        if (!message.status)
            return 0;
        break;
    case OKOSU_WIRE_STATS:
        message.status = stats(store, &message);
        break;
    default:
        return -EPROTO;
    }
    client->answer(client, &message, fd);
    if (fd >= 0)
        close(fd);
    return message.status == -EPROTO ? -EPROTO : 0;
}

void zerod_broker_leave(struct zerod_store *store, struct zerod_client *client)
{
    struct zerod_shelf *shelf = client->shelf;

    store->clients--;
    if (!shelf)
        return;
    shelf->clients--;
    for (size_t i = 0; i < store->slots && client->held; i++) {
        struct zerod_slot *slot = &shelf->slots[i];

        if (slot->client != client)
            continue;
        /* A clearing that was requested and not begun joins the ordinary work, for the whole slot;
         * after one that has begun, the slot becomes dirty again, because only a part of it may
         * have been requested. */
        if (slot->pages && !slot->busy)
            store->asked--;
        put_back(store, shelf, i);
    }
}
