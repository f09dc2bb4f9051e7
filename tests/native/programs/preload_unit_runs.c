/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests: the table of runs against a model, the policy, the lock. */
#include "lock.h"
#include "preload_unit.h"
#include "runs.h"

#include <pthread.h>

enum { CHUNKS = 257, OWNERS = 64 };

static struct okosu_chunk table[CHUNKS];
static struct okosu_runs runs;

/* The oracle: what each chunk is, and to whom it belongs. */
static struct {
    unsigned char state;
    unsigned char owner;
} model[CHUNKS];

static struct {
    uint32_t first, length;
} owned[OWNERS];

static uint32_t model_set(uint32_t first, uint32_t length, unsigned char state, unsigned char owner)
{
    uint32_t i;

    for (i = first; i < first + length; i++) {
        model[i].state = state;
        model[i].owner = owner;
    }
    return length;
}

static bool in_bin(uint32_t run)
{
    unsigned bin, state = table[run].state;
    uint32_t i;

    for (bin = 0; bin < OKOSU_RUNS_BINS; bin++) {
        for (i = runs.bins[state][bin]; i != OKOSU_RUNS_NONE; i = table[i].next) {
            if (i == run)
                return table[i].length >> bin == 1;
        }
    }
    return false;
}

static unsigned count_binned(void)
{
    unsigned state, bin, n = 0;
    uint32_t i;

    for (state = OKOSU_RUN_CLEAN; state <= OKOSU_RUN_KEPT; state++) {
        for (bin = 0; bin < OKOSU_RUNS_BINS; bin++) {
            for (i = runs.bins[state][bin]; i != OKOSU_RUNS_NONE; i = table[i].next)
                n++;
        }
    }
    return n;
}

/* The invariants of runs.h, and agreement with the model chunk by chunk. */
static void check_table(void)
{
    unsigned char before = OKOSU_RUN_INNER;
    unsigned binned = 0;
    uint32_t run, i;

    for (run = 0; run < runs.count; run += table[run].length) {
        unsigned char state = table[run].state;
        uint32_t length = table[run].length;

        CHECK(length > 0 && run + length <= runs.count);
        CHECK(table[run + length - 1].state == state && table[run + length - 1].length == length);
        CHECK(state == OKOSU_RUN_USED || state != before);
        for (i = run; i < run + length; i++) {
            CHECK(model[i].state == state && model[i].owner == model[run].owner);
            CHECK(i == run || i == run + length - 1 || table[i].state == OKOSU_RUN_INNER);
        }
        if (state != OKOSU_RUN_USED) {
            CHECK(in_bin(run));
            binned++;
        }
        before = state;
    }
    CHECK(run == runs.count);
    CHECK(count_binned() == binned);
}

/* Whether the model has `length` chunks of `state` in a row at an aligned place. */
static bool model_has(unsigned char state, uint32_t length, uint32_t align)
{
    uint32_t i, n = 0;

    for (i = 0; i < runs.count; i++) {
        n = model[i].state == state ? n + 1 : 0;
        if (n >= length && (runs.first_number + i + 1 - length) % align == 0)
            return true;
    }
    return false;
}

static void try_take(unsigned owner, unsigned *seed)
{
    enum okosu_run_state from = random_below(seed, 2) ? OKOSU_RUN_CLEAN : OKOSU_RUN_KEPT;
    uint32_t length = 1 + random_below(seed, 20), align = 1u << random_below(seed, 4), first, i;

    first = okosu_runs_take(&runs, from, length, align);
    /* Kept and clean runs are joined among their own kind, so a fit is missed only if there is
     * none. */
    CHECK((first != OKOSU_RUNS_NONE) == model_has((unsigned char)from, length, align));
    if (first == OKOSU_RUNS_NONE)
        return;
    CHECK((runs.first_number + first) % align == 0);
    for (i = first; i < first + length; i++)
        CHECK(model[i].state == from);
    owned[owner].first = first;
    owned[owner].length = model_set(first, length, OKOSU_RUN_USED, (unsigned char)owner);
}

