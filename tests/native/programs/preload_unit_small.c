/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests: small mappings cut from advised regions. */
#include "preload_unit.h"
#include "small_maps.h"

#include <sys/mman.h>

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define KIB ((size_t)1 << 10)

static bool is_mapped(const char *at)
{
    unsigned char resident;

    return mincore((void *)at, OKOSU_PAGE, &resident) == 0;
}

static char *piece(size_t length)
{
    char *p = okosu_small_map(length);

    CHECK(p && p[0] == 0 && p[length - 1] == 0);
    return p;
}

static void drop(char *p, size_t length)
{
    okosu_small_forget(p, length);
    CHECK(munmap(p, length) == 0);
}

static void wanted(void)
{
    static const int others[] = {
        MAP_NORESERVE, MAP_POPULATE, MAP_STACK, MAP_GROWSDOWN, MAP_HUGETLB, MAP_LOCKED, MAP_FIXED,
#ifdef MAP_32BIT
        MAP_32BIT,
#endif
    };
    char hint;

    CHECK(okosu_small_wants(NULL, 64 * KIB, RW, ANON, 0));
    CHECK(okosu_small_wants(NULL, 2 * MIB - 1, RW, ANON, 0));
    CHECK(!okosu_small_wants(NULL, 64 * KIB - 1, RW, ANON, 0));
    CHECK(!okosu_small_wants(NULL, 2 * MIB, RW, ANON, 0));
    CHECK(!okosu_small_wants(&hint, MIB, RW, ANON, 0));
    CHECK(!okosu_small_wants(NULL, MIB, PROT_READ, ANON, 0));
    CHECK(!okosu_small_wants(NULL, MIB, PROT_NONE, ANON, 0));
    CHECK(!okosu_small_wants(NULL, MIB, RW | PROT_EXEC, ANON, 0));
    CHECK(!okosu_small_wants(NULL, MIB, RW, MAP_PRIVATE, 0));
    CHECK(!okosu_small_wants(NULL, MIB, RW, MAP_SHARED | MAP_ANONYMOUS, 0));
    CHECK(!okosu_small_wants(NULL, MIB, RW, ANON, 4096));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!okosu_small_wants(NULL, MIB, RW, ANON | others[i], 0));
}

static void pieces_follow_each_other_in_chunks(void)
{
    char *first = piece(MIB), *second = piece(MIB - 100), *third = piece(256 * KIB);

    CHECK((uintptr_t)first % OKOSU_CHUNK == 0 && second == first + MIB && third == second + MIB);
    CHECK(okosu_counters.advised == 8 * MIB && okosu_counters.mmaps == 3);
    fill(first, MIB, 1);
    fill(second, MIB, 2);
    drop(third, 256 * KIB);
    CHECK(is_filled(first, MIB, 1) && is_filled(second, MIB, 2));
}

/* A program whose pieces come and go for ever keeps neither memory nor budget. */
static void nothing_stays_of_what_is_gone(void)
{
    char *kept = piece(MIB), *before = NULL;
    unsigned seed = 1;
    size_t length = 0;

    for (int i = 0; i < 3000; i++) {
        size_t next = 64 * KIB + random_below(&seed, 1900) * KIB;
        char *p = piece(next);

        if (before)
            drop(before, length);
        if (before && p != before + length) {
            /* A region was left: its rest was unmapped. */
            CHECK(!is_mapped(before + length) && p[next - 1] == 0);
        }
        before = p;
        length = next;
        CHECK(okosu_counters.advised <= (8 + 2 * 32) * MIB);
    }
    drop(before, length);
    drop(kept, MIB);
    CHECK(okosu_counters.advised <= 32 * MIB);
}

static void a_region_without_pieces_is_used_on(void)
{
    char *p = piece(MIB);

    drop(p, MIB);
    CHECK(okosu_counters.advised == 8 * MIB && piece(MIB) == p + MIB);
    for (int i = 0; i < 1000; i++)
        drop(piece(MIB), MIB);
    /* That one piece keeps the first region. */
    CHECK(okosu_counters.advised == (8 + 32) * MIB);
    drop(p + MIB, MIB);
    CHECK(okosu_counters.advised == 32 * MIB);
}

/* A program may unmap pieces together with what lies around them. */
static void what_is_no_piece_is_not_counted(void)
{
    char *first = piece(MIB);

    for (int i = 1; i < 9; i++)
        piece(MIB);
    CHECK(okosu_counters.advised == (8 + 16) * MIB);
    okosu_small_forget(first - 64 * MIB, 65 * MIB);
    okosu_small_forget(first + 7 * MIB, 8 * MIB);
    CHECK(okosu_counters.advised == (8 + 16) * MIB);
    okosu_small_forget(first, 7 * MIB);
    CHECK(okosu_counters.advised == 16 * MIB);
}

