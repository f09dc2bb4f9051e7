/* SPDX-License-Identifier: Apache-2.0 */
/* corunner: how fast a program runs while another one on the same core takes huge pages at a given
 * rate: pages that the kernel clears at the fault, or clean ones of the pool, whose worker clears
 * on another CPU. The work is that of the paper zero-offload: jhash, 100 times, AES, once and ten
 * times; and the rate is one at which its clearing takes the 3 % of a core that its table shows. */
#include "harness.h"

#include "corunner_work.h"

#include "base/message.h"

#include <okosu/clock.h>
#include <okosu/zero_pool.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PAGE ((size_t)2 << 20)
#define PERIOD_NS 3333333
#define WINDOW_NS UINT64_C(150000000)
#define HASHED ((size_t)32 << 10)
#define CIPHERED ((size_t)16 << 10)

enum { PAGES = 64, WORKS = 3, ARMS = 8 };

static const struct bench_routine routines[] = {
    {"jhash-100", 0, 0, "call", "jhash of 32 KiB, 100 times"},
    {"aes-1", 0, 0, "call", "AES-128 of 16 KiB"},
    {"aes-10", 0, 0, "call", "AES-128 of 16 KiB, 10 times"},
    {NULL, 0, 0, NULL, NULL},
};

enum how { ALONE, FAULT, POOL };

/* One way to get pages, and what was measured of it. */
struct arm {
    const char *name, *kind, *doc;
    enum how how;
    const struct okosu_zero_engine *engine;
    double *samples[WORKS]; /* mean cycles of a call, one a round */
    double sum[WORKS], squares[WORKS];
    size_t calls[WORKS], rounds;
    uint64_t pages, misses, ns;
};

/* The state of the thread that takes pages. */
struct taker {
    struct arm *arm;
    struct okosu_zero_pool *pool;
    char *region;
    size_t used;
    atomic_bool stop;
    uint64_t pages, misses;
};

static uint8_t text[HASHED];
static struct corunner_aes aes;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* The kernel clears the page at this write; pages are handed back many at a time. */
static void take_fault(struct taker *taker)
{
    if (taker->used == PAGES) {
        madvise(taker->region, PAGES * PAGE, MADV_DONTNEED);
        taker->used = 0;
    }
    *(volatile char *)(taker->region + taker->used++ * PAGE) = 1;
}

static void take_page(struct taker *taker)
{
    char *page = taker->pool ? okosu_zero_pool_take(taker->pool, PAGE) : NULL;

    taker->pages++;
    if (page) {
        *(volatile char *)page = 1;
        /* The program may have written to all of the block. */
        okosu_zero_pool_give(taker->pool, page, PAGE);
        return;
    }
    taker->misses += taker->pool != NULL;
    take_fault(taker);
}

