/* SPDX-License-Identifier: Apache-2.0 */
/* clearer: clears first what clients wait for, then what was given back; then it drops or populates
 * slots to keep each shelf between its watermarks. */
#include "clearer.h"

#include "memory.h"
#include "prove.h"
#include "supply.h"

#include "base/message.h"
#include "base/now.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define PAGE ((size_t)4096)
/* A running job is polled again after a quarter of the time that it has run so far, within these
 * two limits. */
#define SOON_NS UINT64_C(20000)
#define LATE_NS UINT64_C(2000000)
/* After so many clearings the users' need of memory is looked at. */
#define STREAK 16

/* Call with the lock held. */
static void wait_until(struct zerod_store *store, uint64_t ns)
{
    struct timespec t = okosu_timespec(ns);

    pthread_cond_timedwait(&store->work, &store->lock, &t);
}

/* Hardware clears by an address that it was given once. One line of each page shows whether the
 * pages at that address are still the same. */
static bool looks_clean(const volatile unsigned char *at, size_t bytes)
{
    unsigned char any = 0;

    for (size_t page = 0; page < bytes; page += PAGE)
        any |= at[page] | at[page + PAGE - 1];
    return !any;
}

static void give_up(struct zerod_clearer *clearer, const char *why)
{
    char fix[80];

    if (clearer->failed)
        return;
    clearer->failed = true;
    snprintf(fix, sizeof(fix), "memory is cleared by %s from now on", clearer->last.engine->name);
    okosu_complain(0, why, fix, "the engine %s is used no more", clearer->store->use.engine->name);
}

static void answer(struct zerod_slot *slot, size_t index, int status)
{
    struct okosu_wire message = {
        .kind = OKOSU_WIRE_CLEAR, .tag = slot->tag, .status = status, .slot = (uint32_t)index};

    slot->pages = 0;
    slot->client->answer(slot->client, &message, -1);
}

static void cleared(struct zerod_store *store, const struct zerod_job *job)
{
    struct zerod_slot *slot = &job->shelf->slots[job->slot];

    store->cleared += job->bytes;
    slot->busy = false;
    if (slot->state == ZEROD_HELD) {
        answer(slot, job->slot, 0);
    } else if (!job->asked) {
        /* Otherwise its client has left meanwhile: the whole slot is to be cleared. */
        slot->pages = 0;
        zerod_store_set(job->shelf, job->slot, ZEROD_CLEAN);
    }
}

/* Not even a CPU could clear it: the client removed pages from the file, and the kernel has none to
 * replace them. */
static void lose(struct zerod_store *store, const struct zerod_job *job)
{
    struct zerod_slot *slot = &job->shelf->slots[job->slot];

    slot->busy = false;
    if (slot->state == ZEROD_HELD) {
        answer(slot, job->slot, -EIO);
        return;
    }
    slot->pages = 0;
    if (zerod_store_empty(store, job->shelf, job->slot)) {
        slot->pages = (uint32_t)(store->limits.unit / PAGE);
        return;
    }
    zerod_store_set(job->shelf, job->slot, ZEROD_HOLE);
    store->present--;
}

/* The job failed: another engine does it. */
static void again(struct zerod_store *store, const struct zerod_job *job)
{
    struct zerod_slot *slot = &job->shelf->slots[job->slot];

    slot->busy = false;
    if (slot->state == ZEROD_HELD)
        store->asked++;
}

static void end_job(struct zerod_clearer *clearer, const struct zerod_job *job, int rc)
{
    struct zerod_store *store = clearer->store;
    const unsigned char *at = zerod_store_at(store, job->shelf, job->slot);

    if (rc == 1 && (!job->shelf->pinned || looks_clean(at, job->bytes))) {
        cleared(store, job);
        return;
    }
    store->failures += !job->overdue;
    if (job->use == &clearer->last) {
        lose(store, job);
        return;
    }
    again(store, job);
    give_up(clearer, rc < 0 ? strerror(-rc) : "it said that it was done, and was not");
}

