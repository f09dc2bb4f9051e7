/* SPDX-License-Identifier: Apache-2.0 */
/* blas1: sums, products and updates of vectors: every variant of okosu and the peers in turn, beside
 * what this machine can do at most, from one element to beyond the caches. */
#include "blas1.h"

#include <okosu/cpu.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARIES_LIMIT 64
#define ROWS_LIMIT 96
/* Calls of at most this many elements are measured in two ways: independent, and each waiting for
 * the last. */
#define SMALL 256
/* y and z begin this many bytes further than x, modulo 2 MiB. A load whose address lies up to 2.5
 * KiB behind that of a store on its way, modulo 64 KiB, waits for it on Zen 5 (measured: axpy 320
 * cycles for 283); these are far from that. */
#define Y_SKEW 20480
#define Z_SKEW 40960
#define SKEW_ROOM 65536

static const struct bench_routine routines[] = {
    {"dsum", 8, 1, "element", "sum of x"},
    {"dsumsq", 8, 2, "element", "sum of squares of x"},
    {"dasum", 8, 1, "element", "sum of sizes of x"},
    {"dnrm2", 8, 2, "element", "square root of the sum of squares of x, safe from overflow"},
    {"ddot", 16, 2, "element", "sum of products of x and y"},
    {"daxpy", 24, 2, "element", "y = y + a x"},
    {"dscal", 16, 1, "element", "y = a y"},
    {"dtriad", 24, 2, "element", "z = x + a y (STREAM's triad)"},
    {"ssum", 4, 1, "element", "the same of floats"},
    {"ssumsq", 4, 2, "element", "the same of floats"},
    {"sasum", 4, 1, "element", "the same of floats"},
    {"snrm2", 4, 2, "element", "the same of floats"},
    {"sdot", 8, 2, "element", "the same of floats"},
    {"saxpy", 12, 2, "element", "the same of floats"},
    {"sscal", 8, 1, "element", "the same of floats"},
    {"striad", 12, 2, "element", "the same of floats"},
    {"limit-load", 8, 0, "element", "limit: loads of x alone"},
    {"limit-load2", 16, 0, "element", "limit: loads of x and y alone"},
    {"limit-store", 8, 0, "element", "limit: stores of y alone"},
    {"limit-load-store", 16, 0, "element", "limit: y loaded and stored"},
    {"limit-load2-store1", 24, 0, "element", "limit: x and y loaded, y or z stored; best order"},
    {"limit-fma", 0, 2, "element", "limit: multiply-adds in registers"},
    {"limit-load-fma", 8, 2, "element", "limit: loads of x, each for a multiply-add"},
    {"limit-add", 0, 1, "element", "limit: additions in registers"},
    {"limit-size", 0, 1, "element", "limit: sizes of what is in registers, added"},
    {"limit-load-float", 4, 0, "element", "the same as limit-load of floats"},
    {"limit-load2-float", 8, 0, "element", "the same as limit-load2 of floats"},
    {"limit-store-float", 4, 0, "element", "the same as limit-store of floats"},
    {"limit-load-store-float", 8, 0, "element", "the same as limit-load-store of floats"},
    {"limit-load2-store1-float", 12, 0, "element", "the same as limit-load2-store1 of floats"},
    {"limit-fma-float", 0, 2, "element", "the same as limit-fma of floats"},
    {"limit-load-fma-float", 4, 2, "element", "the same as limit-load-fma of floats"},
    {"limit-add-float", 0, 1, "element", "the same as limit-add of floats"},
    {"limit-size-float", 0, 1, "element", "the same as limit-size of floats"},
    {"limit-call", 0, 0, "element", "limit: a call of an empty function"},
    {NULL, 0, 0, NULL, NULL},
};

static const size_t small_sizes[] = {1,  2,  3,  4,  6,  8,   12,  16, 20,
                                     24, 28, 32, 48, 64, 100, 128, 256};