static void *take_pages(void *arg)
{
    struct taker *taker = arg;
    uint64_t next = now_ns();

    while (!atomic_load(&taker->stop)) {
        struct timespec t;

        take_page(taker);
        next += PERIOD_NS;
        t = (struct timespec){(time_t)(next / 1000000000), (long)(next % 1000000000)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
    return NULL;
}

static void work(int which)
{
    static uint8_t out[CIPHERED];
    static uint32_t hash;

    for (int i = 0; which == 0 && i < 100; i++)
        hash = corunner_jhash(text, HASHED, hash);
    for (int i = 0; which && i < (which == 1 ? 1 : 10); i++)
        for (size_t at = 0; at < CIPHERED; at += 16)
            corunner_aes_block(&aes, text + at, out + at);
    bench_keep_memory(out);
    bench_keep((double)hash);
}

/* Calls for the length of a window. */
static void watch(struct bench *bench, struct arm *arm, int which)
{
    uint64_t until = now_ns() + WINDOW_NS;
    double sum = 0;
    size_t calls = 0;

    work(which);
    do {
        uint64_t begun = okosu_clock_start();
        double cycles;

        work(which);
        cycles = (double)(okosu_clock_stop() - begun) * bench_cycles_per_tick(bench);
        sum += cycles;
        arm->squares[which] += cycles * cycles;
        calls++;
    } while (now_ns() < until);
    arm->sum[which] += sum;
    arm->calls[which] += calls;
    arm->samples[which][arm->rounds] = sum / (double)calls;
}

static int open_pool(struct taker *taker)
{
    struct okosu_zero_pool_options options = {.cap = PAGES * PAGE,
                                              .low = PAGES * PAGE / 2,
                                              .high = PAGES * PAGE / 2,
                                              .engine = taker->arm->engine->name,
                                              .backing = OKOSU_POOL_THP};
    int error;

    bench_elsewhere(true);
    error = okosu_zero_pool_open(&taker->pool, &options);
    bench_elsewhere(false);
    for (int i = 0; !error && i < 1000; i++) {
        struct okosu_zero_pool_stats stats;
        const struct timespec a_while = {0, 1000000};

        okosu_zero_pool_stats(taker->pool, &stats);
        if (stats.clean >= options.high)
            break;
        nanosleep(&a_while, NULL);
    }
    return error;
}

static int measure_arm(struct bench *bench, struct arm *arm, char *region)
{
    struct taker taker = {.arm = arm, .region = region, .used = PAGES};
    pthread_t thread;
    uint64_t begun;
    int error = arm->how == POOL ? open_pool(&taker) : 0;

    if (!error && arm->how != ALONE)
        error = -pthread_create(&thread, NULL, take_pages, &taker);
    begun = now_ns();
    for (int which = 0; which < WORKS && !error; which++)
        if (bench_wants_routine(bench, routines[which].name))
            watch(bench, arm, which);
    arm->ns += now_ns() - begun;
    if (!error && arm->how != ALONE) {
        atomic_store(&taker.stop, true);
        pthread_join(thread, NULL);
    }
    arm->pages += taker.pages;
    arm->misses += taker.misses;
    arm->rounds++;
    okosu_zero_pool_close(taker.pool);
    return error;
}

static void print_arm(struct bench *bench, const struct arm *arm)
{
    struct bench_point point = {.n = 1, .items = 1, .place = "memory", .mode = "throughput"};

    for (int which = 0; which < WORKS; which++) {
        double mean = arm->sum[which] / (double)arm->calls[which];
        double spread =
            sqrt(fmax(0, arm->squares[which] / (double)arm->calls[which] - mean * mean));
        char extra[200];
        struct bench_row row = {.routine = routines[which].name,
                                .variant = arm->name,
                                .kind = arm->kind,
                                .library = arm->how == POOL ? NULL : "the kernel",
                                .config = arm->doc,
                                .extra = extra};

        snprintf(extra, sizeof(extra),
                 "\"mean\": %.6g, \"deviation\": %.6g, \"calls\": %zu, \"pages_per_second\": %.1f, "
                 "\"misses\": %llu",
                 mean, spread, arm->calls[which], (double)arm->pages * 1e9 / (double)arm->ns,
                 (unsigned long long)arm->misses);
        if (bench_wants_routine(bench, row.routine))
            bench_values(bench, &point, &row, arm->samples[which], arm->rounds);
    }
}

/* The arms that the options leave, and always at-fault, with which the others are compared. */
static size_t list_arms(struct bench *bench, struct arm *arms)
{
    size_t count = 0;
    bool others = bench_elsewhere(true) && bench_elsewhere(false);

    arms[count++] = (struct arm){.name = "at-fault",
                                 .kind = "peer",
                                 .doc = "2 MiB cleared by the kernel at the fault",
                                 .how = FAULT};
    if (bench_wants_variant(bench, "alone"))
        arms[count++] = (struct arm){
            .name = "alone", .kind = "limit", .doc = "nobody takes pages", .how = ALONE};
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e && count < ARMS; e++) {
        if (!bench_wants_variant(bench, (*e)->name))
            continue;
        if (others && (*e)->possible())
            arms[count++] = (struct arm){
                .name = (*e)->name, .kind = "okosu", .doc = (*e)->doc, .how = POOL, .engine = *e};
        else
            bench_absent(bench, (*e)->name,
                         others ? "this machine lacks what it needs"
                                : "there is no other CPU to clear pages on",
                         others ? "another engine" : "a machine with two CPUs");
    }
    return count;
}

static int sweep(struct bench *bench)
{
    static struct arm arms[ARMS];
    size_t count = list_arms(bench, arms), rounds = bench_rounds(bench);
    double *room = calloc(ARMS * WORKS * rounds, sizeof(*room)), *next = room;
    char *region = bench_buffer(bench, PAGES * PAGE, 0);
    const char *wrong = corunner_check();
    int error = room && region ? 0 : -ENOMEM;

    if (wrong) {
        okosu_message(wrong, "it does not give what its authors published", "report this as a bug");
        error = -EIO;
    }
    corunner_aes_key(&aes, text);
    for (size_t i = 0; i < count && room; i++)
        for (int which = 0; which < WORKS; which++, next += rounds)
            arms[i].samples[which] = next;
    for (size_t round = 0; round < rounds && !error; round++) {
        size_t order[ARMS];

        for (size_t i = 0; i < count; i++)
            order[i] = i;
        for (size_t i = count; i-- > 0 && !error;) {
            size_t k = (size_t)bench_random(bench, i + 1), one = order[k];

            order[k] = order[i];
            error = measure_arm(bench, &arms[one], region);
        }
    }
    for (size_t i = 0; i < count && !error; i++)
        print_arm(bench, &arms[i]);
    if (error)
        okosu_message("co-runner not measured", strerror(-error), NULL);
    free(room);
    return error;
}

static void list(struct bench *bench)
{
    static const struct okosu_variant fault = {"at-fault", 0, "cleared by the kernel at the fault"};
    static const struct okosu_variant alone = {"alone", 0, "nobody takes pages"};

    bench_list_variant(bench, &fault);
    bench_list_variant(bench, &alone);
    for (const struct okosu_zero_engine *const *e = okosu_zero_engines(); *e; e++) {
        struct okosu_variant about = {(*e)->name, 0, (*e)->doc};

        bench_list_variant(bench, &about);
    }
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "corunner",
        .doc = "a program's speed while another one on its core takes huge pages",
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
