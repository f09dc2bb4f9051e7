/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests: large blocks and aligned mappings, with failing system calls. */
#include "maps.h"
#include "preload_unit.h"

#include <sys/mman.h>
#include <sys/shm.h>

#define RW (PROT_READ | PROT_WRITE)
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)

static void *alloc(size_t size)
{
    bool zeroed;

    return okosu_large_alloc(size, 1, &zeroed);
}

static bool is_zero(const char *p, size_t size)
{
    size_t i;

    for (i = 0; i < size; i += 5 * OKOSU_PAGE / 4) {
        if (p[i])
            return false;
    }
    return p[size - 1] == 0;
}

/* Random allocation, resizing and freeing; every block keeps its pattern whatever call failed, and
 * at the end nothing is advised any more. Returns how many requests were refused. */
static unsigned shake(unsigned seed, unsigned steps, unsigned fail_every)
{
    enum { LIVE = 12 };
    static struct {
        void *p;
        size_t size;
    } live[LIVE];
    unsigned step, refused = 0;

    for (step = 0; step < steps; step++) {
        unsigned i = random_below(&seed, LIVE);
        size_t size = OKOSU_LARGE_MIN + random_below(&seed, 9u << 20);
        bool zeroed;

        if (fail_every && step % fail_every == 0)
            fake.map_fail_at = fake.map_calls + 1 + random_below(&seed, 3);
        if (!live[i].p) {
            size_t align = (size_t)1 << random_below(&seed, 23);
            char *p = okosu_large_alloc(size, align, &zeroed);

            refused += !p;
            if (!p)
                continue;
            CHECK(okosu_large_owns(p) && (uintptr_t)p % align == 0 && (uintptr_t)p % 16 == 0);
            CHECK(!zeroed || is_zero(p, size));
            CHECK(okosu_large_usable(p) >= size);
            live[i].p = p;
            live[i].size = size;
            fill(p, size, i);
        } else if (random_below(&seed, 2)) {
            void *p = okosu_large_resize(live[i].p, size);

            CHECK(is_filled(p ? p : live[i].p, size < live[i].size && p ? size : live[i].size, i));
            refused += !p;
            if (!p)
                continue;
            CHECK(okosu_large_usable(p) >= size);
            live[i].p = p;
            live[i].size = size;
            fill(p, size, i);
        } else {
            CHECK(is_filled(live[i].p, live[i].size, i));
            okosu_large_free(live[i].p);
            live[i].p = NULL;
        }
    }
    for (step = 0; step < LIVE; step++) {
        if (live[step].p)
            okosu_large_free(live[step].p);
        live[step].p = NULL;
    }
    okosu_large_relieve();
    CHECK(okosu_counters.advised == 0);
    return refused;
}

static void shaken(void)
{
    CHECK(shake(1, 700, 0) == 0);
    CHECK(okosu_counters.advised_peak > 0);
    CHECK(fake.moves > 0);
}

static void shaken_retaining(void)
{
    okosu_config.retain = true;
    CHECK(shake(2, 700, 0) == 0);
    CHECK(okosu_counters.retained_hits > 100);
}

static void shaken_with_failing_maps(void)
{
    CHECK(shake(3, 700, 5) > 0);
    CHECK(okosu_reason_count(OKOSU_WHY_COMMIT_FAILED) > 0);
}

static void shaken_retaining_with_failing_maps(void)
{
    okosu_config.retain = true;
    CHECK(shake(4, 700, 5) > 0);
}

static void shaken_without_mremap(void)
{
    fake.move_error = -EINVAL;
    CHECK(shake(5, 400, 0) == 0);
    CHECK(fake.moves == 0);
}

static void shaken_with_split_mappings(void)
{
    fake.move_error = -EFAULT;
    fake.move_fails_on_many = true;
    CHECK(shake(6, 400, 0) == 0);
    CHECK(fake.moves > 0);
}

static void shaken_with_moves_that_fail_halfway(void)
{
    fake.move_error = -EFAULT;
    fake.move_fails_on_many = true;
    fake.move_fail_every = 5;
    fake.mending_fails = true;
    CHECK(shake(9, 700, 0) > 0);
    CHECK(fake.moves > 0 && okosu_reason_count(OKOSU_WHY_COMMIT_FAILED) > 0);
}