/* The job is given up and the slot taken from the client, because the hardware may still write
 * there. */
static void set_apart(struct zerod_clearer *clearer, struct zerod_job *job)
{
    struct zerod_store *store = clearer->store;
    struct zerod_slot *slot = &job->shelf->slots[job->slot];

    job->overdue = true;
    store->failures++;
    if (slot->state == ZEROD_HELD) {
        struct zerod_client *client = slot->client;

        answer(slot, job->slot, -ETIMEDOUT);
        client->held--;
        slot->client = NULL;
        zerod_store_set(job->shelf, job->slot, ZEROD_DIRTY);
    }
    slot->pages = (uint32_t)(store->limits.unit / PAGE);
    give_up(clearer, "it did not end in time");
}

/* The number of jobs that are not overdue. */
static size_t under_way(const struct zerod_clearer *clearer)
{
    size_t count = 0;

    for (size_t i = 0; i < clearer->count; i++)
        count += !clearer->jobs[i].overdue;
    return count;
}

/* The time of the next poll, by the job that began last, so that polling the older jobs never
 * delays it. */
static uint64_t next_look(const struct zerod_clearer *clearer)
{
    uint64_t now = zerod_now(), wait = LATE_NS;

    for (size_t i = 0; i < clearer->count; i++) {
        uint64_t quarter = (now - clearer->jobs[i].began) / 4;

        if (!clearer->jobs[i].overdue && quarter < wait)
            wait = quarter;
    }
    return now + (wait > SOON_NS ? wait : SOON_NS);
}

/* Polls the jobs; returns whether any ended. */
static bool look_after(struct zerod_clearer *clearer)
{
    struct zerod_store *store = clearer->store;
    bool any = false;

    for (size_t i = 0; i < clearer->count;) {
        struct zerod_job job = clearer->jobs[i];
        int rc = job.use->engine->poll(job.use->state, job.ticket);

        if (rc) {
            clearer->jobs[i] = clearer->jobs[--clearer->count];
            end_job(clearer, &job, rc);
            any = true;
            continue;
        }
        if (!job.overdue && zerod_now() - job.began > store->limits.patience_ms * NS_PER_MS)
            set_apart(clearer, &clearer->jobs[i]);
        i++;
    }
    return any;
}

static const struct zerod_use *use_for(const struct zerod_clearer *clearer,
                                       const struct zerod_shelf *shelf)
{
    const struct zerod_use *use = &clearer->store->use;

    return clearer->failed || (use->engine->pin && !shelf->pinned) ? &clearer->last : use;
}

struct submission {
    const struct zerod_range range;
    struct zerod_job *job;
    int rc;
};

static void submit(void *arg)
{
    struct submission *it = arg;
    const struct zerod_use *use = it->job->use;

    it->rc = use->engine->submit(use->state, &it->range, &it->job->ticket);
}

static void begin(struct zerod_clearer *clearer, struct zerod_shelf *shelf, size_t index)
{
    struct zerod_store *store = clearer->store;
    struct zerod_slot *slot = &shelf->slots[index];
    struct zerod_job job = {.shelf = shelf,
                            .slot = index,
                            .bytes = slot->pages * PAGE,
                            .use = use_for(clearer, shelf),
                            .asked = slot->state == ZEROD_HELD};
    struct submission it = {
        zerod_pins_range(&shelf->pins, zerod_store_at(store, shelf, index), job.bytes), &job, 0};

    slot->busy = true;
    store->asked -= job.asked;
    pthread_mutex_unlock(&store->lock);
    zerod_hand_do(store->hand, submit, &it);
    /* The job's time begins here, because submitting it may have waited long for an idle CPU. */
    job.began = zerod_now();
    pthread_mutex_lock(&store->lock);
    zerod_supply_charge(&clearer->next, job.bytes, store->limits.rate);
    if (it.rc)
        end_job(clearer, &job, it.rc);
    else
        clearer->jobs[clearer->count++] = job;
}

