/* SPDX-License-Identifier: Apache-2.0 */
/* fault: what the first touch of a page costs, by the way in which the page comes.
 *
 * backed: an untimed touch of as much memory of the same kind, freed just before, had the host of a
 * virtual machine back it; it was dropped from the caches before it was freed. unbacked: memory
 * that nobody touched for long, taken in fresh pieces that are kept, so that each is older than the
 * last. A guest cannot see which it got: of these pieces, 2 MiB each, those that cost more than
 * three times the backed median count as unbacked. */
#include "harness.h"

#include "fault_methods.h"

#include "base/message.h"

#include <okosu/clock.h>
#include <okosu/zero.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#define REGION_BYTES ((size_t)32 << 20)
#define SMOKE_BYTES ((size_t)8 << 20)
#define CHAIN_TOLERANCE 0.01
#define UNBACKED_TIMES 3

enum { ATTEMPTS = 5, METHODS = 24, OLD_METHODS = 3 };

static const struct bench_routine routines[] = {
    {"fault-4k", 4096, 0, "page", "a page of 4 KiB made usable"},
    {"fault-2m", 2 << 20, 0, "page", "a page of 2 MiB made usable"},
    {NULL, 0, 0, NULL, NULL},
};

/* One method's samples. */
struct line {
    struct fault_region region;
    struct fault_seen seen; /* facts of the last good run */
    double *cycles, *ns;    /* of a whole region, one a round */
    size_t count, wrong;
    const char *why; /* what was wrong with the last bad run */
    int error;       /* -errno that ended it */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), ascending);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void shuffle(struct bench *bench, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t k = (size_t)bench_random(bench, i), other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
}

/* Core cycles in a tick, from the chains before and after; 0: the core changed its speed. */
static double cycles_per_tick(uint64_t before, uint64_t after)
{
    uint64_t low = before < after ? before : after, high = before < after ? after : before;

    if ((double)(high - low) > CHAIN_TOLERANCE * (double)low)
        return 0;
    return 2.0 * OKOSU_CLOCK_CHAIN / (double)(before + after);
}

/* The first chain after other code has run takes cache misses of its own, so it is not used. */
static uint64_t chain(void)
{
    okosu_clock_chain();
    return okosu_clock_chain();
}

/* One run, warmed, judged and undone. 0 or -errno; *rate as cycles_per_tick(). */
static int run_once(struct line *line, double *rate, struct fault_seen *seen)
{
    struct fault_region *region = &line->region;
    int error = fault_warm(region);

    if (!error)
        error = fault_map(region);
    if (error) {
        fault_unmap(region);
        return error;
    }
    uint64_t before = chain();
    error = fault_run(region, seen);
    *rate = cycles_per_tick(before, chain());
    line->why = error ? NULL : fault_wrong(region, seen);
    fault_unmap(region);
    return error;
}

/* If memory runs out under one method, the others go on. */
static void sample(struct bench *bench, struct line *line)
{
    for (int attempt = 0; attempt < ATTEMPTS && !line->error; attempt++) {
        struct fault_seen seen;
        double rate;
        line->error = run_once(line, &rate, &seen);
        if (line->error)
            return;
        if (line->why)
            line->wrong++;
        if (line->why || rate <= 0)
            continue;
        line->seen = seen;
        line->cycles[line->count] = (double)seen.ticks * rate;
        line->ns[line->count++] = (double)seen.ticks * bench_ns_per_tick(bench);
        return;
    }
}

static const char *fix_for(const struct fault_method *method)
{
    if (method->kind == FAULT_HUGETLB)
        return "as root: echo 64 > /proc/sys/vm/nr_hugepages";
    if (method->kind == FAULT_THP && method->how == FAULT_POPULATE)
        return "as root: echo always > /sys/kernel/mm/transparent_hugepage/enabled";
    if (method->kind == FAULT_THP)
        return "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled";
    return "free some memory, or name a smaller region: --sizes BYTES";
}

/* Try it once: whether the method can be used here. */
static bool usable(struct bench *bench, struct line *line, const struct fault_method *method,
                   size_t bytes)
{
    struct fault_seen seen;
    double rate;
    int error = fault_open(&line->region, method, bytes);

    if (!error)
        error = run_once(line, &rate, &seen);
    if (!error && !line->why)
        return true;
    bench_absent(bench, method->variant,
                 error ? strerror(-error)
                 : method->how == FAULT_POPULATE && method->kind == FAULT_THP
                     ? "the kernel gave small pages: MAP_POPULATE comes before madvise can ask"
                     : line->why,
                 fix_for(method));
    fault_close(&line->region);
    return false;
}

