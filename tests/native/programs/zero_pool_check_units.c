/* SPDX-License-Identifier: Apache-2.0 */
/* zero_pool_check_units: the states of a pool's units, without a pool. */
#include "zero_pool_check.h"

#include "pool/units.h"

#include <pthread.h>

/* The first run of `want` units in a state of `set`, or `count`: looked at from every start. */
static size_t first_run(const int *state, size_t count, size_t want, unsigned set)
{
    for (size_t k = 0; want && k + want <= count; k++) {
        size_t length = 0;

        while (length < want && set >> state[k + length] & 1)
            length++;
        if (length == want)
            return k;
    }
    return count;
}

/* The model: one state a unit, looked at one by one. */
void zero_pool_check_units(uint64_t seed)
{
    enum { COUNT = 23, STEPS = 200000, PER_UNIT = 512 };
    struct okosu_unit rows[COUNT] = {0};
    struct okosu_units units;
    int state[COUNT] = {0}, run[COUNT] = {0};
    size_t pages[COUNT] = {0}, in[OKOSU_UNIT_STATES];
    bool fresh[COUNT] = {0};

    okosu_units_init(&units, rows, COUNT);
    for (int step = 0; step < STEPS; step++) {
        size_t i = next_random(&seed) % COUNT, want = next_random(&seed) % 5, first = COUNT, got;

        switch (next_random(&seed) % 6) {
        case 5: {
            struct okosu_units_found found;
            size_t end = i + (size_t)run[i], dirty = 0, there = 0;
            bool any = next_random(&seed) % 2, can = run[i] && i + want <= COUNT;

            for (size_t k = end; can && k < i + want; k++)
                can = state[k] == OKOSU_UNIT_DIRTY || state[k] == OKOSU_UNIT_CLEAN ||
                      (any && state[k] == OKOSU_UNIT_ABSENT);
            CHECK(okosu_units_extend(&units, i, want, PER_UNIT, any, &found) == can);
            for (size_t k = end; can && k < i + want; k++) {
                there += state[k] != OKOSU_UNIT_ABSENT;
                if (state[k] == OKOSU_UNIT_DIRTY)
                    dirty = (k - i) * PER_UNIT + pages[k];
                fresh[k] = state[k] == OKOSU_UNIT_ABSENT;
                state[k] = OKOSU_UNIT_HELD;
                run[i] = (int)want;
            }
            CHECK(!can || (found.there == there && found.dirty == dirty));
            break;
        }
        case 0:
            first = first_run(state, COUNT, want, 1u << OKOSU_UNIT_CLEAN);
            CHECK(okosu_units_take(&units, want) == first);
            for (size_t k = first; first < COUNT && k < first + want; k++) {
                state[k] = OKOSU_UNIT_HELD;
                fresh[k] = false;
            }
            if (first < COUNT)
                run[first] = (int)want;
            break;
        case 4: {
            const unsigned sets[] = {
                1u << OKOSU_UNIT_DIRTY, 1u << OKOSU_UNIT_DIRTY | 1u << OKOSU_UNIT_CLEAN,
                1u << OKOSU_UNIT_DIRTY | 1u << OKOSU_UNIT_CLEAN | 1u << OKOSU_UNIT_ABSENT};
            struct okosu_units_found found;
            size_t there = 0, dirty = 0;
            bool any = next_random(&seed) % 2;

            for (int s = 0; s < (any ? 3 : 2) && first == COUNT; s++)
                first = first_run(state, COUNT, want, sets[s]);
            CHECK(okosu_units_take_any(&units, want, PER_UNIT, any, &found) == first);
            for (size_t k = first; first < COUNT && k < first + want; k++) {
                there += state[k] != OKOSU_UNIT_ABSENT;
                if (state[k] == OKOSU_UNIT_DIRTY)
                    dirty = (k - first) * PER_UNIT + pages[k];
                fresh[k] = state[k] == OKOSU_UNIT_ABSENT;
                state[k] = OKOSU_UNIT_HELD;
            }
            if (first < COUNT)
                run[first] = (int)want;
            CHECK(found.there == there && found.dirty == dirty);
            break;
        }
        case 1:
            got = next_random(&seed) % (4 * PER_UNIT);
            CHECK(okosu_units_give(&units, i, got, PER_UNIT) == (run[i] > 0));
            for (size_t k = i; k < i + (size_t)run[i]; k++) {
                pages[k] = got < PER_UNIT ? got : PER_UNIT;
                got -= pages[k];
                state[k] = pages[k]   ? OKOSU_UNIT_DIRTY
                           : fresh[k] ? OKOSU_UNIT_ABSENT
                                      : OKOSU_UNIT_CLEAN;
            }
            run[i] = 0;
            break;
        default:
            want = next_random(&seed) % 2 ? OKOSU_UNIT_ABSENT : OKOSU_UNIT_DIRTY;
            for (first = 0; first < COUNT && state[first] != (int)want;)
                first++;
            CHECK(okosu_units_find(&units, want) == first);
            if (first < COUNT) {
                if (want == OKOSU_UNIT_DIRTY)
                    CHECK(rows[first].dirty == pages[first]);
                CHECK(okosu_units_claim(&units, first, want));
                CHECK(!okosu_units_claim(&units, first, want));
                okosu_units_settle(&units, first, OKOSU_UNIT_CLEAN);
                state[first] = OKOSU_UNIT_CLEAN;
            }
            first = okosu_units_last(&units, OKOSU_UNIT_CLEAN);
            if (next_random(&seed) % 8 == 0 && first < COUNT) {
                for (size_t k = first + 1; k < COUNT; k++)
                    CHECK(state[k] != OKOSU_UNIT_CLEAN);
                CHECK(okosu_units_claim(&units, first, OKOSU_UNIT_CLEAN));
                okosu_units_settle(&units, first, OKOSU_UNIT_ABSENT);
                state[first] = OKOSU_UNIT_ABSENT;
            }
        }
        okosu_units_count(&units, in);
        for (size_t k = 0; k < COUNT; k++) {
            CHECK(rows[k].state == state[k] && rows[k].run == (uint32_t)run[k]);
            in[state[k]]--;
        }
        for (int s = 0; s < OKOSU_UNIT_STATES; s++)
            CHECK(in[s] == 0);
    }
    puts("ok: units as in the model");
}

