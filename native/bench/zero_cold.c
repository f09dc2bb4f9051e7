/* SPDX-License-Identifier: Apache-2.0 */
/* zero_cold: places that are in no cache, and the clearing of pages there. */
#include "zero_bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int zero_cold_make(struct bench *bench, struct zero_cold *cold, size_t n, size_t offset)
{
    /* Two lines apart at least: processors fetch lines in pairs. */
    size_t stride = (n + offset + 255) / 256 * 256, areas = ZERO_COLD_BYTES / stride;

    areas = areas > ZERO_COLD_AREAS ? ZERO_COLD_AREAS : areas ? areas : 1;
    *cold = (struct zero_cold){.n = n, .stride = stride, .areas = areas};
    cold->memory = bench_buffer(bench, stride * areas, offset);
    cold->order = calloc(areas, sizeof(*cold->order));
    if (!cold->memory || !cold->order) {
        zero_cold_drop(bench, cold);
        return -ENOMEM;
    }
    for (size_t i = 0; i < areas; i++)
        cold->order[i] = (uint32_t)i;
    for (size_t i = areas; i > 1; i--) {
        size_t k = (size_t)bench_random(bench, i);
        uint32_t other = cold->order[i - 1];
        cold->order[i - 1] = cold->order[k];
        cold->order[k] = other;
    }
    return 0;
}

void zero_cold_drop(struct bench *bench, struct zero_cold *cold)
{
    if (cold->memory)
        bench_buffer_drop(bench, cold->memory);
    free(cold->order);
}

void zero_cold_prepare(struct zero_cold *cold)
{
    bench_make_cold(cold->memory, cold->stride * (cold->areas - 1) + cold->n);
    cold->next = 0;
}

char *zero_cold_next(struct zero_cold *cold)
{
    if (cold->next == cold->areas)
        cold->next = 0;
    return cold->memory + cold->order[cold->next++] * cold->stride;
}

struct page_call {
    const struct zero_routine *routine;
    struct zero_cold *cold;
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
    struct zero_cold *cold = call->cold;

    for (size_t i = 0; i < calls; i++) {
        char *p = call->hot ? cold->memory : zero_cold_next(cold);
        if (call->routine->set)
            call->routine->set(p, 0, cold->n);
        else
            call->routine->zero(p, cold->n);
        if (call->read)
            read_all(p, cold->n);
        else
            bench_keep_memory(p);
    }
}

static void prepare_page(void *arg)
{
    const struct page_call *call = arg;

    zero_cold_prepare(call->cold);
}

static void *clear_page(void *p, size_t n)
{
    okosu_zero_page(p, n);
    return p;
}

static int measure_page(struct bench *bench, struct zero_routine *routines, size_t count,
                        struct zero_cold *cold, const char *mode, bool hot, bool read)
{
    struct bench_row rows[ZERO_ROUTINES];
    struct page_call calls[ZERO_ROUTINES];
    struct bench_point point = {
        .n = cold->n, .footprint = cold->n, .mode = mode, .place = hot ? NULL : "memory"};

    for (size_t i = 0; i < count; i++) {
        calls[i] = (struct page_call){&routines[i], cold, hot, read};
        rows[i] = zero_row(read ? "page-read" : "page", &routines[i], cold->n);
        rows[i].run = run_page;
        rows[i].arg = &calls[i];
        if (!hot) {
            rows[i].prepare = prepare_page;
            rows[i].calls_limit = cold->areas;
        }
    }
    return bench_point_run(bench, &point, rows, count);
}

int zero_page_sweep(struct bench *bench, struct zero_routine *routines, size_t count)
{
    static const size_t sizes[] = {4096, 2 << 20};
    struct zero_routine with_page[ZERO_ROUTINES];
    struct zero_cold cold;
    int error = 0;

    memcpy(with_page, routines, count * sizeof(routines[0]));
    with_page[count++] = (struct zero_routine){
        .variant = "okosu_zero_page", .kind = "okosu", .zero = clear_page, .use = OKOSU_ZERO_PAGE};
    for (size_t i = 0; !error && i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        error = zero_cold_make(bench, &cold, sizes[i], 0);
        if (error)
            break;
        error = measure_page(bench, with_page, count, &cold, "cold", false, false);
        if (!error)
            error = measure_page(bench, with_page, count, &cold, "cold", false, true);
        if (!error)
            error = measure_page(bench, with_page, count, &cold, "hot", true, false);
        zero_cold_drop(bench, &cold);
    }
    return error;
}