/* A slot that needs clearing, first of all one that its holder waits for, or store->slots. */
static size_t find_work(struct zerod_store *store, const struct zerod_shelf *shelf)
{
    size_t dirty = store->slots;

    if (!store->asked && !shelf->in[ZEROD_DIRTY])
        return store->slots;
    for (size_t i = 0; i < store->slots; i++) {
        const struct zerod_slot *slot = &shelf->slots[i];

        if (slot->busy || !slot->pages)
            continue;
        if (slot->state == ZEROD_HELD)
            return i;
        /* Somebody else may still read or write it. */
        if (dirty == store->slots && !zerod_memory_is_alone(slot->fd))
            store->kept = true;
        else if (dirty == store->slots)
            dirty = i;
    }
    return dirty;
}

/* Begins to clear a slot of the user whose turn it is. */
static bool begin_next(struct zerod_clearer *clearer)
{
    struct zerod_store *store = clearer->store;

    store->kept = false;
    for (size_t i = 0; i < store->shelves; i++) {
        struct zerod_shelf *shelf = zerod_store_turn(store, i);
        size_t index = find_work(store, shelf);

        if (index < store->slots) {
            store->turn++;
            begin(clearer, shelf, index);
            return true;
        }
    }
    return false;
}

bool zerod_clearer_step(struct zerod_clearer *clearer)
{
    struct zerod_store *store = clearer->store;
    size_t depth = clearer->failed ? clearer->last.engine->depth : store->use.engine->depth;
    bool due;

    if (clearer->count && look_after(clearer))
        return true;
    if (zerod_now() < clearer->next)
        return false;
    /* Populating and dropping take long, so they wait until no job is in progress; but a user whose
     * units need clearing all the time does not keep memory from the others for ever. */
    due = clearer->streak >= STREAK;
    if (!due && clearer->count < ZEROD_JOBS && under_way(clearer) < depth && begin_next(clearer)) {
        clearer->streak++;
        return true;
    }
    if (under_way(clearer))
        return false;
    clearer->streak = 0;
    return zerod_supply_step(store, &clearer->next) ||
           (due && clearer->count < ZEROD_JOBS && begin_next(clearer));
}

void zerod_clearer_init(struct zerod_clearer *clearer, struct zerod_store *store)
{
    *clearer = (struct zerod_clearer){.store = store, .last = {.engine = zerod_engine_last}};
}

static void *run(void *arg)
{
    struct zerod_clearer *clearer = arg;
    struct zerod_store *store = clearer->store;

    pthread_setname_np(pthread_self(), "zerod-clear");
    pthread_mutex_lock(&store->lock);
    while (!store->stop) {
        uint64_t now;

        if (zerod_clearer_step(clearer))
            continue;
        now = zerod_now();
        if (under_way(clearer))
            wait_until(store, next_look(clearer));
        else if (now < clearer->next)
            wait_until(store, clearer->next);
        else if (clearer->count || store->starved || store->kept)
            wait_until(store, now + 100 * NS_PER_MS);
        else
            pthread_cond_wait(&store->work, &store->lock);
    }
    while (under_way(clearer)) {
        if (!look_after(clearer))
            wait_until(store, next_look(clearer));
    }
    pthread_mutex_unlock(&store->lock);
    return NULL;
}

int zerod_clearer_start(struct zerod_clearer *clearer, struct zerod_store *store)
{
    sigset_t all, before;
    int error;

    zerod_clearer_init(clearer, store);
    error = -zerod_hand_start(&clearer->hand);
    if (error)
        return -error;
    store->hand = &clearer->hand;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&clearer->thread, NULL, run, clearer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        zerod_hand_end(&clearer->hand);
    return -error;
}

bool zerod_clearer_end(struct zerod_clearer *clearer)
{
    pthread_mutex_lock(&clearer->store->lock);
    clearer->store->stop = true;
    pthread_cond_signal(&clearer->store->work);
    pthread_mutex_unlock(&clearer->store->lock);
    pthread_join(clearer->thread, NULL);
    zerod_hand_end(&clearer->hand);
    return clearer->count > 0;
}
