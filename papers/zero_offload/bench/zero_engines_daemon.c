/* SPDX-License-Identifier: Apache-2.0 */
/* zero_engines_daemon: engines of okosu-zerod, which is hardware that clears: a block of a file, as
 * the daemon has it, is posted, and asked after until it is done. */
#include "zero_engines_bench.h"

#include "zerod/guard.h"
#include "zerod/memory.h"
#include "zerod/pins.h"
#include "zerod/prove.h"

#include <okosu/clock.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 10000

/* A block of memory, pinned for the engine. */
struct block {
    int fd;
    unsigned char *at;
    struct zerod_pins pins;
};

/* The pool has engines of these names: they are measured there. */
static bool is_pools(const char *name)
{
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++)
        if (strcmp((*e)->name, name) == 0)
            return true;
    return false;
}

/* Its threads, where it has any, run elsewhere. */
static int open_engine(const struct zerod_engine *engine, struct zerod_use *use, char *about,
                       size_t room)
{
    bool elsewhere = bench_elsewhere(true);
    int error = zerod_guard_begin();

    if (!error)
        error = zerod_prove(use, engine, true, PATIENCE_MS, about, room);
    if (elsewhere)
        bench_elsewhere(false);
    return error;
}

static void drop(struct block *block, size_t bytes)
{
    if (block->at)
        zerod_memory_unmap(block->at, bytes);
    if (block->fd >= 0)
        close(block->fd);
}

/* In pages of the kernel's pool where it has them, for pinning is done page by page. */
static int make(struct block *block, size_t bytes)
{
    int rc = -ENOMEM;

    for (int hugetlb = 1; hugetlb >= 0 && rc; hugetlb--) {
        *block = (struct block){.fd = zerod_memory_file(bytes, hugetlb)};
        if (block->fd >= 0)
            block->at = zerod_memory_map(block->fd, bytes, bytes, 0);
        rc = block->at ? okosu_pages_populate(block->at, bytes) : -ENOMEM;
        if (rc)
            drop(block, bytes);
    }
    return rc;
}

/* Ticks from `begun` until it is done; 0: it failed, or (*still) never came to its end. */
static uint64_t wait_done(struct bench *bench, const struct zerod_use *use, uint64_t ticket,
                          uint64_t begun, bool *still)
{
    uint64_t now;
    int rc;

    do {
        rc = use->engine->poll(use->state, ticket);
        now = okosu_clock_stop();
        sched_yield();
    } while (!rc && !engines_over(bench, now - begun));
    *still = !rc;
    return rc == 1 ? now - begun : 0;
}

static int round_trip(struct bench *bench, struct engines_line *line, const struct zerod_use *use,
                      const struct block *block, size_t bytes, struct engines_trip *trip,
                      bool *still)
{
    struct zerod_range range = zerod_pins_range(&block->pins, block->at, bytes);
    double before, ns = bench_ns_per_tick(bench);
    uint64_t ticket, begun, posted, done;
    int rc;

    memset(block->at, 0xa5, bytes);
    before = engines_others_ns();
    begun = okosu_clock_start();
    rc = use->engine->submit(use->state, &range, &ticket);
    posted = okosu_clock_stop() - begun;
    if (rc)
        return rc;
    done = wait_done(bench, use, ticket, begun, still);
    if (!done)
        return *still ? -ETIMEDOUT : -EIO;
    trip->value[ENGINES_PROCESSOR] = engines_others_since(before) + (double)posted * ns;
    trip->value[ENGINES_POST] = engines_cycles(bench, posted);
    trip->value[ENGINES_COMPLETE] = (double)done * ns;
    engines_look(line, block->at, bytes);
    return 0;
}

/* The first block does not count: the engine may have to load its code into the hardware. */
static int trips_of(struct bench *bench, struct engines_line *line, const struct zerod_use *use,
                    const struct block *block, size_t bytes, struct engines_trip *trips,
                    size_t count, bool *still)
{
    int error = 0;

    for (size_t i = 0; i <= count && !error; i++)
        error = round_trip(bench, line, use, block, bytes, &trips[i ? i - 1 : 0], still);
    return error;
}

static int measure(struct bench *bench, struct engines_line *line, size_t bytes,
                   struct engines_trip *trips, size_t count)
{
    struct zerod_use use;
    struct block block;
    bool still = false;
    int error = open_engine(line->engine, &use, line->wrong, sizeof(line->wrong));

    if (error)
        return error;
    *line->wrong = '\0';
    error = make(&block, bytes);
    if (!error) {
        error = zerod_pins_make(&block.pins, &use, block.at, bytes, bytes);
        if (error)
            snprintf(line->wrong, sizeof(line->wrong), "%zu bytes cannot be pinned for it: %s",
                     bytes, strerror(-error));
        else
            error = trips_of(bench, line, &use, &block, bytes, trips, count, &still);
        /* The engine may still write to the block, so both are kept. */
        if (still)
            return error;
        zerod_pins_drop(&block.pins, &use);
        drop(&block, bytes);
    }
    use.engine->close(use.state);
    return error;
}

void engines_of_daemon(struct bench *bench, struct engines_line *lines, size_t *count)
{
    for (const struct zerod_engine *const *e = zerod_engines; *e; e++) {
        struct engines_line line = {
            .name = (*e)->name, .doc = (*e)->doc, .engine = *e, .measure = measure};
        struct zerod_use use;
        char about[200] = "";

        if (is_pools(line.name) || !bench_wants_variant(bench, line.name))
            continue;
        if (open_engine(*e, &use, about, sizeof(about))) {
            bench_absent(bench, line.name, about, "such a device, and its driver");
            continue;
        }
        use.engine->close(use.state);
        snprintf(line.device, sizeof(line.device), "%.99s", about);
        lines[(*count)++] = line;
    }
}

void engines_list_daemon(struct bench *bench)
{
    for (const struct zerod_engine *const *e = zerod_engines; *e; e++) {
        struct okosu_variant about = {(*e)->name, 0, (*e)->doc};

        if (!is_pools(about.name))
            bench_list_variant(bench, &about);
    }
}