static const size_t large_sizes[] = {512,   1024,  2048,   2560,    5120,
                                     16384, 32768, 524288, 1048576, 8388608};
/* The code of floats is that of doubles, compiled for twice as many lanes: fewer sizes show it. */
static const size_t float_sizes[] = {1, 4, 8, 16, 32, 64, 256, 2048, 4096, 10240, 65536, 2097152};

struct sweep {
    struct bench *bench;
    struct blas1_library libraries[LIBRARIES_LIMIT];
    size_t count;
    char *x, *y, *z; /* on 2 MiB boundaries */
    size_t room;     /* bytes */
};

static void empty(void)
{
    bench_keep_memory(NULL);
}

/* What a call through a pointer costs, which is part of every row but the limits. */
static void calls_only(const struct blas1_operands *operands, size_t calls)
{
    void (*volatile routine)(void) = empty;
    void (*function)(void) = routine;

    for (size_t i = 0; i < calls; i++)
        function();
}

static void run_limit(void *arg, size_t calls)
{
    const struct blas1_arg *limit = arg;

    limit->limit(limit->operands, calls);
}

const struct blas1_limit *blas1_limits(void)
{
#if defined(__x86_64__)
    uint64_t features = okosu_cpu_features();

    if (features & OKOSU_CPU_AVX512)
        return blas1_limits_avx512;
    if (features & OKOSU_CPU_AVX2)
        return blas1_limits_avx2;
#elif defined(BLAS1_SVE)
    uint64_t features = okosu_cpu_features();

    if (features & OKOSU_CPU_SVE512)
        return blas1_limits_sve512;
    if (features & OKOSU_CPU_SVE256)
        return blas1_limits_sve256;
#endif
    return blas1_limits_base;
}

const struct blas1_inline *blas1_inlines(const char **name)
{
#if defined(__x86_64__)
    uint64_t features = okosu_cpu_features();

    *name = "inline-avx512";
    if (features & OKOSU_CPU_AVX512)
        return blas1_inlines_avx512;
    *name = "inline-avx2";
    if (features & OKOSU_CPU_AVX2)
        return blas1_inlines_avx2;
#endif
    *name = "inline-base";
    return blas1_inlines_base;
}

#define ANY(FUNCTION) (blas1_any *)(FUNCTION)

static size_t add_okosu(struct blas1_library *libraries)
{
    const struct okosu_vec_variant *const *table = okosu_vec_table();
    size_t count = 0;

    for (size_t i = 0; table[i] && count < LIBRARIES_LIMIT / 4; i++) {
        const struct okosu_vec_variant *v = table[i];

        if (v->about.needs & ~okosu_cpu_features())
            continue;
        libraries[count++] = (struct blas1_library){.variant = v->about.name,
                                                    .kind = "okosu",
                                                    .routines = {[BLAS1_DSUM] = ANY(v->dsum),
                                                                 [BLAS1_DSUMSQ] = ANY(v->dsumsq),
                                                                 [BLAS1_DASUM] = ANY(v->dasum),
                                                                 [BLAS1_DNRM2] = ANY(v->dnrm2),
                                                                 [BLAS1_DDOT] = ANY(v->ddot),
                                                                 [BLAS1_DAXPY] = ANY(v->daxpy),
                                                                 [BLAS1_DSCAL] = ANY(v->dscal),
                                                                 [BLAS1_DTRIAD] = ANY(v->dtriad),
                                                                 [BLAS1_SSUM] = ANY(v->ssum),
                                                                 [BLAS1_SSUMSQ] = ANY(v->ssumsq),
                                                                 [BLAS1_SASUM] = ANY(v->sasum),
                                                                 [BLAS1_SNRM2] = ANY(v->snrm2),
                                                                 [BLAS1_SDOT] = ANY(v->sdot),
                                                                 [BLAS1_SAXPY] = ANY(v->saxpy),
                                                                 [BLAS1_SSCAL] = ANY(v->sscal),
                                                                 [BLAS1_STRIAD] = ANY(v->striad)}};
    }
    libraries[count++] = (struct blas1_library){
        .variant = "chosen",
        .kind = "okosu",
        .config = okosu_vec_chosen()->about.name,
        .routines = {ANY(okosu_vec_dsum), ANY(okosu_vec_dsumsq), ANY(okosu_vec_dasum),
                     ANY(okosu_vec_dnrm2), ANY(okosu_vec_ddot), ANY(okosu_vec_daxpy),
                     ANY(okosu_vec_dscal), ANY(okosu_vec_dtriad), ANY(okosu_vec_ssum),
                     ANY(okosu_vec_ssumsq), ANY(okosu_vec_sasum), ANY(okosu_vec_snrm2),
                     ANY(okosu_vec_sdot), ANY(okosu_vec_saxpy), ANY(okosu_vec_sscal),
                     ANY(okosu_vec_striad)}};
    return count;
}

