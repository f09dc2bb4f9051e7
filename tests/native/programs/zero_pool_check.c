/* SPDX-License-Identifier: Apache-2.0 */
/* zero-pool-check: the pool of clean blocks against a slow model, at its edges, with engines that
 * fail, over fork, and under threads that scan all that they take.
 *
 * zero-pool-check [TAKES THREADS SEED | hugetlb | race] prints "ok: WHAT" lines; exit status 1 names
 * what is wrong. */
#include "zero_pool_check.h"
#include "pool_check.h"

#include "pool/backing.h"
#include "pool/pool.h"

#include <okosu/zero_pool.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct okosu_zero_pool *open_pool(size_t units, size_t ready, bool no_worker)
{
    struct okosu_zero_pool_options options = {
        .cap = units * UNIT, .low = ready * UNIT, .high = ready * UNIT, .no_worker = no_worker};
    struct okosu_zero_pool *pool;

    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    return pool;
}

static void check_edges(void)
{
    struct okosu_zero_pool *pool = open_pool(4, 4, true);
    unsigned char *a, *b;

    CHECK(stats_of(pool).absent == 4 * UNIT);
    CHECK(!okosu_zero_pool_take(pool, 1));
    CHECK(okosu_zero_pool_work(pool, 100 * UNIT) == 4 * UNIT);
    CHECK(stats_of(pool).clean == 4 * UNIT && stats_of(pool).populated == 4 * UNIT);
    CHECK(!okosu_zero_pool_take(pool, 0));
    CHECK(!okosu_zero_pool_take(pool, 4 * UNIT + 1));
    CHECK(!okosu_zero_pool_take(pool, SIZE_MAX));
    a = okosu_zero_pool_take(pool, UNIT - 1);
    b = okosu_zero_pool_take(pool, UNIT + 1);
    CHECK(a && b && (uintptr_t)a % UNIT == 0 && b == a + UNIT);
    CHECK(okosu_zero_pool_size(pool, a) == UNIT && okosu_zero_pool_size(pool, b) == 2 * UNIT);
    CHECK(okosu_zero_pool_size(pool, a + 4096) == 0 && okosu_zero_pool_size(pool, b + UNIT) == 0);
    CHECK(okosu_zero_pool_owns(pool, a) && okosu_zero_pool_owns(pool, a + 4 * UNIT - 1));
    CHECK(!okosu_zero_pool_owns(pool, a + 4 * UNIT) && !okosu_zero_pool_owns(pool, a - 1));
    CHECK(okosu_zero_pool_give(pool, a + 1, 0) == -EINVAL);
    CHECK(okosu_zero_pool_give(pool, b + UNIT, 0) == -EINVAL);
    CHECK(okosu_zero_pool_give(pool, a - UNIT, 0) == -EINVAL);
    memset(a, 1, UNIT);
    memset(b, 2, UNIT + 1);
    CHECK(okosu_zero_pool_give(pool, b, UNIT + 1) == 0);
    CHECK(okosu_zero_pool_give(pool, b, UNIT + 1) == -EINVAL);
    CHECK(stats_of(pool).dirty == 2 * UNIT);
    CHECK(!okosu_zero_pool_take(pool, 2 * UNIT));
    CHECK(okosu_zero_pool_work(pool, 1) == UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == UNIT);
    /* The whole first unit, and one page of the second. */
    CHECK(stats_of(pool).cleared == UNIT + 4096);
    b = okosu_zero_pool_take(pool, 3 * UNIT);
    CHECK(b == a + UNIT && all_zero(b, 3 * UNIT));
    CHECK(okosu_zero_pool_give(pool, b, 0) == 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    CHECK(stats_of(pool).clean == 3 * UNIT && stats_of(pool).failures == 0);
    okosu_zero_pool_close(pool);
    okosu_zero_pool_close(NULL);
    puts("ok: sizes at the edges, lengths, foreign addresses");
}

static void check_options(void)
{
    const struct {
        struct okosu_zero_pool_options options;
        int rc;
    } cases[] = {
        {{.cap = UNIT - 1}, -EINVAL},
        {{.cap = UNIT, .unit = 3 * MIB}, -EINVAL},
        {{.cap = UNIT, .unit = MIB}, -EINVAL},
        {{.cap = UNIT, .low = 1}, -EINVAL},
        {{.cap = UNIT, .high = UNIT + 1}, -EINVAL},
        {{.cap = 4 * UNIT, .high = 2 * UNIT, .keep = UNIT}, -EINVAL},
        {{.cap = UNIT, .engine = "gpu"}, -ENOENT},
        {{.cap = UNIT, .node = -1}, -EINVAL},
        {{.cap = UNIT, .node = 1025}, -ENODEV},
        {{.cap = UNIT, .backing = OKOSU_POOL_HUGETLB + 1}, -EINVAL},
        {{.cap = (size_t)1 << 47}, -ENOMEM},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct okosu_zero_pool *pool = NULL;
        int rc = okosu_zero_pool_open(&pool, &cases[i].options);

        if (rc != cases[i].rc) {
            printf("WRONG: options %zu: %d instead of %d\n", i, rc, cases[i].rc);
            exit(1);
        }
        CHECK(!pool);
    }
    puts("ok: options that cannot be are refused");
}

static int failing(void *at, size_t bytes)
{
    memset(at, 0, bytes / 2);
    return -EIO;
}

/* A clearing that fails half-way: nobody ever gets the unit as it was left. */
static void check_failing_engine(void)
{
    static const struct okosu_zero_engine broken = {.name = "broken", .clear = failing};
    struct okosu_zero_pool *pool = open_pool(2, 2, true);
    const struct okosu_zero_engine *right = pool->engine;
    unsigned char *a;

    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    a = okosu_zero_pool_take(pool, 2 * UNIT);
    memset(a, 3, 2 * UNIT);
    pool->engine = &broken;
    CHECK(okosu_zero_pool_give(pool, a, SIZE_MAX) == 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    CHECK(stats_of(pool).failures == 2 && stats_of(pool).cleared == 0);
    pool->engine = right;
    a = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(a && all_zero(a, 2 * UNIT));
    okosu_zero_pool_close(pool);
    puts("ok: a unit that an engine failed on comes from the kernel anew");
}

static struct okosu_zero_pool *being_cleared;
static bool was_taken;

static int taking(void *at, size_t bytes)
{
    was_taken |= okosu_zero_pool_take(being_cleared, UNIT) != NULL;
    memset(at, 0, bytes);
    return 0;
}

/* A take comes in the midst of the clearing: the lock is free then, and nobody may get the unit. */
static void check_while_cleared(void)
{
    static const struct okosu_zero_engine engine = {.name = "taking", .clear = taking};
    struct okosu_zero_pool *pool = open_pool(1, 1, true);
    unsigned char *a;

    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == UNIT);
    a = okosu_zero_pool_take(pool, UNIT);
    CHECK(a);
    pool->engine = &engine;
    being_cleared = pool;
    CHECK(okosu_zero_pool_give(pool, a, SIZE_MAX) == 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == UNIT);
    CHECK(!was_taken && okosu_zero_pool_take(pool, UNIT) == (void *)a);
    okosu_zero_pool_close(pool);
    puts("ok: nobody takes a unit while it is cleared");
}

static void check_engines(void)
{
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++) {
        struct okosu_zero_pool_options options = {.cap = 2 * UNIT,
                                                  .low = 2 * UNIT,
                                                  .high = 2 * UNIT,
                                                  .engine = (*e)->name,
                                                  .no_worker = true};
        struct okosu_zero_pool *pool;
        unsigned char *a;

        CHECK(okosu_zero_pool_open(&pool, &options) == 0);
        okosu_zero_pool_work(pool, SIZE_MAX);
        for (size_t dirty = 1; dirty <= 2 * UNIT; dirty = dirty * 5 + 3) {
            a = okosu_zero_pool_take(pool, 2 * UNIT);
            CHECK(a && all_zero(a, 2 * UNIT));
            memset(a, 0xff, dirty);
            CHECK(okosu_zero_pool_give(pool, a, dirty) == 0);
            CHECK(okosu_zero_pool_work(pool, SIZE_MAX) >= UNIT);
        }
        CHECK(!strcmp(stats_of(pool).engine, (*e)->name));
        okosu_zero_pool_close(pool);
        printf("ok: engine %s\n", (*e)->name);
    }
}

