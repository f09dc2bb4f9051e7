/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: memcpy in all its variants beside glibc's: from a byte to 64 MiB, hot and cold, aligned and
 * not; sizes drawn from a histogram (`--histogram FILE`: the user's own); and copies of fixed size
 * in line.
 */
#include "copy_bench.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct bench_kernel kernels[] = {
    {"copy", 2, 0, "byte", "n bytes copied"},
    {"mix", 2, 0, "byte", "sizes and places drawn from a histogram, in 32 KiB that are hot"},
    {"fixed", 2, 0, "byte", "a size known to the compiler, in line, beside calls"},
    {NULL, 0, 0, NULL, NULL},
};

static const char *histogram;

struct fixed_call {
    const struct copy_fixed *fixed;
    const struct copy_routine *routine;
    char *dst;
    const char *src;
    size_t n, index;
};

static void run_fixed(void *arg, size_t calls)
{
    const struct fixed_call *call = arg;

    call->fixed->run[call->index](call->dst, call->src, calls);
}

static void run_call(void *arg, size_t calls)
{
    const struct fixed_call *call = arg;
    okosu_copy_function *copy = call->routine->copy;

    for (size_t i = 0; i < calls; i++) {
        copy(call->dst, call->src, call->n);
        bench_keep_memory(call->dst);
    }
}

static int measure_fixed(struct bench *bench, struct copy_routine *routines, size_t count,
                         size_t index, char *dst, char *src)
{
    static const struct copy_fixed *const all[] = {
        &copy_fixed_base,
#if defined(__x86_64__)
        &copy_fixed_avx2,
        &copy_fixed_avx512,
#endif
    };
    size_t n = (size_t)COPY_FIXED_LEAST << index, used = 0;
    struct bench_row rows[8];
    struct fixed_call calls[8];
    struct bench_point point = {.n = n, .footprint = 2 * n, .align = {2048, 0}, .mode = "hot"};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i]->needs & ~okosu_cpu_features())
            continue;
        calls[used] = (struct fixed_call){all[i], NULL, dst, src, n, index};
        rows[used] = (struct bench_row){.kernel = "fixed",
                                        .variant = all[i]->variant,
                                        .kind = "okosu",
                                        .run = run_fixed,
                                        .arg = &calls[used]};
        used++;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = routines[i].variant;
        if (strcmp(name, "glibc") != 0 && strcmp(name, "okosu_copy") != 0)
            continue;
        calls[used] = (struct fixed_call){NULL, &routines[i], dst, src, n, index};
        rows[used] = copy_row("fixed", &routines[i], n);
        rows[used].run = run_call;
        rows[used].arg = &calls[used];
        used++;
    }
    return bench_point_run(bench, &point, rows, used);
}

int copy_fixed_sweep(struct bench *bench, struct copy_routine *routines, size_t count)
{
    size_t most = (size_t)COPY_FIXED_LEAST << (COPY_FIXED_SIZES - 1);
    char *dst = bench_buffer(bench, most, 2048), *src = bench_buffer(bench, most, 0);
    int error = dst && src ? 0 : -ENOMEM;

    for (size_t i = 0; !error && i < COPY_FIXED_SIZES; i += bench_smoke(bench) ? 4 : 1)
        error = measure_fixed(bench, routines, count, i, dst, src);
    if (dst)
        bench_buffer_drop(bench, dst);
    if (src)
        bench_buffer_drop(bench, src);
    return error;
}

static int sweep(struct bench *bench)
{
    struct copy_routine routines[COPY_ROUTINES];
    size_t count = copy_routines(bench, routines);
    int error = 0;

    if (bench_wants_kernel(bench, "copy"))
        error = copy_points_sweep(bench, routines, count);
    if (!error && bench_wants_kernel(bench, "mix"))
        error = copy_mix_sweep(bench, routines, count, histogram);
    if (!error && bench_wants_kernel(bench, "fixed"))
        error = copy_fixed_sweep(bench, routines, count);
    return error;
}

static void list(struct bench *bench)
{
    for (size_t i = 0; okosu_copy_table()[i]; i++)
        bench_list_variant(bench, &okosu_copy_table()[i]->about);
}

/* Take the option that the harness does not have out of argv. */
static int take_histogram(int argc, char **argv)
{
    int kept = 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--histogram") == 0 && i + 1 < argc)
            histogram = argv[++i];
        else if (strncmp(argv[i], "--histogram=", 12) == 0)
            histogram = argv[i] + 12;
        else
            argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    return kept;
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "copy",
        .doc = "memcpy: every variant beside glibc's (also --histogram FILE: lines FROM TO WEIGHT)",
        .kernels = kernels,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(take_histogram(argc, argv), argv, &program);
}