static int check_peer(const struct peer *peer, char *why, size_t size)
{
    struct blas1_library library;

    blas1_from_peer(&library, peer);
    return blas1_check(&library, why, size);
}

/* A peer without the routines of it that are wrong, which is told. */
static void add_peer(struct sweep *sweep, const struct peer *peer)
{
    struct blas1_library *library = &sweep->libraries[sweep->count++];
    struct blas1_library right;
    char why[256];

    blas1_from_peer(library, peer);
    right = *library;
    if (blas1_check(&right, why, sizeof(why)) == 0 &&
        memcmp(right.routines, library->routines, sizeof(right.routines)) != 0)
        bench_note(sweep->bench, "%s: a routine is left out: %s", library->variant, why);
    *library = right;
}

static bool fits(const struct blas1_library *library, enum blas1_routine routine,
                 const struct blas1_operands *o)
{
    uintptr_t both = (uintptr_t)o->x | (uintptr_t)o->y;

    return library->routines[routine] && blas1_takes(library, o->n) &&
           (library->alignment == 0 || both % library->alignment == 0);
}

/* The name of a limit of doubles where it is one of floats. */
static const char *of_floats(const char *limit)
{
    size_t length = strlen(limit);

    for (const struct bench_routine *routine = routines; routine->name; routine++)
        if (strncmp(routine->name, limit, length) == 0 &&
            strcmp(routine->name + length, "-float") == 0)
            return routine->name;
    return limit;
}

/* The limits of this point's routine; o: its operands as doubles. */
static size_t add_limits(enum blas1_routine routine, const struct blas1_operands *o,
                         struct bench_row *rows, struct blas1_arg *args)
{
    size_t count = 1;

    args[0] = (struct blas1_arg){.limit = calls_only, .operands = o};
    rows[0] = (struct bench_row){
        .routine = "limit-call", .variant = "empty", .kind = "limit", .run = run_limit};
    for (const struct blas1_limit *limit = blas1_limits();
         limit->routine && o->n % BLAS1_LIMIT_STEP == 0; limit++)
        if (limit->routines >> blas1_of_doubles(routine) & 1) {
            args[count] = (struct blas1_arg){.limit = limit->run, .operands = o};
            rows[count++] = (struct bench_row){
                .routine = blas1_is_float(routine) ? of_floats(limit->routine) : limit->routine,
                .variant = limit->variant,
                .kind = "limit",
                .run = run_limit};
        }
    return count;
}

/* The header's form of this routine at this length, if it was compiled. */
static size_t add_inline(enum blas1_routine routine, const struct blas1_operands *o, bool waiting,
                         struct bench_row *row, struct blas1_arg *arg)
{
    const char *name;

    for (const struct blas1_inline *form = blas1_inlines(&name); form->n; form++)
        if (form->routine == routine && form->n == o->n) {
            *arg = (struct blas1_arg){.limit = waiting ? form->wait : form->run, .operands = o};
            *row = (struct bench_row){.routine = blas1_names[routine],
                                      .variant = name,
                                      .kind = "okosu",
                                      .config = "no call",
                                      .run = run_limit};
            return 1;
        }
    return 0;
}

