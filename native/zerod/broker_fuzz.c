/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds the broker with clients that connect, send anything and leave, together with an engine that
 * is slow, fails, lies and finishes after it was given up, under the sanitizers; keeps its own
 * account of what each client may see. usage: broker-fuzz [STEPS [SEED]]; aborts on the first
 * violated property. */
#include "broker.h"
#include "clearer.h"
#include "guard.h"
#include "prove.h"

#include "base/fuzz.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { UNIT = 16384, SLOTS = 12, CLIENT_CAP = 3, USER_CAP = 5, CLIENTS = 6, JOBS = 4 };

static uint64_t now = 1;
static uint32_t users; /* in some lives of the daemon more than there is room for */
static struct zerod_store store;
static struct zerod_clearer clearer;

/* What a client may rely on: its slots hold what it wrote, except where it asked for zeros. */
struct model {
    struct zerod_client client;
    bool there, greeted;
    bool holds[SLOTS], waits[SLOTS];
    uint32_t pages[SLOTS];
    unsigned char wrote[SLOTS];
    bool answered;
    struct okosu_wire last;
    unsigned long seen[OKOSU_WIRE_STATS + 1], refused;
    int file[SLOTS]; /* of a slot that it holds, or 0 */
};

static struct model models[CLIENTS];
static unsigned long late_writes, timeouts, clears, takes, keeps;

/* What a client did not close when it gave its slot back, or left: nobody may get that slot. */
struct kept {
    int file; /* 0: none */
    uid_t uid;
    size_t slot;
};
static struct kept kept[8];

static void drop_kept(struct kept *it)
{
    if (it->file)
        close(it->file);
    *it = (struct kept){0};
}

/* Closes the file of a slot that the client no longer holds, or keeps it open. */
static void let_file_go(struct model *model, size_t slot)
{
    struct kept *it = &kept[next_random(sizeof(kept) / sizeof(kept[0]))];

    if (!model->file[slot])
        return;
    if (next_random(16) == 0) {
        drop_kept(it);
        *it = (struct kept){.file = model->file[slot], .uid = model->client.uid, .slot = slot};
        keeps++;
    } else {
        close(model->file[slot]);
    }
    model->file[slot] = 0;
}

/* Replaces the clearer's clock. */
uint64_t zerod_now(void)
{
    return now;
}

static unsigned char *place(const struct model *model, size_t slot)
{
    return zerod_store_at(&store, model->client.shelf, slot);
}

static bool is_all(const unsigned char *at, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != value)
            return false;
    }
    return true;
}

/* The engine: a job is done at any later time, or never reported. */
struct job {
    bool used, done;
    struct zerod_range range;
};
static struct job jobs[JOBS];
/* The engine's fault in this life of the daemon. */
static enum { SLOW, REFUSES, FAILS, TROUBLES } trouble;

static int submit(void *unused, const struct zerod_range *range, uint64_t *ticket)
{
    if (trouble == REFUSES && next_random(200) == 0)
        return -EIO;
    for (uint64_t i = 0; i < JOBS; i++) {
        if (jobs[i].used)
            continue;
        jobs[i] = (struct job){.used = true, .range = *range};
        *ticket = i;
        return 0;
    }
    return -EBUSY;
}

/* Hardware may write at any time. */
static void write_some(void)
{
    for (size_t i = 0; i < JOBS; i++) {
        if (jobs[i].used && !jobs[i].done && next_random(trouble == SLOW ? 24 : 4) == 0) {
            memset(jobs[i].range.at, 0, jobs[i].range.bytes);
            jobs[i].done = true;
            late_writes += clearer.failed;
        }
    }
}

static int poll_job(void *unused, uint64_t ticket)
{
    struct job *job = &jobs[ticket];

    require(job->used, "a ticket that is over was asked for");
    if (!job->done) {
        if (trouble != FAILS || next_random(400))
            return 0;
        job->used = false;
        return -EIO;
    }
    job->used = false;
    return 1;
}

static int cpu_submit(void *unused, const struct zerod_range *range, uint64_t *ticket)
{
    *ticket = 0;
    if (next_random(60) == 0)
        return -EFAULT;
    memset(range->at, 0, range->bytes);
    return 0;
}

static int cpu_poll(void *unused, uint64_t ticket)
{
    return 1;
}

static const struct zerod_engine engine = {
    .name = "odd", .depth = JOBS, .submit = submit, .poll = poll_job};
static const struct zerod_engine by_cpu = {
    .name = "cpu", .depth = 1, .submit = cpu_submit, .poll = cpu_poll};
const struct zerod_engine *const zerod_engine_last = &by_cpu;