static void shaken_with_hugetlb(void)
{
    okosu_config.tier = OKOSU_TIER_HUGETLB;
    fake.hugetlb_pool = true;
    CHECK(shake(7, 400, 0) == 0);
    CHECK(fake.hugetlb_maps > 20);
}

static void shaken_on_small_pages(void)
{
    fake.small = true;
    CHECK(shake(8, 400, 0) == 0);
    CHECK(okosu_counters.huge_first_chunks == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_SMALL_PAGES) > 0 &&
          okosu_reason_count(OKOSU_WHY_BACKOFF) > 0);
}

static void first_map_fails(void)
{
    fake.map_fail_at = 1;
    CHECK(alloc(OKOSU_LARGE_MIN));
    CHECK(okosu_large_span == (size_t)1 << 40);
    /* Below a third of the address space, where no mmap without an address lands. */
    CHECK(okosu_large_base + okosu_large_span < okosu_sys.address_top() / 3);
    CHECK(okosu_large_base > okosu_sys.address_top() / 8);
}

static void no_address_space(void)
{
    fake.address_limit = 128 * MIB;
    CHECK(!alloc(OKOSU_LARGE_MIN));
    CHECK(!alloc(OKOSU_LARGE_MIN));
    CHECK(okosu_reason_count(OKOSU_WHY_NO_REGION) == 1);
}

static void region_is_a_quarter_and_cut(void)
{
    void *p;

    fake.address_limit = 1024 * MIB;
    p = alloc(50 * MIB);
    CHECK(p && okosu_large_span == 256 * MIB);
    CHECK(!alloc(300 * MIB));
    CHECK(okosu_large_relieve());
    CHECK(okosu_large_span <= 54 * MIB && okosu_large_owns(p));
    CHECK(!okosu_large_relieve());
    CHECK(!alloc(4 * MIB));
    CHECK(okosu_reason_count(OKOSU_WHY_REGION_FULL) == 1);
    okosu_large_free(p);
    CHECK(alloc(4 * MIB));
}

static void retained_is_not_zero_and_bounded(void)
{
    bool zeroed;
    char *a, *b;

    okosu_config.retain = true;
    a = okosu_large_alloc(8 * MIB, 1, &zeroed);
    CHECK(a && zeroed);
    fill(a, 8 * MIB, 1);
    okosu_large_free(a);
    b = okosu_large_alloc(8 * MIB, 1, &zeroed);
    CHECK(b && !zeroed && okosu_counters.retained_hits == 1);
    /* A second block raises the peak; with both freed, that is what may be kept. */
    a = okosu_large_alloc(8 * MIB, 1, &zeroed);
    CHECK(a && zeroed);
    okosu_large_free(a);
    okosu_large_free(b);
    CHECK(okosu_counters.advised <= okosu_counters.advised_peak);
    CHECK(okosu_counters.advised >= 16 * MIB);
    /* One block of the whole peak fits no kept run, so all that was kept must have made room. */
    a = okosu_large_alloc(30 * MIB, 1, &zeroed);
    CHECK(a && okosu_counters.advised <= 32 * MIB);
    okosu_large_free(a);
    CHECK(okosu_large_relieve());
    CHECK(okosu_counters.advised == 0);
}

/* What is kept makes room when a new block raises the peak and cannot use it. */
static void kept_and_live_stay_below_the_peak(void)
{
    void *p[3];
    int i;

    okosu_config.retain = true;
    for (i = 0; i < 3; i++)
        p[i] = alloc(8 * MIB);
    okosu_large_free(p[0]);
    okosu_large_free(p[2]);
    CHECK(okosu_counters.advised == 24 * MIB);
    /* The last run can grow into this one, the first cannot: the second block is in the way. */
    CHECK(alloc(20 * MIB) && okosu_counters.retained_hits == 1);
    CHECK(okosu_counters.advised <= 30 * MIB);
}

static void budget_bounds_blocks(void)
{
    void *p[4];
    int i;

    okosu_config.budget_given = true;
    okosu_config.budget = 20 * MIB;
    for (i = 0; i < 4; i++) {
        p[i] = alloc(8 * MIB);
        CHECK(p[i]);
        fill(p[i], 8 * MIB, 3);
        CHECK(okosu_counters.advised <= 20 * MIB);
    }
    CHECK(okosu_counters.advised == 20 * MIB && okosu_reason_count(OKOSU_WHY_BUDGET) == 2);
    for (i = 0; i < 4; i++)
        okosu_large_free(p[i]);
    okosu_large_relieve();
    CHECK(okosu_counters.advised == 0);
    CHECK(okosu_counters.advised_peak == 20 * MIB && okosu_counters.advised_total == 20 * MIB);
}