/* Units that several threads take, claim and hand on: none is ever two threads'. */
static struct okosu_units shared;
static atomic_int owner[16];
static uint64_t turns;

static void enter(size_t first, size_t count, int me)
{
    for (size_t k = first; k < first + count; k++)
        CHECK(atomic_exchange(&owner[k], me) == 0);
}

static void leave(size_t first, size_t count, int me)
{
    for (size_t k = first; k < first + count; k++)
        CHECK(atomic_exchange(&owner[k], 0) == me);
}

static void *contend(void *arg)
{
    int me = (int)(intptr_t)arg;
    uint64_t seed = (uint64_t)me;

    for (uint64_t i = 0; i < turns; i++) {
        size_t want = 1 + next_random(&seed) % 3, at = next_random(&seed) % 16, first;
        struct okosu_units_found found;

        if (next_random(&seed) % 3) {
            first = okosu_units_take_any(&shared, want, 512, true, &found);
            if (first == shared.count)
                continue;
            enter(first, want, me);
            leave(first, want, me);
            CHECK(okosu_units_give(&shared, first, next_random(&seed) % 1536, 512));
        } else if (okosu_units_claim(&shared, at, OKOSU_UNIT_DIRTY)) {
            enter(at, 1, me);
            leave(at, 1, me);
            okosu_units_settle(&shared, at, OKOSU_UNIT_CLEAN);
        }
    }
    return NULL;
}

void zero_pool_check_contention(uint64_t wanted)
{
    static struct okosu_unit rows[16];
    size_t in[OKOSU_UNIT_STATES];
    pthread_t thread[4];

#ifdef __SANITIZE_THREAD__
    wanted /= 20;
#endif
    turns = wanted;
    okosu_units_init(&shared, rows, 16);
    for (intptr_t i = 0; i < 4; i++)
        CHECK(!pthread_create(&thread[i], NULL, contend, (void *)(i + 1)));
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    okosu_units_count(&shared, in);
    CHECK(!in[OKOSU_UNIT_HELD] && !in[OKOSU_UNIT_ZEROING]);
    puts("ok: no unit is ever two threads'");
}
