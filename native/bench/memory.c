/* SPDX-License-Identifier: Apache-2.0 */
/* memory: variants of copies and sets, one size after the other. */
#include "memory.h"

#include <okosu/cpu.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>

void memory_add(struct bench *bench, struct memory_bench *memory, const struct okosu_variant *about,
                struct memory_variant variant)
{
    if (about->needs & ~okosu_cpu_features()) {
        bench_absent(bench, about->name, "this CPU or kernel lacks what it needs", "");
        return;
    }
    if (memory->count == MEMORY_VARIANTS)
        return;
    variant.name = about->name;
    variant.kind = "okosu";
    variant.use = MEMORY_ANY_USE;
    memory->variants[memory->count++] = variant;
}

void memory_add_entry(struct memory_bench *memory, const char *name, struct memory_variant variant)
{
    static char glibc[32];

    if (memory->count == MEMORY_VARIANTS)
        return;
    variant.name = name ? name : "glibc";
    variant.kind = name ? "okosu" : "peer";
    if (!name) {
        snprintf(glibc, sizeof(glibc), "glibc %s", gnu_get_libc_version());
        variant.library = glibc;
        variant.use = MEMORY_ANY_USE;
    }
    memory->variants[memory->count++] = variant;
}

static int is_library(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);

    return length > 3 && strcmp(entry->d_name + length - 3, ".so") == 0;
}

/* Its own memcpy and memset, never those of the C library that this program runs on: a library that
 * only uses them has none, although a search by dlsym() would go on to what it needs. */
static void *own_symbol(void *handle, const char *path, const char *name)
{
    void *symbol = dlsym(handle, name);
    Dl_info where;

    return symbol && dladdr(symbol, &where) && strcmp(where.dli_fname, path) == 0 ? symbol : NULL;
}

/* The names live as long as the process: rows refer to them. */
static void add_peer(struct bench *bench, struct memory_bench *memory, const char *directory,
                     const char *file)
{
    struct memory_variant variant = {.kind = "peer", .use = MEMORY_ANY_USE};
    const char *function = memory->operands > 1 ? "memcpy" : "memset";
    char *name = strndup(file, strlen(file) - 3), *path = NULL, why[64];
    void *handle, *symbol;

    if (!name || !bench_wants_variant(bench, name) || memory->count == MEMORY_VARIANTS ||
        asprintf(&path, "%s/%s", directory, file) < 0) {
        free(name);
        return;
    }
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    symbol = handle ? own_symbol(handle, path, function) : NULL;
    if (symbol) {
        variant.name = variant.library = name;
        memcpy(memory->operands > 1 ? (void *)&variant.copy : (void *)&variant.set, &symbol,
               sizeof(symbol));
        memory->variants[memory->count++] = variant;
    } else if (handle) {
        snprintf(why, sizeof(why), "it has no %s of its own", function);
        bench_absent(bench, name, why, "");
        dlclose(handle);
    } else {
        bench_absent(bench, name, dlerror(), "");
    }
    free(path);
}

void memory_add_peers(struct bench *bench, struct memory_bench *memory)
{
    for (const char *const *parent = bench_peers(bench); *parent; parent++) {
        struct dirent **entries = NULL;
        char *directory = NULL;
        int found;

        if (asprintf(&directory, "%s/memory", *parent) < 0)
            continue;
        found = scandir(directory, &entries, is_library, alphasort);
        for (int i = 0; i < found; i++) {
            add_peer(bench, memory, directory, entries[i]->d_name);
            free(entries[i]);
        }
        free(entries);
        free(directory);
    }
}

struct bench_row memory_row(const struct memory_bench *memory, const char *routine,
                            struct memory_variant *variant, size_t n)
{
    if (variant->use != MEMORY_ANY_USE)
        snprintf(variant->config, sizeof(variant->config), "%s", memory->chosen(variant->use, n));
    return (struct bench_row){.routine = routine,
                              .variant = variant->name,
                              .kind = variant->kind,
                              .library = variant->library,
                              .config = variant->config[0] ? variant->config : NULL};
}

/* Batches of at most this many bytes or areas of all operands: what is made cold takes time too. */
#define COLD_BYTES ((size_t)16 << 20)
enum { COLD_AREAS = 2048 };

int memory_cold_make(struct bench *bench, struct memory_cold *cold, size_t operands, size_t n,
                     const size_t offsets[2])
{
    size_t most = operands > 1 && offsets[1] > offsets[0] ? offsets[1] : offsets[0];
    /* Two lines apart at least: processors fetch lines in pairs. */
    size_t stride = (n + most % 4096 + 255) / 256 * 256;
    size_t areas = COLD_BYTES / operands / stride, limit = COLD_AREAS / operands;
    bool made = true;

    areas = areas > limit ? limit : areas ? areas : 1;
    *cold = (struct memory_cold){.operands = operands, .n = n, .stride = stride, .areas = areas};
    cold->order = calloc(operands * areas, sizeof(*cold->order));
    for (size_t k = 0; k < operands; k++) {
        cold->at[k] = bench_buffer(bench, stride * areas, offsets[k]);
        made = made && cold->at[k];
    }
    if (!made || !cold->order) {
        memory_cold_drop(bench, cold);
        return -ENOMEM;
    }
    for (size_t i = 0; i < operands * areas; i++)
        cold->order[i] = (uint32_t)(i % areas);
    for (size_t k = 0; k < operands; k++)
        bench_shuffle(bench, cold->order + k * areas, areas);
    return 0;
}

