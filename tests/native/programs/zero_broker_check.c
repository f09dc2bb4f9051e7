/* SPDX-License-Identifier: Apache-2.0 */
/* zero-broker-check: pools whose units are okosu-zerod's: at their edges, over fork and exec, by
 * threads that scan all that they take, and held while the daemon is killed.
 *
 * zero-broker-check edges|fork|hold|open SOCKET
 * zero-broker-check stress SOCKET TAKES THREADS SEED
 *
 * prints "ok: WHAT" lines; exit status 1 names what is wrong. */
#include "pool_check.h"

#include <okosu/zero_pool.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct okosu_zero_pool *open_pool(const char *socket, size_t units, size_t ready)
{
    struct okosu_zero_pool_options options = {
        .cap = units * UNIT, .low = ready * UNIT, .high = ready * UNIT, .broker = socket};
    struct okosu_zero_pool *pool = NULL;
    int rc = okosu_zero_pool_open(&pool, &options);

    if (rc) {
        printf("not opened: %s\n", strerror(-rc));
        exit(2);
    }
    return pool;
}

static void wait_clean(struct okosu_zero_pool *pool, size_t bytes)
{
    while (stats_of(pool).clean < bytes)
        usleep(1000);
}

/* The worker may have the lock at this moment. */
static unsigned char *take(struct okosu_zero_pool *pool, size_t bytes)
{
    unsigned char *block;

    while (!(block = okosu_zero_pool_take(pool, bytes)))
        usleep(100);
    return block;
}

static void check_edges(const char *socket)
{
    struct okosu_zero_pool *pool = open_pool(socket, 4, 4);
    const size_t sizes[] = {1, UNIT - 1, UNIT, UNIT + 1, 4 * UNIT};
    unsigned char *a, *b;

    CHECK(!okosu_zero_pool_take(pool, 0));
    CHECK(!okosu_zero_pool_take(pool, 4 * UNIT + 1));
    CHECK(!okosu_zero_pool_take(pool, SIZE_MAX));
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t whole = (sizes[i] + UNIT - 1) / UNIT * UNIT;

        wait_clean(pool, 4 * UNIT);
        a = take(pool, sizes[i]);
        CHECK((uintptr_t)a % UNIT == 0 && okosu_zero_pool_size(pool, a) == whole);
        CHECK(all_zero(a, whole));
        memset(a, 0xa5, sizes[i]);
        CHECK(okosu_zero_pool_give(pool, a, sizes[i]) == 0);
        CHECK(okosu_zero_pool_give(pool, a, sizes[i]) == -EINVAL);
    }
    wait_clean(pool, 4 * UNIT);
    CHECK(stats_of(pool).brokered == 4 * UNIT);
    a = take(pool, 2 * UNIT);
    b = take(pool, 2 * UNIT);
    for (int i = 0; i < 1000; i++)
        CHECK(!okosu_zero_pool_take(pool, 1));
    memset(b, 7, 2 * UNIT);
    /* What was mapped over a block is not known: its units are had anew. */
    CHECK(okosu_zero_pool_renew(pool, b) == 0);
    wait_clean(pool, 2 * UNIT);
    b = take(pool, 2 * UNIT);
    CHECK(all_zero(b, 2 * UNIT) && all_zero(a, 2 * UNIT));
    okosu_zero_pool_close(pool);
    puts("ok: edges");
}

/* A child of fork: no block of the daemon's, no pool, and a parent whose blocks stay. */
static void check_fork(const char *socket, char **argv)
{
    struct okosu_zero_pool *pool = open_pool(socket, 4, 4);
    unsigned char *a;
    int status;
    pid_t child;

    wait_clean(pool, 4 * UNIT);
    CHECK(stats_of(pool).brokered == 4 * UNIT);
    a = take(pool, UNIT);
    a[5] = 7;
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        bool right = !okosu_zero_pool_take(pool, 1) && okosu_zero_pool_work(pool, SIZE_MAX) == 0;

        right = right && okosu_zero_pool_give(pool, a, SIZE_MAX) == 0;
        right = right && okosu_zero_pool_renew(pool, a) == 0 && a[5] == 0;
        okosu_zero_pool_close(pool);
        _exit(right ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status));
    child = fork();
    CHECK(child >= 0);
    if (!child) {
        /* Not the sanitizers' report, but the end. */
        signal(SIGSEGV, SIG_DFL);
        *(volatile unsigned char *)a = 1;
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
          WTERMSIG(status) == SIGSEGV);
    CHECK(a[5] == 7 && all_zero(a + 8, UNIT - 8));
    CHECK(okosu_zero_pool_give(pool, a, SIZE_MAX) == 0);
    puts("ok: fork");
    wait_clean(pool, 4 * UNIT);
    a = take(pool, 4 * UNIT);
    memset(a, 9, 4 * UNIT);
    fflush(stdout);
    /* With all blocks held: the next program finds clean ones. */
    execl(argv[0], argv[0], "edges", socket, (char *)NULL);
    exit(1);
}

static void stress(const char *socket, uint64_t takes, size_t threads, uint64_t seed)
{
    struct okosu_zero_pool *pool = open_pool(socket, 16, 8);
    size_t most;

    pool_use_all(pool, true, takes, threads, seed, &most);
    okosu_zero_pool_close(pool);
    printf("ok: %llu blocks of %zu threads, each scanned clean, %zu units of the daemon's\n",
           (unsigned long long)(takes / threads * threads), threads, most / UNIT);
}

/* Until its input ends: blocks with a pattern that must stay, whatever becomes of the daemon, and
 * others that go and come. */
static void hold(const char *socket)
{
    struct okosu_zero_pool *pool = open_pool(socket, 8, 8);
    unsigned char *kept, *other;
    uint64_t seed = (uint64_t)getpid(), turns = 0;

    wait_clean(pool, 2 * UNIT);
    kept = take(pool, UNIT);
    memset(kept, 0x5a, UNIT);
    puts("holding");
    fflush(stdout);
    for (;;) {
        struct timeval none = {0};
        fd_set in;

        FD_ZERO(&in);
        FD_SET(0, &in);
        if (select(1, &in, NULL, NULL, &none) > 0)
            break;
        other = okosu_zero_pool_take(pool, 2 * UNIT);
        if (!other) {
            usleep(500);
            continue;
        }
        CHECK(all_zero(other, 2 * UNIT));
        soil(other, 2 * UNIT, &seed);
        CHECK(okosu_zero_pool_give(pool, other, 2 * UNIT) == 0);
        turns++;
    }
    for (size_t i = 0; i < UNIT; i++)
        CHECK(kept[i] == 0x5a);
    printf("ok: %llu turns, what was held is as it was\n", (unsigned long long)turns);
    okosu_zero_pool_close(pool);
}

int main(int argc, char **argv)
{
    CHECK(argc >= 3);
    if (!strcmp(argv[1], "edges"))
        check_edges(argv[2]);
    else if (!strcmp(argv[1], "fork"))
        check_fork(argv[2], argv);
    else if (!strcmp(argv[1], "hold"))
        hold(argv[2]);
    else if (!strcmp(argv[1], "open"))
        okosu_zero_pool_close(open_pool(argv[2], 1, 1));
    else if (argc == 6 && !strcmp(argv[1], "stress"))
        stress(argv[2], strtoull(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
               strtoull(argv[5], NULL, 10));
    else
        CHECK(!"a mode");
    return 0;
}
