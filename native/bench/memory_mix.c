/* SPDX-License-Identifier: Apache-2.0 */
/* memory_mix: calls whose sizes are drawn from a histogram: all from one place in the code, or from
 * places with sizes of their own, as the calls of most programs are. */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>

/* More calls than a branch predictor learns by heart; the bytes in which they lie. */
enum { CALLS = 32768, PLACES = 16384, CLASSES = 8, SITES = 32 };

/* Sizes from `from` up to `to`, all alike. */
struct class
{
    size_t from, to;
    uint64_t weight;
};

struct histogram {
    const char *routine, *mode;
    bool by_site; /* each call site draws from one class of its own */
    size_t count;
    struct class classes[CLASSES];
};

#define SITES_CLASSES                                                                              \
    {                                                                                              \
        {8, 15, 1}, {16, 31, 1}, {32, 63, 1}, {64, 127, 1}, {128, 255, 1},                         \
        {                                                                                          \
            256, 511, 1                                                                            \
        }                                                                                          \
    }
static const struct histogram histograms[] = {
    {"mix", "mix16-512", false, 1, {{16, 512, 1}}},
    /* Each doubling as often as the others. */
    {"mix",
     "mix16-4096",
     false,
     8,
     {{16, 31, 1},
      {32, 63, 1},
      {64, 127, 1},
      {128, 255, 1},
      {256, 511, 1},
      {512, 1023, 1},
      {1024, 2047, 1},
      {2048, 4096, 1}}},
    /* Mostly small objects, few buffers. */
    {"mix", "mix-small", false, 4, {{1, 16, 8}, {17, 64, 4}, {65, 256, 2}, {257, 512, 1}}},
    /* Six doublings: each site has one of them, or every call draws anew. */
    {"sites", "by-site", true, 6, SITES_CLASSES},
    {"sites", "any", false, 6, SITES_CLASSES},
};

struct mix {
    uint32_t n[CALLS], at[2][CALLS];
    char *memory[2];
};

struct mix_call {
    const struct memory_variant *variant;
    const struct mix *mix;
    size_t next;
};

static void run_mix(void *arg, size_t calls)
{
    struct mix_call *call = arg;
    const struct mix *mix = call->mix;
    size_t next = call->next;

    MEMORY_LOOP(call, calls, (void)0, mix->memory[0] + mix->at[0][next],
                mix->memory[1] + mix->at[1][next], mix->n[next], next = (next + 1) % CALLS);
    call->next = next;
}

/* One call of each of four sites, then of sixteen, then of all. */
#define SITE(CALL)                                                                                 \
    CALL;                                                                                          \
    next++
#define SITES4(CALL)                                                                               \
    SITE(CALL);                                                                                    \
    SITE(CALL);                                                                                    \
    SITE(CALL);                                                                                    \
    SITE(CALL)
#define SITES16(CALL)                                                                              \
    SITES4(CALL);                                                                                  \
    SITES4(CALL);                                                                                  \
    SITES4(CALL);                                                                                  \
    SITES4(CALL)

/* The calls of a batch in whole turns of the sites, and the rest from a place of their own. */
#define SITES_LOOP(CALL)                                                                           \
    do {                                                                                           \
        size_t left = calls;                                                                       \
        for (; left >= SITES; left -= SITES, next %= CALLS) {                                      \
            SITES16(CALL);                                                                         \
            SITES16(CALL);                                                                         \
        }                                                                                          \
        for (; left; left--) {                                                                     \
            CALL;                                                                                  \
        }                                                                                          \
    } while (0)

static void run_sites(void *arg, size_t calls)
{
    struct mix_call *call = arg;
    const struct mix *mix = call->mix;
    copy_function *copy = call->variant->copy;
    set_function *set = call->variant->set;
    zero_function *zero = call->variant->zero;
    size_t next = call->next;

    if (copy)
        SITES_LOOP(copy(mix->memory[0] + mix->at[0][next], mix->memory[1] + mix->at[1][next],
                        mix->n[next]));
    else if (set)
        SITES_LOOP(set(mix->memory[0] + mix->at[0][next], 0, mix->n[next]));
    else
        SITES_LOOP(zero(mix->memory[0] + mix->at[0][next], mix->n[next]));
    call->next = next;
}

static size_t draw_from(struct bench *bench, const struct class *class)
{
    return class->from + (size_t)bench_random(bench, class->to - class->from + 1);
}

static size_t draw(struct bench *bench, const struct histogram *histogram)
{
    const struct class *class = histogram->classes;
    uint64_t all = 0;

    for (size_t i = 0; i < histogram->count; i++)
        all += histogram->classes[i].weight;
    uint64_t at = bench_random(bench, all);
    for (; at >= class->weight; class ++)
        at -= class->weight;
    return draw_from(bench, class);
}

static int measure(struct bench *bench, struct memory_bench *memory,
                   const struct histogram *histogram)
{
    struct bench_row rows[MEMORY_VARIANTS];
    struct mix_call calls[MEMORY_VARIANTS];
    const struct class *own[SITES];
    size_t bytes = 0, most = 0;
    struct mix *mix = calloc(1, sizeof(*mix));
    int error = mix ? 0 : -ENOMEM;

    for (size_t i = 0; i < histogram->count; i++)
        if (histogram->classes[i].to > most)
            most = histogram->classes[i].to;
    for (size_t k = 0; !error && k < memory->operands; k++)
        if (!(mix->memory[k] = bench_buffer(bench, PLACES + most, 0)))
            error = -ENOMEM;
    for (size_t i = 0; i < SITES; i++)
        own[i] = &histogram->classes[bench_random(bench, histogram->count)];
    for (size_t i = 0; !error && i < CALLS; i++) {
        mix->n[i] = (uint32_t)(histogram->by_site ? draw_from(bench, own[i % SITES])
                                                  : draw(bench, histogram));
        for (size_t k = 0; k < memory->operands; k++)
            mix->at[k][i] = (uint32_t)bench_random(bench, PLACES);
        bytes += mix->n[i];
    }
    struct bench_point point = {.n = most,
                                .items = bytes / CALLS,
                                .footprint = memory->operands * (PLACES + most),
                                .mode = histogram->mode,
                                /* Whole turns of the histogram, or nearly. */
                                .batch_us = 400};
    for (size_t i = 0; i < memory->count; i++) {
        calls[i] = (struct mix_call){&memory->variants[i], mix, 0};
        rows[i] = memory_row(memory, histogram->routine, &memory->variants[i], most);
        rows[i].run = strcmp(histogram->routine, "mix") == 0 ? run_mix : run_sites;
        rows[i].arg = &calls[i];
    }
    if (!error)
        error = bench_point_run(bench, &point, rows, memory->count);
    for (size_t k = 0; mix && k < memory->operands; k++)
        if (mix->memory[k])
            bench_buffer_drop(bench, mix->memory[k]);
    free(mix);
    return error;
}

int memory_mix(struct bench *bench, struct memory_bench *memory)
{
    int error = 0;

    for (size_t i = 0; !error && i < sizeof(histograms) / sizeof(histograms[0]); i++)
        if (bench_wants_routine(bench, histograms[i].routine))
            error = measure(bench, memory, &histograms[i]);
    return error;
}
