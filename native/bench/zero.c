/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zero: memset in all its variants beside glibc's: from a byte to 64 MiB, hot and cold, aligned and
 * not; sizes drawn from a histogram; and the clearing of pages.
 */
#include "memory.h"

#include <okosu/zero.h>

static const struct bench_routine routines[] = {
    {"set", 1, 0, "byte", "n bytes set"},
    {"mix", 1, 0, "byte", "sizes and places drawn from a histogram, in 16 KiB that are hot"},
    {"sites", 1, 0, "byte",
     "as mix, from 32 call sites that each have sizes of their own, or from any"},
    {"page", 1, 0, "byte", "a whole page cleared"},
    {"page-read", 2, 0, "byte", "a whole page cleared and then read"},
    {NULL, 0, 0, NULL, NULL},
};

static const size_t sizes_all[] = {
    1,     8,      16,     32,     48,      64,      96,      128,     192,      256,      384,
    512,   768,    1024,   1536,   2048,    3072,    4096,    6144,    8192,     16384,    32768,
    65536, 131072, 262144, 524288, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20,
};

static const char *chosen(int use, size_t n)
{
    return okosu_zero_chosen((enum okosu_zero_use)use, n)->about.name;
}

/* Every variant, the entries, glibc's memset. */
static void add_variants(struct bench *bench, struct memory_bench *memory)
{
    for (const struct okosu_zero_variant *const *row = okosu_zero_table(); *row; row++)
        if (strcmp((*row)->about.name, MEMORY_LIBC) != 0)
            memory_add(bench, memory, &(*row)->about, (struct memory_variant){.set = (*row)->set});
#define ENTRY(name, member, which)                                                                 \
    memory_add_entry(memory, #name, (struct memory_variant){.member = name, .use = which})
    ENTRY(okosu_set, set, OKOSU_ZERO_ANY);
    ENTRY(okosu_set_near, set, OKOSU_ZERO_NEAR);
    ENTRY(okosu_set_far, set, OKOSU_ZERO_FAR);
    ENTRY(okosu_zero, zero, OKOSU_ZERO_ANY);
    ENTRY(okosu_zero_near, zero, OKOSU_ZERO_NEAR);
    ENTRY(okosu_zero_far, zero, OKOSU_ZERO_FAR);
#undef ENTRY
    memory_add_entry(memory, NULL, (struct memory_variant){.set = memset});
    memory_add_peers(bench, memory);
}

static const struct memory_mode modes[] = {
    {"hot", memory_run_hot, false, 0, 1, SIZE_MAX, 2},
    {"cold", memory_run_cold, true, 0, 1, SIZE_MAX, 2},
    {"drained", memory_run_drained, true, 0, 1024, 65536, 2},
    {"reload", memory_run_reload, false, 0, 8, 128, 2},
};

/* On a line, and at an address that malloc might give inside an object. */
static const size_t placements[][2] = {{0, 0}, {24, 0}};

struct page_call {
    const struct memory_variant *variant;
    struct memory_cold *cold;
    bool hot, read;
};

/* Without it the compiler would know that all is zero. */
static void read_all(const char *p, size_t n)
{
    uint64_t sum[8] = {0};

    bench_keep_memory(p);
    for (size_t i = 0; i < n; i += 64)
        for (size_t k = 0; k < 8; k++)
            sum[k] += ((const uint64_t *)(const void *)(p + i))[k];
    bench_keep((double)(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7]));
}

static void run_page(void *arg, size_t calls)
{
    const struct page_call *call = arg;
    struct memory_cold *cold = call->cold;
    char *p;

    MEMORY_LOOP(call, calls,
                p = call->hot ? cold->at[0] : memory_cold_at(cold, 0, memory_cold_next(cold)), p,
                NULL, cold->n, if (call->read) read_all(p, cold->n);
                else bench_keep_memory(p));
}

static void prepare_page(void *arg)
{
    const struct page_call *call = arg;

    memory_cold_prepare(call->cold);
}

static void *clear_page(void *p, size_t n)
{
    okosu_zero_page(p, n);
    return p;
}

static int measure_page(struct bench *bench, struct memory_bench *memory, struct memory_cold *cold,
                        const char *mode, bool hot, bool read)
{
    struct bench_row rows[MEMORY_VARIANTS];
    struct page_call calls[MEMORY_VARIANTS];
    struct bench_point point = {
        .n = cold->n, .footprint = cold->n, .mode = mode, .place = hot ? NULL : "memory"};

    for (size_t i = 0; i < memory->count; i++) {
        calls[i] = (struct page_call){&memory->variants[i], cold, hot, read};
        rows[i] = memory_row(memory, read ? "page-read" : "page", &memory->variants[i], cold->n);
        rows[i].run = run_page;
        rows[i].arg = &calls[i];
        if (!hot) {
            rows[i].prepare = prepare_page;
            rows[i].calls_limit = cold->areas;
        }
    }
    return bench_point_run(bench, &point, rows, memory->count);
}

static int sweep_pages(struct bench *bench, struct memory_bench *memory)
{
    static const size_t sizes[] = {4096, 2 << 20}, on_a_line[2] = {0, 0};
    struct memory_cold cold;
    int error = 0;

    memory_add_entry(memory, "okosu_zero_page",
                     (struct memory_variant){.zero = clear_page, .use = OKOSU_ZERO_PAGE});
    for (size_t i = 0; !error && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        error = memory_cold_make(bench, &cold, 1, sizes[i], on_a_line);
        if (error)
            break;
        error = measure_page(bench, memory, &cold, "cold", false, false);
        if (!error)
            error = measure_page(bench, memory, &cold, "cold", false, true);
        if (!error)
            error = measure_page(bench, memory, &cold, "hot", true, false);
        memory_cold_drop(bench, &cold);
    }
    return error;
}

static int sweep(struct bench *bench)
{
    struct memory_bench memory = {.routine = "set", .operands = 1, .chosen = chosen};
    int error;

    add_variants(bench, &memory);
    error = memory_sweep(bench, &memory, sizes_all, sizeof(sizes_all) / sizeof(sizes_all[0]), modes,
                         sizeof(modes) / sizeof(modes[0]), placements);
    if (!error && (bench_wants_routine(bench, "page") || bench_wants_routine(bench, "page-read")))
        error = sweep_pages(bench, &memory);
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
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
