/* SPDX-License-Identifier: Apache-2.0 */
/* zero_pool_check_hugetlb: a pool on pages of the kernel's pool, whose number is lowered meanwhile:
 * no page is lost or seen before it is clean, and nobody is ended by SIGBUS. Printing "lower" it
 * waits for a line that says that it was done. */
#include "pool_check.h"
#include "zero_pool_check.h"

#include <okosu/zero_pool.h>

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNITS = 16, AHEAD = 4 };

static struct okosu_zero_pool *open_pool(const char *engine)
{
    struct okosu_zero_pool_options options = {.cap = UNITS * UNIT,
                                              .low = AHEAD * UNIT,
                                              .high = AHEAD * UNIT,
                                              .engine = engine,
                                              .backing = OKOSU_POOL_HUGETLB,
                                              .no_worker = true};
    struct okosu_zero_pool *pool;

    CHECK(okosu_zero_pool_open(&pool, &options) == 0);
    return pool;
}

static void wait_for_fewer(void)
{
    char line[16];

    puts("lower");
    fflush(stdout);
    CHECK(fgets(line, sizeof(line), stdin));
}

/* A child has copies of blocks only while there are pages for them: it takes none here. */
static void check_child(struct okosu_zero_pool *pool, const unsigned char *held)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (!child)
        _exit(held[5] == 0xa5 && !okosu_zero_pool_take(pool, 1) ? 0 : 1);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
}

void zero_pool_check_hugetlb(void)
{
    struct okosu_zero_pool *pool = open_pool("nt"), *other;
    unsigned char *held, *taken;

    /* Whoever populates more than there is finds the end of it, and no harm is done. */
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == AHEAD * UNIT);
    held = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(held && all_zero(held, 2 * UNIT));
    memset(held, 0xa5, 2 * UNIT);
    wait_for_fewer();
    CHECK(stats_of(pool).hugetlb && stats_of(pool).clean == 2 * UNIT);
    CHECK(okosu_zero_pool_work(pool, SIZE_MAX) == 0);
    CHECK(stats_of(pool).failures > 0 && stats_of(pool).clean == 2 * UNIT);
    taken = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(taken && all_zero(taken, 2 * UNIT));
    CHECK(!okosu_zero_pool_take(pool, 1));
    memset(taken, 0xa5, 2 * UNIT);
    check_child(pool, held);
    CHECK(okosu_zero_pool_give(pool, taken, SIZE_MAX) == 0);
    CHECK(okosu_zero_pool_work(pool, 2 * UNIT) == 2 * UNIT);
    taken = okosu_zero_pool_take(pool, 2 * UNIT);
    CHECK(taken && all_zero(taken, 2 * UNIT));
    for (size_t i = 0; i < 2 * UNIT; i++)
        CHECK(held[i] == 0xa5);
    CHECK(okosu_zero_pool_give(pool, held, SIZE_MAX) == 0);
    okosu_zero_pool_close(pool);
    CHECK(
        okosu_zero_pool_open(&other, &(struct okosu_zero_pool_options){
                                         .cap = UNIT, .backing = OKOSU_POOL_HUGETLB}) == -ENOTSUP);
    puts("ok: huge pages lowered underneath");
}