static int run_point(struct sweep *sweep, enum blas1_routine routine, size_t n,
                     const size_t align[2], bool waiting)
{
    struct bench_row rows[ROWS_LIMIT];
    struct blas1_arg args[ROWS_LIMIT];
    char extra[LIBRARIES_LIMIT][64];
    /* Small updates rotate over copies, except where each call is to wait for the last, which needs
     * the same memory. */
    bool rotate = n <= SMALL && !waiting;
    size_t element = blas1_element(routine), line = 64 / element;
    struct blas1_operands o = {.x = sweep->x + align[0],
                               .y = sweep->y + Y_SKEW + align[1],
                               .z = sweep->z + Z_SKEW + align[0],
                               .line_x = sweep->x,
                               .line_y = sweep->y + Y_SKEW,
                               .line_z = sweep->z + Z_SKEW,
                               .n = n,
                               .mask = rotate ? BLAS1_COPIES - 1 : 0,
                               .stride = (n + line - 1) / line * line + line};
    struct blas1_operands as_doubles;
    struct bench_point point = {.n = n,
                                .footprint = n * element * blas1_arrays(routine),
                                .align = {align[0], align[1]},
                                .mode = waiting ? "latency" : "throughput"};
    size_t count = 0;

    /* Scaling by -1 keeps every element's size, and 1e-9 lets the other updates grow by little. */
    o.a = blas1_of_doubles(routine) == BLAS1_DSCAL ? -1.0 : 1e-9;
    o.float_a = (float)o.a;
    as_doubles = o;
    /* Limits have no code for a remainder: 1 is a length at which none runs. */
    as_doubles.n =
        n % (BLAS1_LIMIT_STEP * sizeof(double) / element) == 0 ? n * element / sizeof(double) : 1;
    for (size_t i = 0; i < sweep->count; i++) {
        const struct blas1_library *library = &sweep->libraries[i];

        if (!fits(library, routine, &o))
            continue;
        args[count] = (struct blas1_arg){.routine = library->routines[routine], .operands = &o};
        extra[i][0] = '\0';
        if (library->stands_in[routine])
            snprintf(extra[i], sizeof(extra[i]), "\"routine\": \"%s\"",
                     library->stands_in[routine]);
        rows[count] = (struct bench_row){.routine = blas1_names[routine],
                                         .variant = library->variant,
                                         .kind = library->kind,
                                         .library = library->library,
                                         .config = library->config,
                                         .run = blas1_runner(routine, library, waiting),
                                         .extra = extra[i]};
        count++;
    }
    count += add_inline(routine, &o, waiting, rows + count, args + count);
    count += add_limits(routine, &as_doubles, rows + count, args + count);
    for (size_t i = 0; i < count; i++)
        rows[i].arg = &args[i];
    return bench_point_run(sweep->bench, &point, rows, count);
}

static int run_size(struct sweep *sweep, enum blas1_routine routine, size_t n)
{
    /* Offsets from a line: none; those of doubles from malloc, alike for both operands; and unlike
     * ones, which a routine of one array cannot have and which make no difference beyond the
     * second-level cache. */
    static const size_t alignments[][2] = {{0, 0}, {8, 8}, {8, 24}};
    size_t bytes = n * blas1_element(routine) * blas1_arrays(routine);
    bool near = bytes <= bench_caches(sweep->bench)->l2;
    size_t wanted = blas1_arrays(routine) > 1 && near && !bench_smoke(sweep->bench) ? 3 : 2;
    int error = 0;

    for (size_t i = 0; error == 0 && i < wanted; i++)
        error = run_point(sweep, routine, n, alignments[i], false);
    if (error == 0 && n <= SMALL)
        error = run_point(sweep, routine, n, alignments[0], true);
    return error;
}