void memory_cold_drop(struct bench *bench, struct memory_cold *cold)
{
    for (size_t k = 0; k < cold->operands; k++)
        if (cold->at[k])
            bench_buffer_drop(bench, cold->at[k]);
    free(cold->order);
}

void memory_cold_prepare(struct memory_cold *cold)
{
    for (size_t k = cold->operands; k-- > 0;)
        bench_make_cold(cold->at[k], cold->stride * (cold->areas - 1) + cold->n);
    cold->next = 0;
}

void memory_run_hot(void *arg, size_t calls)
{
    const struct memory_call *call = arg;
    char *dst = call->dst;
    const char *src = call->src;
    size_t n = call->n;

    MEMORY_LOOP(call, calls, (void)0, dst, src, n, bench_keep_memory(dst));
}

void memory_run_cold(void *arg, size_t calls)
{
    const struct memory_call *call = arg;
    struct memory_cold *cold = call->cold;
    size_t area;

    MEMORY_LOOP(call, calls, area = memory_cold_next(cold), memory_cold_at(cold, 0, area),
                memory_cold_at(cold, 1, area), call->n, bench_keep_memory(NULL));
}

void memory_run_drained(void *arg, size_t calls)
{
    const struct memory_call *call = arg;
    struct memory_cold *cold = call->cold;
    size_t area;

    MEMORY_LOOP(call, calls, area = memory_cold_next(cold), memory_cold_at(cold, 0, area),
                memory_cold_at(cold, 1, area), call->n, __atomic_thread_fence(__ATOMIC_SEQ_CST));
}

/* What is loaded is added to an address of the next call: it is 0. */
void memory_run_reload(void *arg, size_t calls)
{
    const struct memory_call *call = arg;
    char *dst = call->dst;
    const char *src = call->src;
    size_t n = call->n, reload = call->reload;
    uint64_t word = 0;

    MEMORY_LOOP(call, calls, (void)0, dst + (copy_ ? 0 : word), src + word, n,
                bench_keep_memory(dst);
                memcpy(&word, dst + reload, sizeof(word)));
}

static void prepare_cold(void *arg)
{
    const struct memory_call *call = arg;

    memory_cold_prepare(call->cold);
}

/* Of a copy the middle of what was stored, of a set its end. */
static size_t reload_at(size_t operands, size_t n)
{
    size_t middle = n / 2 / 8 * 8;

    if (operands > 1)
        return middle + 8 > n ? 0 : middle;
    return n < 8 ? 0 : n - 8;
}

static int measure(struct bench *bench, struct memory_bench *memory, const struct memory_mode *mode,
                   size_t n, const size_t place[2])
{
    struct bench_row rows[MEMORY_VARIANTS];
    struct memory_call calls[MEMORY_VARIANTS];
    struct memory_cold cold = {0};
    struct bench_point point = {.n = n,
                                .footprint = memory->operands * n,
                                .align = {place[0], memory->operands > 1 ? place[1] : 0},
                                .mode = mode->name,
                                .place = mode->cold ? "memory" : NULL};
    char *at[2] = {NULL, NULL};
    size_t used = 0;
    int error = 0;

    if (mode->cold)
        error = memory_cold_make(bench, &cold, memory->operands, n, place);
    for (size_t k = 0; !mode->cold && k < memory->operands; k++)
        if (!(at[k] = bench_buffer(bench, n + 64, place[k])))
            error = -ENOMEM;
    if (error)
        return error;
    for (size_t i = 0; i < memory->count; i++) {
        struct memory_variant *variant = &memory->variants[i];

        if (variant->most && n > variant->most)
            continue;
        calls[used] =
            (struct memory_call){variant, at[0], at[1], n, reload_at(memory->operands, n), &cold};
        rows[used] = memory_row(memory, memory->routine, variant, n);
        rows[used].run = mode->run;
        rows[used].arg = &calls[used];
        if (mode->cold) {
            rows[used].prepare = prepare_cold;
            rows[used].calls_limit = cold.areas;
        }
        used++;
    }
    error = bench_point_run(bench, &point, rows, used);
    if (mode->cold)
        memory_cold_drop(bench, &cold);
    for (size_t k = 0; k < 2; k++)
        if (at[k])
            bench_buffer_drop(bench, at[k]);
    return error;
}

int memory_sweep(struct bench *bench, struct memory_bench *memory, const size_t *all,
                 size_t all_count, const struct memory_mode *modes, size_t mode_count,
                 const size_t (*placements)[2])
{
    size_t size_count;
    const size_t *sizes = bench_sizes(bench, all, all_count, 5, &size_count);
    bool points = bench_wants_routine(bench, memory->routine);
    int error = 0;

    for (size_t i = 0; points && i < size_count * mode_count; i++) {
        const struct memory_mode *mode = &modes[i % mode_count];
        size_t size = sizes[i / mode_count];

        if (size < mode->from || size > mode->to || (mode->needs & ~okosu_cpu_features()))
            continue;
        for (size_t p = 0; !error && p < mode->places; p++)
            error = measure(bench, memory, mode, size, placements[p]);
        if (error)
            return error;
    }
    return memory_mix(bench, memory);
}