static void keeps_what_glibc_would(void)
{
    size_t advised;
    void *p[6];
    int i;

    for (i = 0; i < 6; i++)
        p[i] = alloc(8 * MIB);
    for (i = 0; i < 6; i++)
        okosu_large_free(p[i]);
    /* Twice the size of the block, the partial chunk at its end included. */
    CHECK(okosu_counters.advised >= 8 * MIB && okosu_counters.advised <= 20 * MIB);
    CHECK(alloc(8 * MIB) && okosu_counters.retained_hits == 1);
    okosu_large_relieve();
    advised = okosu_counters.advised;
    p[0] = alloc(40 * MIB);
    okosu_large_free(p[0]);
    CHECK(okosu_counters.advised == advised);
    /* In a child that no longer serves blocks, nothing is kept. */
    p[0] = alloc(4 * MIB);
    okosu_config.tier = OKOSU_TIER_NONE;
    okosu_large_free(p[0]);
    CHECK(okosu_counters.advised == advised);
}

static void no_advice(void)
{
    fake.advise_error = -EINVAL;
    CHECK(alloc(8 * MIB));
    CHECK(okosu_counters.advised == 0 && okosu_reason_count(OKOSU_WHY_ADVICE_FAILED) == 1);
    CHECK(okosu_counters.blocks == 1);
}

static void no_populate(void)
{
    fake.populate_error = -EINVAL;
    CHECK(alloc(8 * MIB));
    CHECK(okosu_counters.advised == 8 * MIB && okosu_reason_count(OKOSU_WHY_NO_POPULATE) == 1);
    fake.populate_error = -ENOMEM;
    CHECK(alloc(8 * MIB));
    CHECK(okosu_reason_count(OKOSU_WHY_POPULATE_FAILED) == 1);
}

static void tail_below_density_stays_small(void)
{
    bool zeroed;
    char *p = okosu_large_alloc(4 * MIB + OKOSU_CHUNK / 2, OKOSU_CHUNK, &zeroed);

    CHECK(p && okosu_counters.advised == 4 * MIB);
    CHECK(okosu_large_usable(p) == 4 * MIB + OKOSU_CHUNK / 2);
    p = okosu_large_alloc(4 * MIB + OKOSU_CHUNK * 3 / 4, OKOSU_CHUNK, &zeroed);
    CHECK(p && okosu_counters.advised == 10 * MIB);
}

static void hugetlb_falls_back(void)
{
    void *p;

    okosu_config.tier = OKOSU_TIER_HUGETLB;
    p = alloc(8 * MIB);
    CHECK(p && okosu_reason_count(OKOSU_WHY_HUGETLB_EMPTY) == 1);
    CHECK(okosu_counters.advised == 8 * MIB);
    CHECK(okosu_counters.advised_total == 8 * MIB); /* what was refused is not counted */
    okosu_large_free(p);
    okosu_large_relieve();
    fake.hugetlb_pool = true;
    fake.populate_error = -ENOMEM;
    p = alloc(8 * MIB);
    CHECK(p && okosu_reason_count(OKOSU_WHY_HUGETLB_POPULATE) == 1);
    fill(p, 8 * MIB, 4);
    okosu_large_free(p);
    okosu_large_relieve();
    fake.populate_error = 0;
    p = alloc(8 * MIB);
    CHECK(p && fake.hugetlb_maps == 2 && okosu_counters.huge_first_chunks == 2);
    okosu_policy_forked();
    CHECK(alloc(8 * MIB) && fake.hugetlb_maps == 2);
    CHECK(okosu_reason_count(OKOSU_WHY_HUGETLB_FORKED) == 2);
}

static void bad_pointers_are_ignored(void)
{
    char *p = alloc(8 * MIB);

    okosu_large_free(p + 64);
    okosu_large_free(p + OKOSU_CHUNK);
    CHECK(!okosu_large_resize(p + 128, 9 * MIB));
    CHECK(okosu_large_usable(p + 4 * OKOSU_CHUNK) == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_BAD_FREE) == 3);
    okosu_large_free(p);
    okosu_large_free(p);
    CHECK(okosu_reason_count(OKOSU_WHY_BAD_FREE) == 4);
}