static void regions_grow_to_a_limit(void)
{
    for (int i = 0; i < 8 + 16 + 32 + 32; i++)
        piece(MIB);
    CHECK(okosu_counters.advised == (8 + 16 + 32 + 32) * MIB);
    piece(MIB);
    CHECK(okosu_counters.advised == (8 + 16 + 32 + 32 + 32) * MIB);
}

static void over_the_budget_mmap_serves(void)
{
    okosu_config.budget_given = true;
    okosu_config.budget = 12 * MIB;
    for (int i = 0; i < 8; i++)
        piece(MIB);
    CHECK(!okosu_small_map(MIB) && !okosu_small_map(64 * KIB));
    CHECK(okosu_counters.advised == 8 * MIB && okosu_reason_count(OKOSU_WHY_BUDGET) == 2);
}

static size_t address_space(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    CHECK(f && fscanf(f, "%lu", &pages) == 1);
    fclose(f);
    return pages * OKOSU_PAGE;
}

static void where_a_region_fails_mmap_serves(void)
{
    size_t before;

    fake.map_fail_at = 1;
    CHECK(!okosu_small_map(MIB) && okosu_counters.advised == 0);
    fake.advise_error = -EINVAL;
    before = address_space();
    for (int i = 0; i < 10; i++)
        CHECK(!okosu_small_map(MIB) && okosu_counters.advised == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_ADVICE_FAILED) == 10);
    CHECK(address_space() < before + 8 * MIB);
    fake.advise_error = 0;
    piece(MIB);
}

static void a_limit_or_a_filter_forbids_regions(void)
{
    fake.address_limit = (size_t)1 << 40;
    CHECK(!okosu_small_map(MIB));
    fake.address_limit = SIZE_MAX;
    okosu_config.filtered = true;
    CHECK(!okosu_small_map(MIB) && okosu_counters.advised == 0);
}

static void the_rest_is_given_back_on_demand(void)
{
    char *p;

    CHECK(!okosu_small_relieve());
    p = piece(MIB);
    CHECK(is_mapped(p + MIB) && okosu_small_relieve() && !is_mapped(p + MIB) && is_mapped(p));
    CHECK(!okosu_small_relieve());
    piece(MIB);
}

static void a_child_leaves_the_chunk_that_it_shares(void)
{
    char *p = piece(MIB), *q;

    fill(p, MIB, 1);
    okosu_small_prefork();
    okosu_small_postfork(false);
    CHECK((q = piece(64 * KIB)) == p + MIB);
    okosu_small_prefork();
    okosu_small_postfork(true);
    CHECK(!is_mapped(q + 64 * KIB) && piece(MIB) == p + 2 * MIB && is_filled(p, MIB, 1));
    okosu_small_forget(p, MIB + 64 * KIB);
    okosu_small_forget(p + 2 * MIB, MIB);
    for (int i = 0; i < 5; i++)
        drop(piece(MIB), MIB);
    CHECK(okosu_counters.advised == 8 * MIB);
    piece(MIB);
    CHECK(okosu_counters.advised == 16 * MIB);
}

static void a_child_leaves_alone_what_was_given_back(void)
{
    char *p = piece(MIB), *others;

    CHECK(okosu_small_relieve());
    others = mmap(p + MIB, MIB, RW, ANON | MAP_FIXED, -1, 0);
    okosu_small_prefork();
    okosu_small_postfork(true);
    CHECK(is_mapped(others) && is_mapped(p));
}

static void a_signal_handler_gets_a_plain_mapping(void)
{
    char *p = piece(MIB);

    okosu_small_prefork();
    CHECK(!okosu_small_map(MIB) && !okosu_small_relieve());
    okosu_small_forget(p, MIB);
    okosu_small_postfork(false);
    CHECK(piece(MIB) == p + MIB);
}

const struct test_case cases_small[] = {
    CASE(wanted),
    CASE(pieces_follow_each_other_in_chunks),
    CASE(nothing_stays_of_what_is_gone),
    CASE(a_region_without_pieces_is_used_on),
    CASE(what_is_no_piece_is_not_counted),
    CASE(regions_grow_to_a_limit),
    CASE(over_the_budget_mmap_serves),
    CASE(where_a_region_fails_mmap_serves),
    CASE(a_limit_or_a_filter_forbids_regions),
    CASE(the_rest_is_given_back_on_demand),
    CASE(a_child_leaves_the_chunk_that_it_shares),
    CASE(a_child_leaves_alone_what_was_given_back),
    CASE(a_signal_handler_gets_a_plain_mapping),
    {NULL, NULL},
};
