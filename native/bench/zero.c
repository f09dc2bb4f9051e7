/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zero: memset in all its variants beside glibc's: from a byte to 64 MiB, hot and cold, aligned and
 * not; sizes drawn from a histogram; and the clearing of pages.
 *
 * hot: the same bytes again and again. cold: each call another place that was dropped from every
 * cache, one call after the other. drained: the same with a fence after each call, which is what a
 * call costs that nothing overlaps with. reload: each call waits for a load of what the last one
 * stored.
 */
#include "zero_bench.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bench_kernel kernels[] = {
    {"set", 1, 0, "byte", "n bytes set"},
    {"mix", 1, 0, "byte", "sizes and places drawn from a histogram, in 16 KiB that are hot"},
    {"page", 1, 0, "byte", "a whole page cleared"},
    {"page-read", 2, 0, "byte", "a whole page cleared and then read"},
    {NULL, 0, 0, NULL, NULL},
};

static const size_t sizes_all[] = {
    1,     8,      16,     32,     48,      64,      96,      128,     192,      256,      384,
    512,   768,    1024,   1536,   2048,    3072,    4096,    6144,    8192,     16384,    32768,
    65536, 131072, 262144, 524288, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20,
};

size_t zero_routines(struct bench *bench, struct zero_routine routines[ZERO_ROUTINES])
{
    static const struct zero_routine entries[] = {
        {.variant = "okosu_set", .set = okosu_set, .use = OKOSU_ZERO_ANY},
        {.variant = "okosu_set_near",
         .set = okosu_set_near,

         .use = OKOSU_ZERO_NEAR},
        {.variant = "okosu_set_far", .set = okosu_set_far, .use = OKOSU_ZERO_FAR},
        {.variant = "okosu_zero", .zero = okosu_zero, .use = OKOSU_ZERO_ANY},
        {.variant = "okosu_zero_near", .zero = okosu_zero_near, .use = OKOSU_ZERO_NEAR},
        {.variant = "okosu_zero_far", .zero = okosu_zero_far, .use = OKOSU_ZERO_FAR},
    };
    static char glibc[32];
    const struct okosu_zero_variant *const *table = okosu_zero_table();
    size_t count = 0;

    for (size_t i = 0; table[i] && count < ZERO_ROUTINES - 7; i++) {
        if (table[i]->about.needs & ~okosu_cpu_features()) {
            bench_absent(bench, table[i]->about.name, "this CPU or kernel lacks what it needs", "");
            continue;
        }
        routines[count++] = (struct zero_routine){.variant = table[i]->about.name,
                                                  .kind = "okosu",
                                                  .set = table[i]->set,
                                                  .use = OKOSU_ZERO_USES};
    }
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        routines[count] = entries[i];
        routines[count++].kind = "okosu";
    }
    snprintf(glibc, sizeof(glibc), "glibc %s", gnu_get_libc_version());
    routines[count++] = (struct zero_routine){.variant = "glibc",
                                              .kind = "peer",
                                              .library = glibc,
                                              .set = memset,
                                              .use = OKOSU_ZERO_USES};
    return count;
}

struct bench_row zero_row(const char *kernel, struct zero_routine *routine, size_t n)
{
    if (routine->use < OKOSU_ZERO_USES)
        snprintf(routine->config, sizeof(routine->config), "%s",
                 okosu_zero_chosen(routine->use, n)->about.name);
    return (struct bench_row){.kernel = kernel,
                              .variant = routine->variant,
                              .kind = routine->kind,
                              .library = routine->library,
                              .config = routine->config[0] ? routine->config : NULL};
}

struct call {
    const struct zero_routine *routine;
    char *p;
    size_t n;
    struct zero_cold *cold;
};