static void offsets_rotate(void)
{
    unsigned char seen[64] = {0};
    int i, distinct = 0;

    for (i = 0; i < 64; i++) {
        char *p = alloc(4 * MIB);

        CHECK(p && (uintptr_t)p % 64 == 0);
        seen[(uintptr_t)p / 64 % 64] = 1;
    }
    for (i = 0; i < 64; i++)
        distinct += seen[i];
    CHECK(distinct == 64);
}

static void maps_are_aligned_exact_and_counted(void)
{
    unsigned char resident[8];
    char *p;

    fake.misalign = true;
    p = (char *)okosu_maps_map(NULL, 5 * MIB + 100, RW, ANON);
    CHECK((uintptr_t)p % OKOSU_CHUNK == 0);
    fill(p, 5 * MIB + 100, 5);
    /* Neither more nor less is mapped than was asked for. */
    CHECK(mincore(p + 5 * MIB, OKOSU_PAGE, resident) == 0);
    CHECK(mincore(p + 5 * MIB + OKOSU_PAGE, OKOSU_PAGE, resident) == -1 && errno == ENOMEM);
    CHECK(mincore(p - OKOSU_PAGE, OKOSU_PAGE, resident) == -1 && errno == ENOMEM);
    CHECK(okosu_counters.advised == 4 * MIB && okosu_counters.mmaps == 1);
    okosu_maps_forget(p, 5 * MIB + 100);
    CHECK(okosu_counters.advised == 0);
}

/* As allocators cut what they want aligned; a hole stays charged, and its edges are not taken for
 * ends of the mapping. */
static void maps_cut_at_their_ends_are_charged_less(void)
{
    char *p = (char *)okosu_maps_map(NULL, 12 * MIB, RW, ANON | MAP_NORESERVE);

    CHECK((uintptr_t)p % OKOSU_CHUNK == 0 && okosu_counters.advised == 12 * MIB);
    okosu_maps_forget(p, MIB);
    CHECK(okosu_counters.advised == 10 * MIB);
    okosu_maps_forget(p + MIB, MIB);
    CHECK(okosu_counters.advised == 10 * MIB);
    okosu_maps_forget(p + 11 * MIB + OKOSU_PAGE, 2 * MIB);
    CHECK(okosu_counters.advised == 8 * MIB);
    okosu_maps_forget(p + 4 * MIB, 2 * MIB);
    okosu_maps_forget(p + 4 * MIB, 2 * MIB);
    CHECK(okosu_counters.advised == 8 * MIB);
    okosu_maps_forget(p - 2 * MIB, 4 * MIB + 1);
    CHECK(okosu_counters.advised == 6 * MIB);
    okosu_maps_forget(p - 2 * MIB, 16 * MIB);
    CHECK(okosu_counters.advised == 0);
    okosu_maps_forget(p, 12 * MIB);
    CHECK(okosu_counters.advised == 0);
}

static void maps_at_a_place_are_advised_where_they_lie(void)
{
    char *room = (char *)okosu_maps_map(NULL, 16 * MIB, PROT_NONE, ANON | MAP_NORESERVE);
    char *p;

    okosu_maps_forget(room, 16 * MIB);
    CHECK(okosu_counters.advised == 0);
    p = (char *)okosu_maps_map(room + OKOSU_PAGE, 6 * MIB, RW, ANON | MAP_FIXED | MAP_NORESERVE);
    CHECK(p == room + OKOSU_PAGE && okosu_counters.advised == 4 * MIB);
    /* What was there is replaced. */
    okosu_maps_forget(room, 16 * MIB);
    p = (char *)okosu_maps_map(room, 16 * MIB, RW, ANON | MAP_FIXED);
    CHECK(p == room && okosu_counters.advised == 16 * MIB);
    fill(p, 16 * MIB, 7);
}

