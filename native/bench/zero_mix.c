/* SPDX-License-Identifier: Apache-2.0 */
/* zero_mix: calls whose sizes are drawn from a histogram, so that branches are mispredicted as they
 * are in programs. */
#include "zero_bench.h"

#include <errno.h>
#include <stdlib.h>

/* More calls than a branch predictor learns by heart. */
enum { CALLS = 32768, PLACES = 16384, MOST = 4096 };

/* Sizes from `from` up to but without `to`, all alike; `weight` of the whole. */
struct class
{
    size_t from, to;
    unsigned weight;
};

struct histogram {
    const char *mode;
    size_t most;
    struct class classes[9];
};

static const struct histogram histograms[] = {
    {"mix16-512", 512, {{16, 513, 1}}},
    /* Each doubling as often as the others. */
    {"mix16-4096",
     4096,
     {{16, 32, 1},
      {32, 64, 1},
      {64, 128, 1},
      {128, 256, 1},
      {256, 512, 1},
      {512, 1024, 1},
      {1024, 2048, 1},
      {2048, 4097, 1}}},
    /* Mostly small objects, few buffers. */
    {"mix-small", 512, {{1, 17, 8}, {17, 65, 4}, {65, 257, 2}, {257, 513, 1}}},
};

struct mix {
    uint32_t n[CALLS];
    uint32_t place[CALLS];
    char *memory;
};

struct mix_call {
    const struct zero_routine *routine;
    const struct mix *mix;
    size_t next;
};

static void run_mix(void *arg, size_t calls)
{
    struct mix_call *call = arg;
    const struct mix *mix = call->mix;
    zero_function *set = call->routine->set;
    zero_only_function *zero = call->routine->zero;
    size_t next = call->next;

    if (set) {
        for (size_t i = 0; i < calls; i++) {
            set(mix->memory + mix->place[next], 0, mix->n[next]);
            next = (next + 1) % CALLS;
        }
    } else {
        for (size_t i = 0; i < calls; i++) {
            zero(mix->memory + mix->place[next], mix->n[next]);
            next = (next + 1) % CALLS;
        }
    }
    call->next = next;
}

static size_t draw(struct bench *bench, const struct histogram *histogram)
{
    const struct class *class = histogram->classes;
    unsigned all = 0;

    for (size_t i = 0; i < 9; i++)
        all += histogram->classes[i].weight;
    uint64_t at = bench_random(bench, all);
    while (at >= class->weight)
        at -= class ++->weight;
    return class->from + (size_t)bench_random(bench, class->to - class->from);
}

static int measure(struct bench *bench, struct zero_routine *routines, size_t count,
                   const struct histogram *histogram, struct mix *mix)
{
    struct bench_row rows[ZERO_ROUTINES];
    struct mix_call calls[ZERO_ROUTINES];
    size_t bytes = 0;

    for (size_t i = 0; i < CALLS; i++) {
        mix->n[i] = (uint32_t)draw(bench, histogram);
        mix->place[i] = (uint32_t)bench_random(bench, PLACES);
        bytes += mix->n[i];
    }
    struct bench_point point = {.n = histogram->most,
                                .items = bytes / CALLS,
                                .footprint = PLACES + MOST,
                                .mode = histogram->mode};
    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct mix_call){&routines[i], mix, 0};
        rows[i] = zero_row("mix", &routines[i], histogram->most);
        rows[i].run = run_mix;
        rows[i].arg = &calls[i];
    }
    return bench_point_run(bench, &point, rows, count);
}

int zero_mix_sweep(struct bench *bench, struct zero_routine *routines, size_t count)
{
    struct mix *mix = calloc(1, sizeof(*mix));
    int error = -ENOMEM;

    if (mix && (mix->memory = bench_buffer(bench, PLACES + MOST, 0)))
        error = 0;
    for (size_t i = 0; !error && i < sizeof(histograms) / sizeof(histograms[0]); i++)
        error = measure(bench, routines, count, &histograms[i], mix);
    if (mix && mix->memory)
        bench_buffer_drop(bench, mix->memory);
    free(mix);
    return error;
}
