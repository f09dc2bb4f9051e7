/* SPDX-License-Identifier: Apache-2.0 */
/* memory_mix: calls whose sizes are drawn from a histogram. */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>

/* More calls than a branch predictor learns by heart; the bytes in which they lie. */
enum { CALLS = 32768, PLACES = 16384, CLASSES = 8 };

/* Sizes from `from` up to `to`, all alike. */
struct class
{
    size_t from, to;
    uint64_t weight;
};

struct histogram {
    const char *mode;
    size_t count;
    struct class classes[CLASSES];
};

static const struct histogram histograms[] = {
    {"mix16-512", 1, {{16, 512, 1}}},
    /* Each doubling as often as the others. */
    {"mix16-4096",
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
    {"mix-small", 4, {{1, 16, 8}, {17, 64, 4}, {65, 256, 2}, {257, 512, 1}}},
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

static size_t draw(struct bench *bench, const struct histogram *histogram)
{
    const struct class *class = histogram->classes;
    uint64_t all = 0;

    for (size_t i = 0; i < histogram->count; i++)
        all += histogram->classes[i].weight;
    uint64_t at = bench_random(bench, all);
    for (; at >= class->weight; class ++)
        at -= class->weight;
    return class->from + (size_t)bench_random(bench, class->to - class->from + 1);
}

static int measure(struct bench *bench, struct memory_bench *memory,
                   const struct histogram *histogram)
{
    struct bench_row rows[MEMORY_VARIANTS];
    struct mix_call calls[MEMORY_VARIANTS];
    size_t bytes = 0, most = 0;
    struct mix *mix = calloc(1, sizeof(*mix));
    int error = mix ? 0 : -ENOMEM;

    for (size_t i = 0; i < histogram->count; i++)
        if (histogram->classes[i].to > most)
            most = histogram->classes[i].to;
    for (size_t k = 0; !error && k < memory->operands; k++)
        if (!(mix->memory[k] = bench_buffer(bench, PLACES + most, 0)))
            error = -ENOMEM;
    for (size_t i = 0; !error && i < CALLS; i++) {
        mix->n[i] = (uint32_t)draw(bench, histogram);
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
        rows[i] = memory_row(memory, "mix", &memory->variants[i], most);
        rows[i].run = run_mix;
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
        error = measure(bench, memory, &histograms[i]);
    return error;
}
