/* SPDX-License-Identifier: Apache-2.0 */
/* copy_cold: pairs of places that are in no cache. */
#include "copy_bench.h"

#include <errno.h>
#include <stdlib.h>

static void shuffle(struct bench *bench, uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)bench_random(bench, i);
        uint32_t other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
}

int copy_cold_make(struct bench *bench, struct copy_cold *cold, size_t n, size_t to, size_t from)
{
    size_t most = to > from ? to : from;
    /* Two lines apart at least: processors fetch lines in pairs. */
    size_t stride = (n + most % 4096 + 255) / 256 * 256, areas = COPY_COLD_BYTES / stride;

    areas = areas > COPY_COLD_AREAS ? COPY_COLD_AREAS : areas ? areas : 1;
    *cold = (struct copy_cold){.n = n, .stride = stride, .areas = areas};
    cold->dst = bench_buffer(bench, stride * areas, to);
    cold->src = bench_buffer(bench, stride * areas, from);
    cold->order = calloc(2 * areas, sizeof(*cold->order));
    if (!cold->dst || !cold->src || !cold->order) {
        copy_cold_drop(bench, cold);
        return -ENOMEM;
    }
    shuffle(bench, cold->order, areas);
    shuffle(bench, cold->order + areas, areas);
    return 0;
}

void copy_cold_drop(struct bench *bench, struct copy_cold *cold)
{
    if (cold->dst)
        bench_buffer_drop(bench, cold->dst);
    if (cold->src)
        bench_buffer_drop(bench, cold->src);
    free(cold->order);
}

void copy_cold_prepare(struct copy_cold *cold)
{
    size_t bytes = cold->stride * (cold->areas - 1) + cold->n;

    bench_make_cold(cold->src, bytes);
    bench_make_cold(cold->dst, bytes);
    cold->next = 0;
}

void copy_cold_next(struct copy_cold *cold, char **dst, const char **src)
{
    size_t next = cold->next == cold->areas ? 0 : cold->next;

    cold->next = next + 1;
    *dst = cold->dst + cold->order[next] * cold->stride;
    *src = cold->src + cold->order[cold->areas + next] * cold->stride;
}