static void try_joined(unsigned owner, unsigned *seed)
{
    uint32_t length = 2 + random_below(seed, 20), first, kept, i;

    kept = okosu_runs_take_joined(&runs, length, &first);
    if (!kept)
        return;
    for (i = 0; i < length; i++)
        CHECK(model[first + i].state == (i < kept ? OKOSU_RUN_KEPT : OKOSU_RUN_CLEAN));
    owned[owner].first = first;
    owned[owner].length = model_set(first, length, OKOSU_RUN_USED, (unsigned char)owner);
}

static void change(unsigned owner, unsigned *seed)
{
    uint32_t first = owned[owner].first, old = owned[owner].length, want, rest;
    enum okosu_run_state to = random_below(seed, 2) ? OKOSU_RUN_CLEAN : OKOSU_RUN_KEPT;

    switch (random_below(seed, 4)) {
    case 0:
        want = old + 1 + random_below(seed, 8);
        if (okosu_runs_extend(&runs, first, want)) {
            owned[owner].length = model_set(first, want, OKOSU_RUN_USED, (unsigned char)owner);
        } else {
            uint32_t i, free_chunks = 0;

            for (i = first + old; i < runs.count && model[i].state == OKOSU_RUN_CLEAN; i++)
                free_chunks++;
            CHECK(free_chunks < want - old);
        }
        break;
    case 1:
        if (old < 2)
            break;
        want = 1 + random_below(seed, old - 1);
        rest = okosu_runs_split(&runs, first, want);
        CHECK(rest == first + want);
        okosu_runs_put(&runs, rest, OKOSU_RUN_CLEAN);
        model_set(rest, old - want, OKOSU_RUN_CLEAN, 0);
        owned[owner].length = want;
        break;
    default:
        okosu_runs_put(&runs, first, to);
        model_set(first, old, (unsigned char)to, 0);
        owned[owner].length = 0;
    }
}

static void drop_kept(void)
{
    uint32_t first = okosu_runs_take_kept(&runs), length;

    if (first == OKOSU_RUNS_NONE) {
        CHECK(!model_has(OKOSU_RUN_KEPT, 1, 1));
        return;
    }
    CHECK(model[first].state == OKOSU_RUN_KEPT);
    length = table[first].length;
    okosu_runs_put(&runs, first, OKOSU_RUN_CLEAN);
    model_set(first, length, OKOSU_RUN_CLEAN, 0);
}

static void runs_follow_model(void)
{
    unsigned seed = 7, step, owner;

    okosu_runs_start(&runs, table, CHUNKS, 12345);
    model_set(0, CHUNKS, OKOSU_RUN_CLEAN, 0);
    for (step = 0; step < 20000; step++) {
        owner = 1 + random_below(&seed, OWNERS - 1);
        if (owned[owner].length)
            change(owner, &seed);
        else if (random_below(&seed, 4))
            try_take(owner, &seed);
        else
            try_joined(owner, &seed);
        if (random_below(&seed, 64) == 0)
            drop_kept();
        check_table();
    }
}

static void runs_cut_end(void)
{
    uint32_t a, b;

    okosu_runs_start(&runs, table, 100, 0);
    a = okosu_runs_take(&runs, OKOSU_RUN_CLEAN, 10, 1);
    CHECK(a == 0);
    CHECK(okosu_runs_cut(&runs) == 10);
    CHECK(okosu_runs_cut(&runs) == 10);
    b = okosu_runs_take(&runs, OKOSU_RUN_CLEAN, 1, 1);
    CHECK(b == OKOSU_RUNS_NONE);
    okosu_runs_put(&runs, a, OKOSU_RUN_CLEAN);
    CHECK(okosu_runs_take(&runs, OKOSU_RUN_CLEAN, 10, 1) == 0);
}

static void policy_density(void)
{
    okosu_config.density = 75;
    CHECK(okosu_policy_dense(OKOSU_CHUNK) == 1);
    CHECK(okosu_policy_dense(OKOSU_CHUNK * 3 / 4) == 1);
    CHECK(okosu_policy_dense(OKOSU_CHUNK * 3 / 4 - 1) == 0);
    CHECK(okosu_policy_dense(5 * OKOSU_CHUNK + OKOSU_CHUNK * 3 / 4) == 6);
    CHECK(okosu_policy_dense(5 * OKOSU_CHUNK + 1) == 5);
    okosu_config.density = 1;
    CHECK(okosu_policy_dense(OKOSU_CHUNK / 100 + 1) == 1);
    okosu_config.density = 100;
    CHECK(okosu_policy_dense(2 * OKOSU_CHUNK - 1) == 1);
}