/* Each loop calls by one pointer, so that no row pays for a jump that others have not. */
#define LOOP(call, calls, ADDRESS, AFTER)                                                          \
    do {                                                                                           \
        zero_function *set = (call)->routine->set;                                                 \
        zero_only_function *zero = (call)->routine->zero;                                          \
        size_t n = (call)->n;                                                                      \
        if (set) {                                                                                 \
            for (size_t i = 0; i < (calls); i++) {                                                 \
                set(ADDRESS, 0, n);                                                                \
                AFTER;                                                                             \
            }                                                                                      \
        } else {                                                                                   \
            for (size_t i = 0; i < (calls); i++) {                                                 \
                zero(ADDRESS, n);                                                                  \
                AFTER;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void run_hot(void *arg, size_t calls)
{
    const struct call *call = arg;
    char *p = call->p;

    LOOP(call, calls, p, bench_keep_memory(p));
}

static void run_cold(void *arg, size_t calls)
{
    const struct call *call = arg;

    LOOP(call, calls, zero_cold_next(call->cold), bench_keep_memory(NULL));
}

static void run_drained(void *arg, size_t calls)
{
    const struct call *call = arg;

    LOOP(call, calls, zero_cold_next(call->cold), __atomic_thread_fence(__ATOMIC_SEQ_CST));
}

/* Eight bytes of what was set are added to the address of the next call: they are 0. */
static void run_reload(void *arg, size_t calls)
{
    const struct call *call = arg;
    char *p = call->p;
    uint64_t word = 0;

    LOOP(call, calls, p + word, bench_keep_memory(p); memcpy(&word, p + n - 8, sizeof(word)));
}

static void prepare_cold(void *arg)
{
    const struct call *call = arg;

    zero_cold_prepare(call->cold);
}

struct mode {
    const char *name;
    void (*run)(void *arg, size_t calls);
    bool cold;
    size_t from, to; /* sizes for which it is measured */
};

static const struct mode modes[] = {
    {"hot", run_hot, false, 1, SIZE_MAX},
    {"cold", run_cold, true, 1, SIZE_MAX},
    {"drained", run_drained, true, 1024, 65536},
    {"reload", run_reload, false, 8, 128},
};

static int measure(struct bench *bench, struct zero_routine *routines, size_t count,
                   const struct mode *mode, size_t n, size_t offset)
{
    struct bench_row rows[ZERO_ROUTINES];
    struct call calls[ZERO_ROUTINES];
    struct zero_cold cold;
    struct bench_point point = {.n = n,
                                .footprint = n,
                                .align = {offset, 0},
                                .mode = mode->name,
                                .place = mode->cold ? "memory" : NULL};
    char *p = NULL;
    int error = 0;

    if (mode->cold)
        error = zero_cold_make(bench, &cold, n, offset);
    else if (!(p = bench_buffer(bench, n + 64, offset)))
        error = -ENOMEM;
    if (error)
        return error;
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct call){&routines[i], p, n, &cold};
        rows[i] = zero_row("set", &routines[i], n);
        rows[i].run = mode->run;
        rows[i].arg = &calls[i];
        if (mode->cold) {
            rows[i].prepare = prepare_cold;
            rows[i].calls_limit = cold.areas;
        }
    }
    error = bench_point_run(bench, &point, rows, count);
    if (mode->cold)
        zero_cold_drop(bench, &cold);
    else
        bench_buffer_drop(bench, p);
    return error;
}

static int sweep(struct bench *bench)
{
    /* Lines, and an address that malloc might give inside an object. */
    static const size_t offsets[] = {0, 24};
    struct zero_routine routines[ZERO_ROUTINES];
    size_t count = zero_routines(bench, routines), size_count;
    const size_t *sizes =
        bench_sizes(bench, sizes_all, sizeof(sizes_all) / sizeof(sizes_all[0]), 5, &size_count);
    int error = 0;

    for (size_t s = 0; s < size_count && bench_wants_kernel(bench, "set"); s++)
        for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++)
            for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++) {
                if (sizes[s] < modes[m].from || sizes[s] > modes[m].to)
                    continue;
                error = measure(bench, routines, count, &modes[m], sizes[s], offsets[o]);
                if (error)
                    return error;
            }
    if (bench_wants_kernel(bench, "mix"))
        error = zero_mix_sweep(bench, routines, count);
    if (!error && (bench_wants_kernel(bench, "page") || bench_wants_kernel(bench, "page-read")))
        error = zero_page_sweep(bench, routines, count);
    return error;
}

static void list(struct bench *bench)
{
    for (size_t i = 0; okosu_zero_table()[i]; i++)
        bench_list_variant(bench, &okosu_zero_table()[i]->about);
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "zero",
        .doc = "memset and the clearing of pages: every variant beside glibc's",
        .kernels = kernels,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