static void a_reservation_is_not_advised(void)
{
    intptr_t p;

    okosu_config.budget_given = true;
    okosu_config.budget = 16 * MIB;
    p = okosu_maps_map(NULL, 18 * MIB, RW, ANON | MAP_NORESERVE);
    CHECK(!okosu_sys_failed(p) && okosu_counters.advised == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_RESERVATION) == 1);
    p = okosu_maps_map(NULL, 18 * MIB, RW, ANON);
    CHECK(!okosu_sys_failed(p) && okosu_counters.advised == 0);
    CHECK(okosu_reason_count(OKOSU_WHY_RESERVATION) == 2);
    p = okosu_maps_map(NULL, 15 * MIB, RW, ANON);
    CHECK(!okosu_sys_failed(p) && okosu_counters.advised == 14 * MIB);
}

static void shared_memory_is_charged_while_it_is_mapped(void)
{
    char *p = (char *)okosu_maps_map(NULL, 8 * MIB, RW, ANON);

    okosu_maps_forget(p, 8 * MIB);
    CHECK(okosu_counters.advised == 0);
    okosu_maps_shared(p, 5 * MIB + 1, MAP_SHARED | MAP_ANONYMOUS, -1, 1);
    CHECK(okosu_counters.advised == 4 * MIB);
    okosu_maps_forget(p, 5 * MIB + 1);
    CHECK(okosu_counters.advised == 0);
    okosu_maps_shared(p + OKOSU_PAGE, 6 * MIB, MAP_SHARED, 7, OKOSU_CHUNK + OKOSU_PAGE);
    CHECK(okosu_counters.advised == 4 * MIB);
    okosu_maps_forget(p, 8 * MIB);
    okosu_maps_shared(p, 6 * MIB, MAP_SHARED, 7, OKOSU_PAGE);
    CHECK(okosu_counters.advised == 0 && okosu_reason_count(OKOSU_WHY_MAP_UNALIGNED) == 1);
    okosu_maps_shared(p, 6 * MIB, MAP_SHARED, 8, 0);
    okosu_config.filtered = true;
    okosu_maps_shared(p, 6 * MIB, MAP_SHARED, 7, 0);
    CHECK(okosu_counters.advised == 0);
}