static void check_watermarks(void)
{
    struct okosu_zero_pool_options options = {
        .cap = 8 * UNIT, .low = 2 * UNIT, .high = 4 * UNIT, .keep = 5 * UNIT, .no_worker = true};
    struct okosu_zero_pool *pool;
    unsigned char *a, *b;

    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 4 * UNIT);
    a = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    b = okosu_zero_pool_take(pool, UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 3 * UNIT);
    CHECK(stats_of(pool).clean == 4 * UNIT);
    CHECK(okosu_zero_pool_give(pool, a, 0) == 0 && okosu_zero_pool_give(pool, b, 0) == 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    CHECK(stats_of(pool).clean == 5 * UNIT && stats_of(pool).dropped == 2 * UNIT);
    okosu_zero_pool_close(pool);
    puts("ok: watermarks");
}

/* A child has copies of what was held, and no pool. */
static void check_fork(void)
{
    struct okosu_zero_pool *pool = open_pool(4, 4, false);
    unsigned char *a;
    int status;
    pid_t child;

    while (!(a = okosu_zero_pool_take(pool, UNIT)))
        usleep(1000);
    a[5] = 7;
    /* Or a child that could take from it would find nothing there either. */
    while (!stats_of(pool).clean)
        usleep(1000);
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        bool right = a[5] == 7 && !okosu_zero_pool_take(pool, 1);

        a[5] = 8;
        right = right && okosu_zero_pool_size(pool, a) == UNIT;
        right = right && okosu_zero_pool_work(pool, SIZE_MAX) == 0;
        right = right && okosu_zero_pool_give(pool, a, SIZE_MAX) == 0 && a[5] == 0;
        okosu_zero_pool_close(pool);
        _exit(right ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK(a[5] == 7);
    CHECK(okosu_zero_pool_give(pool, a, SIZE_MAX) == 0);
    okosu_zero_pool_close(pool);
    puts("ok: fork");
}

/* What was mapped over a block is not the pool's to write to, and nobody gets it. */
static void check_renew(void)
{
    struct okosu_zero_pool *pool = open_pool(2, 2, true);
    unsigned char *a, *file;
    int fd = memfd_create("foreign", MFD_CLOEXEC);

    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    a = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(fd >= 0 && !ftruncate(fd, 4096));
    file = mmap(a + UNIT, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    CHECK(file == a + UNIT);
    memset(file, 9, 4096);
    CHECK(mprotect(a, 8192, PROT_READ) == 0);
    CHECK(okosu_zero_pool_renew(pool, a) == 0 && okosu_zero_pool_renew(pool, a) == -EINVAL);
    CHECK(stats_of(pool).absent == 2 * UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    CHECK(okosu_zero_pool_take(pool, 2 * UNIT) == (void *)a && all_zero(a, 2 * UNIT));
    memset(a, 1, 2 * UNIT);
    file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(file != MAP_FAILED && file[0] == 9 && file[4095] == 9);
    munmap(file, 4096);
    close(fd);
    okosu_zero_pool_close(pool);
    puts("ok: renew");
}

/* What is not cleared yet, for who doesn't need zeros: it says what may be left in it. */
static void check_take_any(void)
{
    struct okosu_zero_pool *pool = open_pool(4, 4, true);
    unsigned char *a, *b;
    struct okosu_zero_found found = {.dirty = 1, .there = 1};

    CHECK(!okosu_zero_pool_take_any(pool, 1, &found) && !found.dirty && !found.there);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 4 * UNIT);
    a = okosu_zero_pool_take_any(pool, UNIT, &found);
    CHECK(a && !found.dirty && found.there == UNIT);
    b = okosu_zero_pool_take(pool, UNIT);
    memset(b, 4, UNIT);
    CHECK(okosu_zero_pool_give(pool, b, UNIT) == 0);
    CHECK(!okosu_zero_pool_take(pool, 3 * UNIT));
    CHECK(okosu_zero_pool_take_any(pool, 3 * UNIT, &found) == (void *)b && found.dirty == UNIT);
    CHECK(b[0] == 4 && all_zero(b + found.dirty, 2 * UNIT) && found.there == 3 * UNIT);
    CHECK(okosu_zero_pool_give(pool, b, 4097) == 0 && okosu_zero_pool_give(pool, a, 0) == 0);
    CHECK(okosu_zero_pool_take_any(pool, UNIT, &found) == (void *)b && found.dirty == 8192);
    CHECK(okosu_zero_pool_give(pool, b, 8192) == 0);
    CHECK(okosu_zero_pool_take_any(pool, 4 * UNIT, &found) == (void *)a);
    CHECK(found.dirty == UNIT + 8192);
    CHECK(!okosu_zero_pool_take_any(pool, SIZE_MAX, &found));
    okosu_zero_pool_close(pool);
    puts("ok: take any");
}

/* Dirty before clean before what is not there; and only as much is cleared as is to be clean. */
static void check_reuse(void)
{
    struct okosu_zero_pool_options options = {
        .cap = 8 * UNIT, .reuse = true, .fresh = true, .no_worker = true};
    struct okosu_zero_found found;
    struct okosu_zero_pool *pool;
    unsigned char *a, *b;
    size_t dirty;

    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    a = okosu_zero_pool_take_any(pool, 3 * UNIT, &found);
    CHECK(a && !found.dirty && !found.there && all_zero(a, 3 * UNIT));
    memset(a, 6, 2 * UNIT);
    CHECK(okosu_zero_pool_give(pool, a, UNIT + 1) == 0);
    /* Nobody knows whether what was not written to is there. */
    CHECK(stats_of(pool).dirty == 2 * UNIT && stats_of(pool).absent == 6 * UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    CHECK(okosu_zero_pool_take_any(pool, 3 * UNIT, &found) == (void *)a);
    CHECK(found.dirty == UNIT + 4096 && found.there == 2 * UNIT);
    CHECK(okosu_zero_pool_give(pool, a, 3 * UNIT) == 0);
    okosu_zero_pool_want(pool, 4 * UNIT, UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    CHECK(stats_of(pool).clean == 2 * UNIT && stats_of(pool).dirty == 2 * UNIT);
    CHECK(stats_of(pool).cleared == UNIT && stats_of(pool).populated == UNIT);
    b = okosu_zero_pool_take_any(pool, UNIT, &found);
    CHECK(b == a + UNIT && found.dirty == UNIT && b[0] == 6);
    b = okosu_zero_pool_take(pool, UNIT);
    CHECK(b == a && all_zero(b, UNIT));
    CHECK(okosu_zero_pool_extend(pool, b, UNIT + 1, &dirty) == -EAGAIN);
    CHECK(okosu_zero_pool_renew(pool, b) == 0);
    CHECK(stats_of(pool).absent == 5 * UNIT);
    /* Behind it: what is dirty, what is clean, what is not there, and the end. */
    CHECK(okosu_zero_pool_extend(pool, b, 1, &dirty) == -EINVAL);
    b = a + UNIT;
    CHECK(okosu_zero_pool_extend(pool, b, UNIT, &dirty) == 0 && dirty == 0);
    CHECK(okosu_zero_pool_extend(pool, b, 7 * UNIT, &dirty) == 0 && dirty == 2 * UNIT);
    CHECK(okosu_zero_pool_size(pool, b) == 7 * UNIT && all_zero(b + 2 * UNIT, 5 * UNIT));
    CHECK(okosu_zero_pool_extend(pool, b, 7 * UNIT + 1, &dirty) == -EAGAIN);
    okosu_zero_pool_close(pool);
    options.clean = UNIT;
    CHECK(okosu_zero_pool_open(&pool, &options) == -EINVAL);
    puts("ok: reuse");
}

/* One CPU, and somebody else's work on it: the worker must see that and stay away. */
static void check_stand_back(void)
{
    struct okosu_zero_pool_options options = {
        .cap = 64 * UNIT, .low = 64 * UNIT, .high = 64 * UNIT, .stand_back = true};
    struct okosu_zero_pool *pool;
    cpu_set_t all, one;

    CHECK(sched_getaffinity(0, sizeof(all), &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    CHECK(sched_setaffinity(0, sizeof(one), &one) == 0);
    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    while (!pool->waits)
        okosu_zero_pool_give(pool, okosu_zero_pool_take(pool, 1), 0);
    CHECK(stats_of(pool).waits > 0);
    /* A thread that waits for a CPU would keep the process from ending. */
    while (pool->has_worker)
        usleep(1000);
    CHECK(!pool->has_worker);
    CHECK(sched_setaffinity(0, sizeof(all), &all) == 0);
    okosu_zero_pool_close(pool);
    puts("ok: the worker stands back");
}

static void check_want(void)
{
    struct okosu_zero_pool *pool = open_pool(8, 0, true);

    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    okosu_zero_pool_want(pool, UNIT + 1, 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 2 * UNIT);
    okosu_zero_pool_want(pool, SIZE_MAX, 0);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 6 * UNIT && stats_of(pool).clean == 8 * UNIT);
    okosu_zero_pool_close(pool);
    puts("ok: want");
}

static void check_rate(void)
{
    /* Eight units at 64 MiB/s take a quarter of a second; a loaded machine takes longer. */
    struct okosu_zero_pool_options options = {
        .cap = 8 * UNIT, .low = 8 * UNIT, .high = 8 * UNIT, .rate = 64 * MIB};
    struct okosu_zero_pool *pool;
    uint64_t began = okosu_now();

    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    while (stats_of(pool).clean < 8 * UNIT)
        usleep(1000);
    CHECK(okosu_now() - began > UINT64_C(200000000));
    okosu_zero_pool_close(pool);
    puts("ok: rate");
}

static pthread_barrier_t both;
static bool racing;

void zero_pool_check_meet(void)
{
    static _Thread_local bool met;

    if (racing && !met) {
        met = true;
        pthread_barrier_wait(&both);
    }
}

static void *take_the_one(void *pool)
{
    return okosu_zero_pool_take(pool, UNIT);
}

/* Two threads have both seen the only unit clean before either takes it: one gets it. */
static void check_race(void)
{
    struct okosu_zero_pool *pool = open_pool(1, 1, true);
    pthread_t threads[2];
    void *taken[2];

    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == UNIT);
    CHECK(!pthread_barrier_init(&both, NULL, 2));
    racing = true;
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&threads[i], NULL, take_the_one, pool));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], &taken[i]);
    CHECK(!taken[0] != !taken[1]);
    puts("ok: race");
}

