/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of chunks with binned free lists and coalescing (see runs.h). */
#include "runs.h"

static unsigned bin_of(uint32_t length)
{
    return 31u - (unsigned)__builtin_clz(length);
}

static void mark(struct okosu_runs *r, uint32_t first, uint32_t length, enum okosu_run_state state)
{
    struct okosu_chunk *a = &r->chunks[first], *b = &r->chunks[first + length - 1];

    a->length = b->length = length;
    a->state = b->state = (uint8_t)state;
}

static void unmark(struct okosu_runs *r, uint32_t first)
{
    uint32_t last = first + r->chunks[first].length - 1;

    r->chunks[first].state = OKOSU_RUN_INNER;
    r->chunks[last].state = OKOSU_RUN_INNER;
}

static void bin_insert(struct okosu_runs *r, uint32_t first)
{
    struct okosu_chunk *c = &r->chunks[first];
    uint32_t *head = &r->bins[c->state][bin_of(c->length)];

    c->prev = OKOSU_RUNS_NONE;
    c->next = *head;
    if (*head != OKOSU_RUNS_NONE)
        r->chunks[*head].prev = first;
    *head = first;
}

static void bin_remove(struct okosu_runs *r, uint32_t first)
{
    struct okosu_chunk *c = &r->chunks[first];

    if (c->prev != OKOSU_RUNS_NONE)
        r->chunks[c->prev].next = c->next;
    else
        r->bins[c->state][bin_of(c->length)] = c->next;
    if (c->next != OKOSU_RUNS_NONE)
        r->chunks[c->next].prev = c->prev;
}

static void insert_run(struct okosu_runs *r, uint32_t first, uint32_t length,
                       enum okosu_run_state state)
{
    if (!length)
        return;
    mark(r, first, length, state);
    bin_insert(r, first);
}

void okosu_runs_start(struct okosu_runs *r, struct okosu_chunk *chunks, uint32_t count,
                      uint64_t first_number)
{
    int state, bin;

    r->chunks = chunks;
    r->count = count;
    r->first_number = first_number;
    for (state = 0; state <= OKOSU_RUN_KEPT; state++) {
        for (bin = 0; bin < OKOSU_RUNS_BINS; bin++)
            r->bins[state][bin] = OKOSU_RUNS_NONE;
    }
    insert_run(r, 0, count, OKOSU_RUN_CLEAN);
}

/* Chunks to skip at the head of a run so that what follows is aligned. */
static uint32_t skip_for(const struct okosu_runs *r, uint32_t first, uint32_t align)
{
    return (uint32_t)(-(r->first_number + first) & (align - 1));
}

/* Best fit in the first bin that has a fit: bins are by powers of two, so a later one cannot hold a
 * shorter run, and the wilderness at the end of the region is cut only when nothing else will
 * do. */
static uint32_t find(const struct okosu_runs *r, enum okosu_run_state state, uint32_t length,
                     uint32_t align)
{
    uint32_t best = OKOSU_RUNS_NONE, i;
    unsigned bin;

    for (bin = bin_of(length); bin < OKOSU_RUNS_BINS && best == OKOSU_RUNS_NONE; bin++) {
        for (i = r->bins[state][bin]; i != OKOSU_RUNS_NONE; i = r->chunks[i].next) {
            const struct okosu_chunk *c = &r->chunks[i];

            if (c->length < length || c->length - length < skip_for(r, i, align))
                continue;
            if (best == OKOSU_RUNS_NONE || c->length < r->chunks[best].length)
                best = i;
            if (c->length == length)
                return i;
        }
    }
    return best;
}

uint32_t okosu_runs_take(struct okosu_runs *r, enum okosu_run_state state, uint32_t length,
                         uint32_t align)
{
    uint32_t run, whole, skip, first;

    if (!length || length > r->count)
        return OKOSU_RUNS_NONE;
    run = find(r, state, length, align);
    if (run == OKOSU_RUNS_NONE)
        return OKOSU_RUNS_NONE;
    whole = r->chunks[run].length;
    skip = skip_for(r, run, align);
    first = run + skip;
    bin_remove(r, run);
    unmark(r, run);
    mark(r, first, length, OKOSU_RUN_USED);
    insert_run(r, run, skip, state);
    insert_run(r, first + length, whole - skip - length, state);
    return first;
}

uint32_t okosu_runs_take_joined(struct okosu_runs *r, uint32_t length, uint32_t *first)
{
    unsigned bin = OKOSU_RUNS_BINS;
    uint32_t i;

    while (bin--) {
        for (i = r->bins[OKOSU_RUN_KEPT][bin]; i != OKOSU_RUNS_NONE; i = r->chunks[i].next) {
            uint32_t kept = r->chunks[i].length, after = i + kept;

            if (kept >= length || after >= r->count || r->chunks[after].state != OKOSU_RUN_CLEAN ||
                r->chunks[after].length < length - kept)
                continue;
            bin_remove(r, i);
            mark(r, i, kept, OKOSU_RUN_USED);
            okosu_runs_extend(r, i, length);
            *first = i;
            return kept;
        }
    }
    return 0;
}

void okosu_runs_put(struct okosu_runs *r, uint32_t first, enum okosu_run_state state)
{
    uint32_t length = r->chunks[first].length, after = first + length;

    unmark(r, first);
    if (after < r->count && r->chunks[after].state == state) {
        length += r->chunks[after].length;
        bin_remove(r, after);
        unmark(r, after);
    }
    if (first > 0 && r->chunks[first - 1].state == state) {
        uint32_t before = first - r->chunks[first - 1].length;

        length += first - before;
        bin_remove(r, before);
        unmark(r, before);
        first = before;
    }
    insert_run(r, first, length, state);
}

bool okosu_runs_extend(struct okosu_runs *r, uint32_t first, uint32_t length)
{
    uint32_t old = r->chunks[first].length, after = first + old, free_length;

    if (after >= r->count || r->chunks[after].state != OKOSU_RUN_CLEAN)
        return false;
    free_length = r->chunks[after].length;
    if (free_length < length - old)
        return false;
    bin_remove(r, after);
    unmark(r, after);
    unmark(r, first);
    mark(r, first, length, OKOSU_RUN_USED);
    insert_run(r, first + length, free_length - (length - old), OKOSU_RUN_CLEAN);
    return true;
}

uint32_t okosu_runs_split(struct okosu_runs *r, uint32_t first, uint32_t length)
{
    uint32_t old = r->chunks[first].length;

    unmark(r, first);
    mark(r, first, length, OKOSU_RUN_USED);
    mark(r, first + length, old - length, OKOSU_RUN_LEAVING);
    return first + length;
}

uint32_t okosu_runs_take_kept(struct okosu_runs *r)
{
    unsigned bin;

    for (bin = 0; bin < OKOSU_RUNS_BINS; bin++) {
        uint32_t first = r->bins[OKOSU_RUN_KEPT][bin];

        if (first == OKOSU_RUNS_NONE)
            continue;
        bin_remove(r, first);
        mark(r, first, r->chunks[first].length, OKOSU_RUN_LEAVING);
        return first;
    }
    return OKOSU_RUNS_NONE;
}

uint32_t okosu_runs_cut(struct okosu_runs *r)
{
    const struct okosu_chunk *last;
    uint32_t first;

    if (!r->count)
        return 0;
    last = &r->chunks[r->count - 1];
    if (last->state != OKOSU_RUN_CLEAN)
        return r->count;
    first = r->count - last->length;
    bin_remove(r, first);
    unmark(r, first);
    r->count = first;
    return first;
}