static void print_line(struct bench *bench, const struct line *line)
{
    const struct fault_method *method = line->region.method;
    char extra[160];
    struct bench_row row = {.routine = method->routine,
                            .variant = method->variant,
                            .kind = "okosu",
                            .library = "Linux",
                            .config = method->doc,
                            .extra = extra};
    struct bench_point point = {.n = line->region.bytes,
                                .items = line->region.bytes / fault_page_bytes(method),
                                .footprint = line->region.bytes,
                                .place = "memory",
                                .mode = "backed"};

    snprintf(extra, sizeof(extra),
             "\"faults\": %ld, \"faults_after\": %ld, \"huge_kb\": %zu, \"refused\": %zu, "
             "\"dropped\": %zu",
             line->seen.faults, line->seen.after, line->seen.huge_kb, line->wrong,
             bench_rounds(bench) - line->count);
    point.unit = "cycles";
    bench_values(bench, &point, &row, line->cycles, line->count);
    point.unit = "ns";
    bench_values(bench, &point, &row, line->ns, line->count);
}

/* ---- memory that nobody touched for long ---- */

struct piece {
    struct fault_region region;
    uint64_t *ticks; /* of each 2 MiB */
};

struct old {
    const struct fault_method *method;
    double limit; /* cycles for 2 MiB above which it counts as unbacked */
    double *cycles, *ns;
    size_t count, chunks, unbacked;
};

/* The median of the chunks of this piece that are unbacked becomes a sample. */
static void judge(struct bench *bench, struct old *old, const struct piece *piece, double rate)
{
    size_t chunks = piece->region.bytes / FAULT_HUGE, found = 0;
    double *costs = calloc(chunks, sizeof(*costs));

    if (!costs)
        return;
    for (size_t i = 0; i < chunks; i++)
        if ((double)piece->ticks[i] * rate > old->limit)
            costs[found++] = (double)piece->ticks[i];
    old->chunks += chunks;
    old->unbacked += found;
    if (found) {
        double ticks = median(costs, found);
        old->cycles[old->count] = ticks * rate;
        old->ns[old->count++] = ticks * bench_ns_per_tick(bench);
    }
    free(costs);
}

static int take_piece(struct bench *bench, struct old *old, struct piece *piece, size_t bytes)
{
    int error = fault_open(&piece->region, old->method, bytes);

    piece->ticks = calloc(bytes / FAULT_HUGE, sizeof(*piece->ticks));
    if (!piece->ticks)
        error = -ENOMEM;
    if (!error)
        error = fault_map(&piece->region);
    uint64_t before = chain();
    if (!error)
        error = fault_run_chunks(&piece->region, piece->ticks);
    uint64_t after = chain();
    if (!error)
        judge(bench, old, piece, 2.0 * OKOSU_CLOCK_CHAIN / (double)(before + after));
    return error;
}

static void print_old(struct bench *bench, const struct old *old)
{
    char extra[120];
    struct bench_row row = {.routine = old->method->routine,
                            .variant = old->method->variant,
                            .kind = "okosu",
                            .library = "Linux",
                            .config = old->method->doc,
                            .extra = extra};
    struct bench_point point = {.n = FAULT_HUGE,
                                .items = FAULT_HUGE / fault_page_bytes(old->method),
                                .footprint = FAULT_HUGE,
                                .place = "memory",
                                .mode = "unbacked"};

    snprintf(extra, sizeof(extra), "\"chunks\": %zu, \"unbacked\": %zu, \"limit_cycles\": %.0f",
             old->chunks, old->unbacked, old->limit);
    point.unit = "cycles";
    bench_values(bench, &point, &row, old->cycles, old->count);
    point.unit = "ns";
    bench_values(bench, &point, &row, old->ns, old->count);
}

static bool room_for(size_t bytes)
{
    struct sysinfo info;

    /* Only free memory counts, because reclaiming the page cache would take time. */
    return !sysinfo(&info) && bytes < (uint64_t)info.freeram * info.mem_unit / 2;
}

