/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: memcpy in all its variants beside glibc's: from a byte to 64 MiB, hot and cold, aligned and
 * not; sizes drawn from histograms; and copies of fixed size in line.
 */
#include "copy_fixed.h"
#include "memory.h"

#include <okosu/copy.h>
#include <okosu/cpu.h>

#include <errno.h>
#include <string.h>

static const struct bench_routine routines[] = {
    {"copy", 2, 0, "byte", "n bytes copied"},
    {"mix", 2, 0, "byte", "sizes and places drawn from a histogram, in 32 KiB that are hot"},
    {"sites", 2, 0, "byte",
     "as mix, from 32 call sites that each have sizes of their own, or from any"},
    {"fixed", 2, 0, "byte", "a size known to the compiler, in line, beside calls"},
    {NULL, 0, 0, NULL, NULL},
};

static const size_t sizes_all[] = {
    1,      2,      3,      4,       8,       15,      16,      24,       32,       33,
    48,     64,     65,     80,      96,      128,     129,     192,      256,      257,
    384,    512,    513,    768,     1024,    1536,    2048,    2560,     3072,     4096,
    6144,   8192,   12288,  16384,   20480,   24576,   32768,   49152,    65536,    131072,
    262144, 524288, 786432, 1 << 20, 2 << 20, 4 << 20, 8 << 20, 16 << 20, 32 << 20, 64 << 20,
};

static const char *chosen(int use, size_t n)
{
    return okosu_copy_chosen((enum okosu_copy_use)use, n)->about.name;
}

/* Every variant, the entries, glibc's memcpy. */
static void add_variants(struct bench *bench, struct memory_bench *memory)
{
    for (const struct okosu_copy_variant *const *row = okosu_copy_table(); *row; row++) {
        bool slow = strcmp((*row)->about.name, "ref") == 0;

        if (strcmp((*row)->about.name, MEMORY_LIBC) == 0)
            continue;
        memory_add(bench, memory, &(*row)->about,
                   (struct memory_variant){.copy = (*row)->copy, .most = slow ? 65536 : 0});
    }
#define ENTRY(name, which)                                                                         \
    memory_add_entry(memory, #name, (struct memory_variant){.copy = name, .use = which})
    ENTRY(okosu_copy, OKOSU_COPY_ANY);
    ENTRY(okosu_copy_near, OKOSU_COPY_NEAR);
    ENTRY(okosu_copy_far, OKOSU_COPY_FAR);
    ENTRY(okosu_copy_move, OKOSU_COPY_ANY);
#undef ENTRY
    memory_add_entry(memory, NULL, (struct memory_variant){.copy = memcpy});
    memory_add_peers(bench, memory);
}

#if defined(__x86_64__)
/* reload32: as reload, but of the first 32 bytes, by a vector. */
static void run_reload32(void *arg, size_t calls)
{
    const struct memory_call *call = arg;
    copy_function *copy = call->variant->copy;
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

static const struct memory_mode modes[] = {
    {"hot", memory_run_hot, false, 0, 1, SIZE_MAX, 3},
    {"cold", memory_run_cold, true, 0, 1, SIZE_MAX, 2},
    {"drained", memory_run_drained, true, 0, 1024, 65536, 2},
    {"reload", memory_run_reload, false, 0, 8, 512, 1},
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

struct fixed_call {
    const struct copy_fixed *fixed;
    const struct memory_variant *variant;
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
    copy_function *copy = call->variant->copy;

    for (size_t i = 0; i < calls; i++) {
        copy(call->dst, call->src, call->n);
        bench_keep_memory(call->dst);
    }
}

static int measure_fixed(struct bench *bench, struct memory_bench *memory, size_t index, char *dst,
                         char *src)
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
        rows[used] = (struct bench_row){.routine = "fixed",
                                        .variant = all[i]->variant,
                                        .kind = "okosu",
                                        .run = run_fixed,
                                        .arg = &calls[used]};
        used++;
    }
    for (size_t i = 0; i < memory->count; i++) {
        struct memory_variant *variant = &memory->variants[i];

        if (strcmp(variant->name, "glibc") != 0 && strcmp(variant->name, "okosu_copy") != 0)
            continue;
        calls[used] = (struct fixed_call){NULL, variant, dst, src, n, index};
        rows[used] = memory_row(memory, "fixed", variant, n);
        rows[used].run = run_call;
        rows[used].arg = &calls[used];
        used++;
    }
    return bench_point_run(bench, &point, rows, used);
}

static int sweep_fixed(struct bench *bench, struct memory_bench *memory)
{
    size_t most = (size_t)COPY_FIXED_LEAST << (COPY_FIXED_SIZES - 1);
    char *dst = bench_buffer(bench, most, 2048), *src = bench_buffer(bench, most, 0);
    int error = dst && src ? 0 : -ENOMEM;

    for (size_t i = 0; !error && i < COPY_FIXED_SIZES; i += bench_smoke(bench) ? 4 : 1)
        error = measure_fixed(bench, memory, i, dst, src);
    if (dst)
        bench_buffer_drop(bench, dst);
    if (src)
        bench_buffer_drop(bench, src);
    return error;
}

static int sweep(struct bench *bench)
{
    struct memory_bench memory = {.routine = "copy", .operands = 2, .chosen = chosen};
    int error;

    add_variants(bench, &memory);
    error = memory_sweep(bench, &memory, sizes_all, sizeof(sizes_all) / sizeof(sizes_all[0]), modes,
                         sizeof(modes) / sizeof(modes[0]), placements);
    if (!error && bench_wants_routine(bench, "fixed"))
        error = sweep_fixed(bench, &memory);
    return error;
}

static void list(struct bench *bench)
{
    for (size_t i = 0; okosu_copy_table()[i]; i++)
        bench_list_variant(bench, &okosu_copy_table()[i]->about);
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "copy",
        .doc = "memcpy: every variant beside glibc's",
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