/* The clients. */
static void answer(struct zerod_client *client, const struct okosu_wire *message, int fd)
{
    struct model *model = (struct model *)client;
    size_t slot = message->slot;

    require(model->there, "a client that is gone was answered");
    require((fd >= 0) == (message->kind == OKOSU_WIRE_TAKE && !message->status),
            "a descriptor that was not due, or none");
    if (fd >= 0)
        model->file[slot] = dup(fd);
    model->last = *message;
    model->answered = true;
    model->refused += message->status != 0;
    require(message->kind <= OKOSU_WIRE_STATS, "an answer of no kind");
    model->seen[message->kind] += !message->status;
    if (message->kind != OKOSU_WIRE_CLEAR || slot >= SLOTS || !model->waits[slot] ||
        message->status == -EBUSY || message->status == -EINVAL)
        return;
    model->waits[slot] = false;
    clears++;
    if (!message->status) {
        size_t bytes = (size_t)model->pages[slot] * 4096;

        require(is_all(place(model, slot), bytes, 0), "CLEAR was answered before it was clean");
        require(is_all(place(model, slot) + bytes, UNIT - bytes, model->wrote[slot]),
                "more was cleared than was asked for");
    } else if (message->status == -ETIMEDOUT) {
        timeouts++;
        model->holds[slot] = false;
        let_file_go(model, slot);
    }
    if (model->holds[slot])
        memset(place(model, slot), model->wrote[slot], UNIT);
}

static size_t held_by(const struct model *model)
{
    size_t count = 0;

    for (size_t i = 0; i < SLOTS; i++)
        count += model->holds[i];
    return count;
}