static int measure_old(struct bench *bench, struct old *olds, size_t count, size_t bytes)
{
    size_t rounds = bench_rounds(bench), taken = 0, unbacked = 0;
    struct piece *pieces = calloc(rounds * count + 1, sizeof(*pieces));
    size_t order[OLD_METHODS];
    int error = pieces ? 0 : -ENOMEM;

    if (!room_for(rounds * count * bytes)) {
        bench_absent(bench, "unbacked",
                     "too little memory is free to come to what was not used lately",
                     "free some memory, or fewer rounds: --rounds N");
        count = 0;
    }
    for (size_t round = 0; round < rounds && count; round++) {
        shuffle(bench, order, count);
        for (size_t i = 0; !error && i < count; i++)
            error = take_piece(bench, &olds[order[i]], &pieces[taken++], bytes);
    }
    for (size_t i = 0; i < count; i++) {
        unbacked += olds[i].unbacked;
        if (!error && olds[i].count)
            print_old(bench, &olds[i]);
        else if (!error)
            bench_note(
                bench,
                "%s: none of its %zu pieces of 2 MiB cost more than %d times the backed median",
                olds[i].method->variant, olds[i].chunks, UNBACKED_TIMES);
    }
    if (!error && count && !unbacked)
        bench_absent(bench, "unbacked",
                     "no 2 MiB cost more than three times the backed median: all memory is backed",
                     "run it after the machine has rested, or take more: --rounds N");
    for (size_t i = 0; i < taken; i++) {
        fault_close(&pieces[i].region);
        free(pieces[i].ticks);
    }
    free(pieces);
    return error;
}

static bool is_old_method(const struct fault_method *method)
{
    return (method->kind != FAULT_HUGETLB && method->how == FAULT_TOUCH) ||
           (method->kind == FAULT_THP && method->how == FAULT_POPULATE_WRITE);
}

/* ---- the whole ---- */

static void measure(struct bench *bench, struct line *lines, size_t count)
{
    size_t order[METHODS];

    for (unsigned round = 0; round < bench_rounds(bench); round++) {
        shuffle(bench, order, count);
        for (size_t i = 0; i < count; i++)
            sample(bench, &lines[order[i]]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct line *line = &lines[i];
        if (line->count)
            print_line(bench, line);
        else if (line->error || line->why)
            bench_absent(bench, line->region.method->variant,
                         line->error ? strerror(-line->error) : line->why,
                         fix_for(line->region.method));
        else
            bench_absent(bench, line->region.method->variant,
                         "the core changed its speed during every run of it",
                         "measure while nothing else runs");
    }
}

static int sweep(struct bench *bench)
{
    const size_t usual[] = {bench_smoke(bench) ? SMOKE_BYTES : REGION_BYTES};
    static struct line lines[METHODS];
    static struct old olds[OLD_METHODS];
    size_t size_count, count = 0, old_count = 0, rounds = bench_rounds(bench);
    const size_t *sizes = bench_sizes(bench, usual, 1, 0, &size_count);
    size_t bytes = (sizes[0] + FAULT_HUGE - 1) & ~(FAULT_HUGE - 1);
    double *room = calloc(2 * rounds * (METHODS + OLD_METHODS), sizeof(*room)), *next = room;
    int error = room ? 0 : -ENOMEM;

    /* The first call of okosu_zero makes the choice, which reads files; it must not fall into a
     * measurement. */
    okosu_zero_chosen(OKOSU_ZERO_PAGE, FAULT_HUGE);
    if (size_count > 1)
        bench_note(bench, "one region is measured, the first of --sizes");
    for (const struct fault_method *m = fault_methods; !error && m->routine && count < METHODS;
         m++) {
        struct line *line = &lines[count];
        if (!bench_wants_routine(bench, m->routine) || !bench_wants_variant(bench, m->variant) ||
            !usable(bench, line, m, bytes))
            continue;
        line->cycles = next;
        line->ns = next + rounds;
        next += 2 * rounds;
        count++;
    }
    if (!error)
        measure(bench, lines, count);
    for (size_t i = 0; !error && i < count && old_count < OLD_METHODS; i++) {
        if (!is_old_method(lines[i].region.method) || !lines[i].count)
            continue;
        olds[old_count] =
            (struct old){.method = lines[i].region.method, .cycles = next, .ns = next + rounds};
        next += 2 * rounds;
        olds[old_count++].limit =
            UNBACKED_TIMES * median(lines[i].cycles, lines[i].count) / (double)(bytes / FAULT_HUGE);
    }
    for (size_t i = 0; i < count; i++)
        fault_close(&lines[i].region);
    if (!error && old_count && !bench_smoke(bench))
        error = measure_old(bench, olds, old_count, bytes);
    free(room);
    if (error)
        okosu_message("page faults not measured", strerror(-error), NULL);
    return error;
}

static void list(struct bench *bench)
{
    for (const struct fault_method *m = fault_methods; m->routine; m++) {
        struct okosu_variant about = {m->variant, 0, m->doc};
        bench_list_variant(bench, &about);
    }
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "fault",
        .doc = "what the first touch of a page costs, by the way in which the page comes",
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