static void check_threads(uint64_t takes, size_t threads, uint64_t seed)
{
    struct okosu_zero_pool *pool = open_pool(16, 8, false);
    size_t brokered;
    uint64_t misses = pool_use_all(pool, false, takes, threads, seed, &brokered);
    struct okosu_zero_pool_stats s = stats_of(pool);

    CHECK(s.gives == takes / threads * threads && s.takes == s.gives + misses);
    okosu_zero_pool_close(pool);
    printf("ok: %llu blocks of %zu threads, each scanned clean\n", (unsigned long long)s.gives,
           threads);
}

int main(int argc, char **argv)
{
    uint64_t takes = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000;
    size_t threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 4;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;

    if (argc > 1 && !strcmp(argv[1], "hugetlb")) {
        zero_pool_check_hugetlb();
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "race")) {
        check_race();
        return 0;
    }
    zero_pool_check_units(seed);
    zero_pool_check_contention(takes * 1000);
    check_options();
    check_edges();
    check_watermarks();
    check_engines();
    check_failing_engine();
    check_while_cleared();
    check_fork();
    check_renew();
    check_take_any();
    check_reuse();
    check_want();
    zero_pool_check_node();
    check_stand_back();
    check_rate();
    check_threads(takes, threads, seed);
    return 0;
}
