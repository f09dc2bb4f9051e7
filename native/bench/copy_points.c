/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_points: one size after the other.
 *
 * hot: the same bytes again and again. cold: each call another pair of places that were dropped
 * from every cache (clflush, as bench_make_cold() does), one call after the other. drained: the
 * same with a fence after each call, which is what a call costs that nothing overlaps with. reload:
 * each call waits for a load of 8 bytes from the middle of what the last one stored; reload32: of
 * the first 32 bytes.
 */
#include "copy_bench.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <string.h>

static const size_t sizes_all[] = {
    1,      2,      3,      4,       8,       15,      16,      24,       32,       33,
    48,     64,     65,     80,      96,      128,     129,     192,      256,      257,
    384,    512,    513,    768,     1024,    1536,    2048,    2560,     3072,     4096,
    6144,   8192,   12288,  16384,   20480,   24576,   32768,   49152,    65536,    131072,
    262144, 524288, 786432, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20,
};

struct call {
    const struct copy_routine *routine;
    char *dst;
    const char *src;
    size_t n;
    struct copy_cold *cold;
};

static void run_hot(void *arg, size_t calls)
{
    const struct call *call = arg;
    okosu_copy_function *copy = call->routine->copy;
    char *dst = call->dst;
    const char *src = call->src;
    size_t n = call->n;

    for (size_t i = 0; i < calls; i++) {
        copy(dst, src, n);
        bench_keep_memory(dst);
    }
}

static void run_cold(void *arg, size_t calls)
{
    const struct call *call = arg;
    okosu_copy_function *copy = call->routine->copy;
    char *dst;
    const char *src;

    for (size_t i = 0; i < calls; i++) {
        copy_cold_next(call->cold, &dst, &src);
        copy(dst, src, call->n);
        bench_keep_memory(dst);
    }
}

static void run_drained(void *arg, size_t calls)
{
    const struct call *call = arg;
    okosu_copy_function *copy = call->routine->copy;
    char *dst;
    const char *src;

    for (size_t i = 0; i < calls; i++) {
        copy_cold_next(call->cold, &dst, &src);
        copy(dst, src, call->n);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
}

/* What is loaded is added to the address of the next call: it is 0. */
static void run_reload(void *arg, size_t calls)
{
    const struct call *call = arg;
    okosu_copy_function *copy = call->routine->copy;
    char *dst = call->dst;
    const char *src = call->src;
    size_t n = call->n, middle = n / 2 / 8 * 8 + 8 > n ? 0 : n / 2 / 8 * 8;
    uint64_t word = 0;

    for (size_t i = 0; i < calls; i++) {
        copy(dst, src + word, n);
        bench_keep_memory(dst);
        memcpy(&word, dst + middle, sizeof(word));
    }
}

#if defined(__x86_64__)
static void run_reload32(void *arg, size_t calls)
{
    const struct call *call = arg;
    okosu_copy_function *copy = call->routine->copy;
    char *dst = call->dst;
    const char *src = call->src;
    uint64_t word = 0;

    for (size_t i = 0; i < calls; i++) {
        copy(dst, src + word, call->n);
        __asm__ volatile("vmovdqu %1, %%ymm0\n\tvmovq %%xmm0, %0\n\tvzeroupper"
                         : "=r"(word)
                         : "m"(*(const char(*)[32])dst)
                         : "xmm0", "memory");
    }
}
#endif

static void prepare_cold(void *arg)
{
    const struct call *call = arg;

    copy_cold_prepare(call->cold);
}

struct mode {
    const char *name;
    void (*run)(void *arg, size_t calls);
    bool cold;
    uint64_t needs;
    size_t from, to; /* sizes for which it is measured */
    size_t places;   /* of the first so many placements */
};

static const struct mode modes[] = {
    {"hot", run_hot, false, 0, 1, SIZE_MAX, 3},
    {"cold", run_cold, true, 0, 1, SIZE_MAX, 2},
    {"drained", run_drained, true, 0, 1024, 65536, 2},
    {"reload", run_reload, false, 0, 8, 512, 1},
#if defined(__x86_64__)
    {"reload32", run_reload32, false, OKOSU_CPU_AVX2, 32, 512, 1},
#endif
};

/*
 * Offsets of dst and src in a page: on lines and half a page apart; as malloc might give them; and
 * with dst a line behind src modulo a page, so that going forward each load has the low address
 * bits of a store that has just been made.
 */
static const size_t placements[][2] = {{2048, 0}, {24, 2056}, {64, 0}};

static int measure(struct bench *bench, struct copy_routine *routines, size_t count,
                   const struct mode *mode, size_t n, const size_t place[2])
{
    struct bench_row rows[COPY_ROUTINES];
    struct call calls[COPY_ROUTINES];
    struct copy_cold cold = {0};
    struct bench_point point = {.n = n,
                                .footprint = 2 * n,
                                .align = {place[0], place[1]},
                                .mode = mode->name,
                                .place = mode->cold ? "memory" : NULL};
    char *dst = NULL, *src = NULL;
    size_t used = 0;
    int error = 0;

    if (mode->cold) {
        error = copy_cold_make(bench, &cold, n, place[0], place[1]);
    } else {
        dst = bench_buffer(bench, n + 64, place[0]);
        src = bench_buffer(bench, n + 64, place[1]);
        error = dst && src ? 0 : -ENOMEM;
    }
    if (error)
        return error;
    for (size_t i = 0; i < count; i++) {
        if (n > routines[i].most)
            continue;
        calls[used] = (struct call){&routines[i], dst, src, n, &cold};
        rows[used] = copy_row("copy", &routines[i], n);
        rows[used].run = mode->run;
        rows[used].arg = &calls[used];
        if (mode->cold) {
            rows[used].prepare = prepare_cold;
            rows[used].calls_limit = cold.areas;
        }
        used++;
    }
    error = bench_point_run(bench, &point, rows, used);
    if (mode->cold) {
        copy_cold_drop(bench, &cold);
    } else {
        bench_buffer_drop(bench, dst);
        bench_buffer_drop(bench, src);
    }
    return error;
}

int copy_points_sweep(struct bench *bench, struct copy_routine *routines, size_t count)
{
    size_t size_count;
    const size_t *sizes =
        bench_sizes(bench, sizes_all, sizeof(sizes_all) / sizeof(sizes_all[0]), 5, &size_count);
    int error = 0;

    for (size_t s = 0; s < size_count; s++)
        for (size_t m = 0; m < sizeof(modes) / sizeof(modes[0]); m++) {
            const struct mode *mode = &modes[m];
            if (sizes[s] < mode->from || sizes[s] > mode->to ||
                (mode->needs & ~okosu_cpu_features()))
                continue;
            for (size_t p = 0; !error && p < mode->places; p++)
                error = measure(bench, routines, count, mode, sizes[s], placements[p]);
            if (error)
                return error;
        }
    return 0;
}