static void policy_budget(void)
{
    okosu_config.budget_given = true;
    okosu_config.budget = 10 * OKOSU_CHUNK + 5;
    CHECK(okosu_policy_grant(7, OKOSU_KIND_THP) == 7);
    CHECK(okosu_reason_count(OKOSU_WHY_BUDGET) == 0);
    CHECK(okosu_policy_grant(7, OKOSU_KIND_THP) == 3);
    CHECK(okosu_policy_grant(1, OKOSU_KIND_THP) == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_BUDGET) == 2);
    okosu_policy_return(4);
    CHECK(okosu_policy_grant(9, OKOSU_KIND_HUGETLB) == 4);
    CHECK(okosu_counters.advised == 10 * OKOSU_CHUNK);
}

static void policy_default_budget_is_half(void)
{
    fake.available = 9 * OKOSU_CHUNK;
    CHECK(okosu_policy_grant(100, OKOSU_KIND_THP) == 4);
}

static void policy_backs_off(void)
{
    int i, round;

    for (round = 0; round < 3; round++) {
        CHECK(okosu_policy_grant(1, OKOSU_KIND_THP) == 1);
        okosu_policy_outcome(false);
        for (i = 0; i < OKOSU_BACKOFF_TRIES; i++)
            CHECK(okosu_policy_grant(1, OKOSU_KIND_THP) == 0);
    }
    CHECK(okosu_policy_grant(1, OKOSU_KIND_THP) == 1);
    okosu_policy_outcome(true);
    CHECK(okosu_policy_grant(1, OKOSU_KIND_THP) == 1);
    CHECK(okosu_reason_count(OKOSU_WHY_SMALL_PAGES) == 3);
    CHECK(okosu_reason_count(OKOSU_WHY_BACKOFF) == 3 * OKOSU_BACKOFF_TRIES);
}

static void policy_believes_kernel(enum okosu_thp_state state, enum okosu_reason why)
{
    fake.thp = state;
    CHECK(okosu_policy_grant(4, OKOSU_KIND_THP) == 0);
    CHECK(okosu_reason_count(why) == 1);
    CHECK(okosu_policy_grant(4, OKOSU_KIND_HUGETLB) == 4);
}

static void policy_thp_never(void)
{
    policy_believes_kernel(OKOSU_THP_NEVER, OKOSU_WHY_THP_NEVER);
}

static void policy_thp_disabled(void)
{
    policy_believes_kernel(OKOSU_THP_DISABLED, OKOSU_WHY_THP_DISABLED);
}

static void policy_thp_absent(void)
{
    policy_believes_kernel(OKOSU_THP_ABSENT, OKOSU_WHY_NO_KERNEL_THP);
}

static struct okosu_lock lock;
static unsigned long shared;

static void *count_up(void *unused)
{
    int i;

    (void)unused;
    for (i = 0; i < 50000; i++) {
        okosu_lock_take(&lock);
        okosu_lock_take(&lock);
        shared++;
        okosu_lock_release(&lock);
        CHECK(okosu_lock_is_mine(&lock));
        okosu_lock_release(&lock);
    }
    return NULL;
}

static void lock_excludes_and_nests(void)
{
    pthread_t threads[4];
    int i;

    for (i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, count_up, NULL) == 0);
    for (i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(shared == 4 * 50000);
    CHECK(!okosu_lock_is_mine(&lock));
}

const struct test_case cases_runs[] = {
    {"runs follow a model through 20000 random steps", runs_follow_model},
    {"runs: the clean end can be cut off", runs_cut_end},
    {"policy: density at its edges", policy_density},
    {"policy: grants never exceed the budget", policy_budget},
    {"policy: the budget is half of what is available", policy_default_budget_is_half},
    {"policy: backs off after small pages and tries again", policy_backs_off},
    {"policy: THP never", policy_thp_never},
    {"policy: THP disabled for the process", policy_thp_disabled},
    {"policy: kernel without THP", policy_thp_absent},
    {"lock excludes and nests", lock_excludes_and_nests},
    {NULL, NULL},
};