static void took(struct model *model)
{
    size_t slot = model->last.slot;

    require(slot < SLOTS, "a slot that is none");
    for (size_t i = 0; i < CLIENTS; i++) {
        require(!(models[i].there && models[i].greeted && models[i].holds[slot] &&
                  models[i].client.uid == model->client.uid),
                "a slot that somebody holds was taken");
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        require(!kept[i].file || kept[i].uid != model->client.uid || kept[i].slot != slot,
                "a slot that somebody has kept open was taken");
    require(is_all(place(model, slot), UNIT, 0), "a slot that is not clean was taken");
    model->holds[slot] = true;
    model->wrote[slot] = (unsigned char)(1 + next_random(255));
    memset(place(model, slot), model->wrote[slot], UNIT);
    takes++;
}

static void leave(struct model *model)
{
    zerod_broker_leave(&store, &model->client);
    for (size_t i = 0; i < SLOTS; i++)
        let_file_go(model, i);
    *model = (struct model){.there = false};
}

/* Send a message, which is only sometimes a valid one. */
static void say(struct model *model)
{
    char bytes[sizeof(struct okosu_wire) + 8] = {0};
    struct okosu_wire message = {.kind = next_random(OKOSU_WIRE_STATS + 2),
                                 .tag = next_random(1000),
                                 .slot = next_random(SLOTS + 2),
                                 .value = next_random(UNIT / 4096 + 2)};
    size_t size = sizeof(message);
    int rc;

    if (!model->greeted && next_random(8))
        message = (struct okosu_wire){.kind = OKOSU_WIRE_HELLO, .value = OKOSU_WIRE_VERSION};
    if (model->greeted && next_random(2)) {
        message.slot = next_random(SLOTS);
        for (uint32_t i = 0; i < SLOTS && !model->holds[message.slot]; i++)
            message.slot = (message.slot + 1) % SLOTS;
        message.kind = next_random(3) ? OKOSU_WIRE_CLEAR : OKOSU_WIRE_GIVE;
    }
    if (next_random(60) == 0)
        message.slot = (uint32_t)next_random(UINT32_MAX);
    if (next_random(60) == 0)
        message.value = UINT64_MAX - next_random(3);
    memcpy(bytes, &message, sizeof(message));
    if (next_random(100) == 0)
        size = next_random(sizeof(bytes) + 1);
    for (uint32_t flips = next_random(80) == 0 ? 4 : 0; flips; flips--)
        bytes[next_random(sizeof(message))] ^= (char)(1 << next_random(8));
    memcpy(&message, bytes, sizeof(message));
    model->answered = false;
    /* The answer may come before the call returns. */
    if (message.kind == OKOSU_WIRE_CLEAR && size == sizeof(message) && model->greeted &&
        message.slot < SLOTS && model->holds[message.slot] && !model->waits[message.slot] &&
        message.value && message.value <= UNIT / 4096) {
        model->waits[message.slot] = true;
        model->pages[message.slot] = (uint32_t)message.value;
    }
    rc = zerod_broker_message(&store, &model->client, bytes, size);
    require(rc == 0 || rc == -EPROTO, "an error that is not EPROTO");
    require(size == sizeof(message) || rc == -EPROTO, "a message of another size was heard");
    if (rc) {
        leave(model);
        return;
    }
    require(model->answered || message.kind == OKOSU_WIRE_CLEAR, "a message without an answer");
    require(model->greeted || message.kind == OKOSU_WIRE_HELLO || message.kind == OKOSU_WIRE_STATS,
            "somebody who has no file was served");
    if (!model->answered || model->last.status)
        return;
    require(model->last.tag == message.tag, "an answer with another tag");
    if (message.kind == OKOSU_WIRE_HELLO)
        model->greeted = true;
    if (message.kind == OKOSU_WIRE_TAKE)
        took(model);
    if (message.kind == OKOSU_WIRE_GIVE) {
        require(message.slot < SLOTS && model->holds[message.slot] && !model->waits[message.slot],
                "a slot that was not held was given back");
        model->holds[message.slot] = false;
        let_file_go(model, message.slot);
    }
}

static void check(void)
{
    size_t asked = 0, present = 0;

    for (size_t i = 0; i < store.shelves; i++) {
        const struct zerod_shelf *shelf = store.shelf[i];
        size_t in[ZEROD_STATES] = {0};

        for (size_t k = 0; k < SLOTS; k++) {
            const struct zerod_slot *slot = &shelf->slots[k];

            in[slot->state]++;
            present += slot->state != ZEROD_HOLE;
            asked += slot->state == ZEROD_HELD && slot->pages && !slot->busy;
            require((slot->state == ZEROD_HELD) == (slot->client != NULL), "held by nobody");
        }
        for (int s = 0; s < ZEROD_STATES; s++)
            require(in[s] == shelf->in[s], "states are counted wrongly");
        require(in[ZEROD_HELD] + in[ZEROD_DIRTY] <= USER_CAP, "a user has more than it may");
    }
    require(asked == store.asked, "what clients wait for is counted wrongly");
    require(present == store.present && present <= SLOTS, "more memory is held than the cap");
    for (size_t i = 0; i < CLIENTS; i++) {
        struct model *model = &models[i];

        if (!model->there || !model->greeted)
            continue;
        require(model->client.held == held_by(model), "a client's slots are counted wrongly");
        require(model->client.held <= CLIENT_CAP, "a client holds more than it may");
        for (size_t k = 0; k < SLOTS; k++) {
            if (model->holds[k] && !model->waits[k])
                require(is_all(place(model, k), UNIT, model->wrote[k]),
                        "a client's memory was written to");
        }
    }
}

static void act(void)
{
    struct model *model = &models[next_random(CLIENTS)];
    uint32_t what = next_random(100);

    now += next_random(300000);
    write_some();
    if (next_random(6) == 0)
        drop_kept(&kept[next_random(sizeof(kept) / sizeof(kept[0]))]);
    if (!model->there) {
        *model = (struct model){.there = true};
        model->client = (struct zerod_client){.uid = 1 + next_random(users), .answer = answer};
        zerod_broker_join(&store, &model->client);
    } else if (what < 2) {
        leave(model);
    } else if (what < 60) {
        say(model);
    } else {
        zerod_clearer_step(&clearer);
    }
    check();
}

/* One life of a daemon: its engine fails sooner or later, and the last engine goes on. */
static void live(unsigned long steps)
{
    const struct zerod_limits limits = {.unit = UNIT,
                                        .cap = SLOTS * UNIT,
                                        .low = 3 * UNIT,
                                        .high = 5 * UNIT,
                                        .keep = next_random(2) ? 6 * UNIT : 0,
                                        .client_cap = CLIENT_CAP * UNIT,
                                        .user_cap = USER_CAP * UNIT,
                                        .patience_ms = 5};
    const struct zerod_use use = {.engine = &engine};

    trouble = next_random(TROUBLES);
    users = next_random(6) ? 2 : 2 * ZEROD_SHELVES;
    memset(jobs, 0, sizeof(jobs));
    require(zerod_store_open(&store, &limits, &use) == 0, "no store");
    zerod_clearer_init(&clearer, &store);
    pthread_mutex_lock(&store.lock);
    for (unsigned long i = 0; i < steps; i++)
        act();
    for (size_t i = 0; i < CLIENTS; i++) {
        if (models[i].there)
            leave(&models[i]);
    }
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        drop_kept(&kept[i]);
    /* In the end every slot is clean, even those that were given up, once the hardware has finished
     * with them. */
    for (int i = 0; i < 10000; i++) {
        now += 1000;
        write_some();
        zerod_clearer_step(&clearer);
    }
    check();
    for (size_t i = 0; i < store.shelves; i++) {
        require(!store.shelf[i]->in[ZEROD_DIRTY] && !store.shelf[i]->in[ZEROD_HELD],
                "a slot was lost");
        for (size_t k = 0; k < SLOTS; k++)
            require(store.shelf[i]->slots[k].state != ZEROD_CLEAN ||
                        is_all(zerod_store_at(&store, store.shelf[i], k), UNIT, 0),
                    "a clean slot is not");
    }
    pthread_mutex_unlock(&store.lock);
    zerod_store_close(&store);
}

int main(int argc, char **argv)
{
    size_t steps = fuzz_begin("broker-fuzz", argc, argv, 300000);

    for (size_t done = 0; done < steps; done += 1000)
        live(1000);
    printf(
        "%lu takes, %lu clearings for holders, %lu given up, %lu writes by a lost engine, %lu kept "
        "open\n",
        takes, clears, timeouts, late_writes, keeps);
    /* One step in 30,000 gives a holder up. */
    require(takes && clears && late_writes && keeps, "too little happened");
    require(timeouts || steps < 200000, "no holder was given up");
    return 0;
}