static int make_operands(struct sweep *sweep, size_t largest)
{
    size_t copies = (SMALL + 16) * BLAS1_COPIES;

    sweep->room = (largest > copies ? largest : copies) * sizeof(double) + SKEW_ROOM;
    sweep->x = bench_buffer(sweep->bench, sweep->room, 0);
    sweep->y = bench_buffer(sweep->bench, sweep->room, 0);
    sweep->z = bench_buffer(sweep->bench, sweep->room, 0);
    return sweep->x && sweep->y && sweep->z ? 0 : -ENOMEM;
}

static void fill(struct sweep *sweep, enum blas1_routine routine)
{
    size_t element = blas1_element(routine);

    for (size_t i = 0; i < sweep->room / element; i++) {
        double random = (double)bench_random(sweep->bench, 1 << 20) / (1 << 20);

        if (blas1_is_float(routine)) {
            ((float *)(void *)sweep->x)[i] = (float)(0.5 + random);
            ((float *)(void *)sweep->y)[i] = (float)(1.5 - random);
            ((float *)(void *)sweep->z)[i] = (float)random;
        } else {
            ((double *)(void *)sweep->x)[i] = 0.5 + random;
            ((double *)(void *)sweep->y)[i] = 1.5 - random;
            ((double *)(void *)sweep->z)[i] = random;
        }
    }
}

static size_t collect_sizes(struct bench *bench, bool floats, size_t *sizes)
{
    size_t all[sizeof(small_sizes) / sizeof(size_t) + sizeof(large_sizes) / sizeof(size_t)];
    const size_t few[] = {3, 32, 2048, 32768};
    size_t count = 0, given = 0;
    const size_t *chosen;

    memcpy(all, small_sizes, sizeof(small_sizes));
    memcpy(all + sizeof(small_sizes) / sizeof(size_t), large_sizes, sizeof(large_sizes));
    if (bench_smoke(bench))
        chosen = bench_sizes(bench, few, sizeof(few) / sizeof(few[0]), 0, &given);
    else if (floats)
        chosen = bench_sizes(bench, float_sizes, sizeof(float_sizes) / sizeof(size_t), 0, &given);
    else
        chosen = bench_sizes(bench, all, sizeof(all) / sizeof(all[0]), 0, &given);
    for (; count < given; count++)
        sizes[count] = chosen[count];
    return count;
}

static int sweep_all(struct bench *bench)
{
    static struct sweep sweep;
    size_t sizes[256], size_count = 0, largest = 0;
    struct peer *peers;
    long peer_count;
    int error;

    for (size_t floats = 2; floats-- > 0;) {
        size_count = collect_sizes(bench, floats, sizes);
        for (size_t i = 0; i < size_count; i++)
            largest = sizes[i] > largest ? sizes[i] : largest;
    }
    sweep = (struct sweep){.bench = bench};
    sweep.count = add_okosu(sweep.libraries);
    peer_count = peers_load(bench, bench_peers(bench), check_peer, &peers);
    if (peer_count < 0)
        return (int)peer_count;
    for (long i = 0; i < peer_count && sweep.count < LIBRARIES_LIMIT; i++)
        add_peer(&sweep, &peers[i]);
    error = make_operands(&sweep, largest);
    for (enum blas1_routine k = 0; error == 0 && k < BLAS1_ROUTINES; k++) {
        if (k == BLAS1_DSUM || k == BLAS1_SSUM) {
            size_count = collect_sizes(bench, blas1_is_float(k), sizes);
            fill(&sweep, k);
        }
        for (size_t i = 0; error == 0 && i < size_count; i++)
            error = run_size(&sweep, k, sizes[i]);
    }
    peers_free(peers, peer_count);
    return error;
}

static void list(struct bench *bench)
{
    for (const struct okosu_vec_variant *const *v = okosu_vec_table(); *v; v++)
        bench_list_variant(bench, &(*v)->about);
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "blas1",
        .doc =
            "Sums, products and updates of vectors: okosu and peers beside this machine's limits.",
        .routines = routines,
        .sweep = sweep_all,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