static void segments_are_charged_while_they_are_attached(void)
{
    char *p = (char *)okosu_maps_map(NULL, 8 * MIB, RW, ANON), *q;

    okosu_maps_forget(p, 8 * MIB);
    okosu_maps_shared(p, 4 * MIB, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    q = p + 4 * MIB;
    okosu_maps_shared(q, 4 * MIB, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(okosu_counters.advised == 8 * MIB);
    okosu_maps_detach(p + 2 * MIB);
    CHECK(okosu_counters.advised == 8 * MIB);
    okosu_maps_detach(q);
    CHECK(okosu_counters.advised == 4 * MIB);
    okosu_maps_detach(q);
    CHECK(okosu_counters.advised == 4 * MIB);
    okosu_maps_detach(p);
    CHECK(okosu_counters.advised == 0);
}

static void segments_wanted(void)
{
    CHECK(!okosu_maps_wants_segment(0));
    okosu_config.tier = OKOSU_TIER_SHARED;
    CHECK(okosu_maps_wants_segment(0) && okosu_maps_wants_segment(SHM_RND | SHM_REMAP));
    CHECK(!okosu_maps_wants_segment(SHM_RDONLY) && !okosu_maps_wants_segment(SHM_EXEC));
    okosu_config.filtered = true;
    CHECK(!okosu_maps_wants_segment(0));
}

static void shared_memory_wanted(void)
{
    int shared = MAP_SHARED | MAP_ANONYMOUS;

    CHECK(!okosu_maps_wants_shared(2 * MIB, RW, shared));
    okosu_config.tier = OKOSU_TIER_SHARED;
    CHECK(okosu_maps_wants_shared(2 * MIB, RW, shared));
    CHECK(okosu_maps_wants_shared(2 * MIB, RW, MAP_SHARED));
    CHECK(okosu_maps_wants_shared(2 * MIB, RW, MAP_SHARED_VALIDATE | MAP_FIXED | MAP_NORESERVE));
    CHECK(!okosu_maps_wants_shared(2 * MIB - 1, RW, shared));
    CHECK(!okosu_maps_wants_shared(2 * MIB, PROT_READ, shared));
    CHECK(!okosu_maps_wants_shared(2 * MIB, RW, ANON));
    CHECK(!okosu_maps_wants_shared(2 * MIB, RW, shared | MAP_POPULATE));
    CHECK(!okosu_maps_wants_shared(2 * MIB, RW, shared | MAP_HUGETLB));
    CHECK(!okosu_maps_wants_shared(2 * MIB, RW, shared | MAP_LOCKED));
}

static void maps_keep_what_cannot_be_aligned(void)
{
    char *p;

    fake.misalign = true;
    fake.map_fail_at = 2;
    p = (char *)okosu_maps_map(NULL, 9 * MIB, RW, ANON);
    CHECK((uintptr_t)p % OKOSU_CHUNK == OKOSU_PAGE);
    CHECK(okosu_reason_count(OKOSU_WHY_MAP_UNALIGNED) == 1);
    CHECK(okosu_counters.advised == 6 * MIB);
    fake.map_fail_at = fake.map_calls + 1;
    CHECK(okosu_maps_map(NULL, 9 * MIB, RW, ANON) == -ENOMEM);
}

static void maps_table_fills_up(void)
{
    intptr_t at[1030];
    int i;

    for (i = 0; i < 1030; i++)
        at[i] = okosu_maps_map(NULL, 2 * MIB, RW, ANON);
    CHECK(okosu_counters.advised == 1024 * OKOSU_CHUNK);
    CHECK(okosu_reason_count(OKOSU_WHY_MAP_TABLE) == 6);
    for (i = 0; i < 1030; i++)
        okosu_maps_forget((void *)at[i], 2 * MIB);
    CHECK(okosu_counters.advised == 0);
}

static void maps_wanted(void)
{
    CHECK(okosu_maps_wants(2 * MIB, RW, ANON, 0));
    CHECK(okosu_maps_wants(2 * MIB, RW, ANON | MAP_POPULATE, 0));
    CHECK(okosu_maps_wants(2 * MIB, RW, ANON | MAP_NORESERVE, 0));
    CHECK(okosu_maps_wants(2 * MIB, RW, ANON | MAP_FIXED, 0));
    CHECK(okosu_maps_wants(2 * MIB, RW, ANON | MAP_FIXED_NOREPLACE, 0));
    CHECK(!okosu_maps_wants(2 * MIB - 1, RW, ANON, 0));
    CHECK(!okosu_maps_wants(2 * MIB, PROT_READ, ANON, 0));
    CHECK(!okosu_maps_wants(2 * MIB, PROT_NONE, ANON | MAP_NORESERVE, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW | PROT_EXEC, ANON, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, MAP_PRIVATE, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, MAP_SHARED | MAP_ANONYMOUS, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, ANON | MAP_STACK, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, ANON | MAP_GROWSDOWN, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, ANON | MAP_HUGETLB, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, ANON | MAP_LOCKED, 0));
    CHECK(!okosu_maps_wants(2 * MIB, RW, ANON, 1));
    CHECK(!okosu_maps_wants(SIZE_MAX, RW, ANON, 0));
}

const struct test_case cases_large[] = {
    CASE(shaken),
    CASE(shaken_retaining),
    CASE(shaken_with_failing_maps),
    CASE(shaken_retaining_with_failing_maps),
    CASE(shaken_without_mremap),
    CASE(shaken_with_split_mappings),
    CASE(shaken_with_moves_that_fail_halfway),
    CASE(shaken_with_hugetlb),
    CASE(shaken_on_small_pages),
    CASE(first_map_fails),
    CASE(no_address_space),
    CASE(region_is_a_quarter_and_cut),
    CASE(retained_is_not_zero_and_bounded),
    CASE(kept_and_live_stay_below_the_peak),
    CASE(budget_bounds_blocks),
    CASE(keeps_what_glibc_would),
    CASE(no_advice),
    CASE(no_populate),
    CASE(tail_below_density_stays_small),
    CASE(hugetlb_falls_back),
    CASE(bad_pointers_are_ignored),
    CASE(offsets_rotate),
    CASE(maps_are_aligned_exact_and_counted),
    CASE(maps_cut_at_their_ends_are_charged_less),
    CASE(maps_at_a_place_are_advised_where_they_lie),
    CASE(a_reservation_is_not_advised),
    CASE(shared_memory_is_charged_while_it_is_mapped),
    CASE(segments_are_charged_while_they_are_attached),
    CASE(segments_wanted),
    CASE(shared_memory_wanted),
    CASE(maps_keep_what_cannot_be_aligned),
    CASE(maps_table_fills_up),
    CASE(maps_wanted),
    {NULL, NULL},
};
