/* SPDX-License-Identifier: Apache-2.0 */
/* numa: the matrix of section 4 of the paper: how fast each CPU writes memory of each node, the
 * first time and the second. */
#include "harness.h"

#include "base/message.h"

#include <okosu/clock.h>
#include <okosu/place.h>

#include <errno.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The paper's program has N and the byte built in. */
#define PAPER_BYTES 1000000000u
#define PAPER_BYTE 0x77
#define SMOKE_BYTES 16777216u
/* The paper's machine had this many CPUs; on one with more, the first CPU of each last-level cache
 * is measured. */
#define EVERY_CPU 16

/* The CPUs that the user allowed, read before the harness pins itself to one. */
static struct okosu_cpuset allowed;

static const struct bench_routine routines[] = {
    {"write", 1, 0, "byte", "memset of memory bound to a node, the paper's section 4"},
    {NULL, 0, 0, NULL, NULL},
};

enum { FIRST, SECOND, PASSES };

struct cell {
    unsigned cpu, node, distance;
    bool bound, dead;
    size_t pages, misplaced; /* the most of any round */
    size_t count;
    double *samples[PASSES];
    char name[48];
};

struct matrix {
    struct okosu_place_machine machine;
    struct cell *cells;
    size_t *order;
    size_t count, bytes;
};

/* ---- which cells ---- */

static size_t pick_cpus(const struct okosu_place_machine *machine, unsigned *cpus)
{
    struct okosu_cpuset caches = {0};
    bool every = okosu_cpuset_count(&allowed) <= EVERY_CPU;
    size_t count = 0;

    for (size_t i = 0; i < machine->cpu_count; i++) {
        const struct okosu_topo_cpu *cpu = &machine->cpus[i];

        if (!okosu_cpuset_has(&allowed, cpu->cpu))
            continue;
        if (every || !okosu_cpuset_has(&caches, cpu->l3))
            cpus[count++] = cpu->cpu;
        okosu_cpuset_add(&caches, cpu->l3);
    }
    return count;
}

static unsigned node_of(const struct okosu_place_machine *machine, unsigned cpu)
{
    for (size_t i = 0; i < machine->node_count; i++) {
        if (okosu_cpuset_has(&machine->nodes[i].cpus, cpu))
            return (unsigned)i;
    }
    return 0;
}

static int fill_cells(struct bench *bench, struct matrix *matrix)
{
    const struct okosu_place_machine *machine = &matrix->machine;
    unsigned *cpus = calloc(machine->cpu_count, sizeof(*cpus));
    size_t cpu_count = cpus ? pick_cpus(machine, cpus) : 0;

    matrix->cells = calloc(cpu_count * machine->node_count + 1, sizeof(*matrix->cells));
    matrix->order = calloc(cpu_count * machine->node_count + 1, sizeof(*matrix->order));
    if (!cpus || !matrix->cells || !matrix->order) {
        free(cpus);
        return -ENOMEM;
    }
    for (size_t i = 0; i < cpu_count; i++) {
        for (size_t n = 0; n < machine->node_count; n++) {
            struct cell *cell = &matrix->cells[matrix->count];
            const struct okosu_place_node *node = &machine->nodes[n];

            snprintf(cell->name, sizeof(cell->name), "cpu%u-node%u", cpus[i], node->number);
            if (!node->usable || !bench_wants_variant(bench, cell->name))
                continue;
            cell->cpu = cpus[i];
            cell->node = node->number;
            cell->distance =
                machine->distances[node_of(machine, cpus[i]) * machine->node_count + n];
            for (int pass = 0; pass < PASSES; pass++)
                cell->samples[pass] = calloc(bench_rounds(bench), sizeof(double));
            matrix->order[matrix->count] = matrix->count;
            matrix->count++;
            if (!cell->samples[FIRST] || !cell->samples[SECOND]) {
                free(cpus);
                return -ENOMEM;
            }
        }
    }
    free(cpus);
    return 0;
}

/* ---- one cell in one round ---- */

static int allocate(struct bench *bench, const struct matrix *matrix, struct cell *cell,
                    struct okosu_place_memory *memory)
{
    int rc = okosu_place_alloc_on(memory, matrix->bytes, cell->node, 0);

    cell->bound = rc == 0;
    /* Where there is one node, memory is on it whether or not it can be bound. */
    if ((rc == -EPERM || rc == -ENOSYS) && matrix->machine.node_count == 1) {
        if (cell->count == 0)
            bench_note(bench, "%s: not bound, but there is one node: %s", cell->name,
                       okosu_place_reason());
        rc = okosu_place_alloc(memory, matrix->bytes, OKOSU_PLACE_FIRST_TOUCH, NULL, 0);
    }
    return rc;
}

static void verify(struct bench *bench, struct cell *cell, const struct okosu_place_memory *memory)
{
    static struct okosu_place_count count;

    if (okosu_place_verify(memory->at, memory->bytes, &count)) {
        if (cell->count == 1)
            bench_note(bench, "%s: where the pages lie could not be asked: %s", cell->name,
                       okosu_place_reason());
        return;
    }
    cell->pages = count.pages;
    if (count.pages - count.on[cell->node] > cell->misplaced)
        cell->misplaced = count.pages - count.on[cell->node];
}

/* Twice the counter, memset, the counter, as in the paper. */
static void write_twice(struct bench *bench, struct cell *cell,
                        const struct okosu_place_memory *memory)
{
    for (int pass = 0; pass < PASSES; pass++) {
        uint64_t begun = okosu_clock_start();

        memset(memory->at, PAPER_BYTE, memory->bytes);
        bench_keep_memory(memory->at);
        cell->samples[pass][cell->count] =
            (double)(okosu_clock_stop() - begun) * bench_ns_per_tick(bench);
    }
    cell->count++;
}

static void run_cell(struct bench *bench, const struct matrix *matrix, struct cell *cell)
{
    struct okosu_place_memory memory;
    struct okosu_cpuset before;

    if (okosu_place_pin_cpu(cell->cpu, &before)) {
        cell->dead = true;
        bench_absent(bench, cell->name, okosu_place_reason(), NULL);
        return;
    }
    if (allocate(bench, matrix, cell, &memory)) {
        cell->dead = true;
        bench_absent(bench, cell->name, okosu_place_reason(), "--sizes with fewer bytes");
    } else {
        write_twice(bench, cell, &memory);
        verify(bench, cell, &memory);
        okosu_place_free(&memory);
    }
    okosu_place_unpin(&before);
}

/* ---- all ---- */

static void print_cell(struct bench *bench, const struct matrix *matrix, const struct cell *cell)
{
    static const char *const modes[PASSES] = {"first", "second"};
    char extra[256], library[64];

    snprintf(extra, sizeof(extra),
             "\"cpu\": %u, \"node\": %u, \"distance\": %u, \"bound\": %s, \"pages\": %zu, "
             "\"misplaced\": %zu",
             cell->cpu, cell->node, cell->distance, cell->bound ? "true" : "false", cell->pages,
             cell->misplaced);
    snprintf(library, sizeof(library), "glibc %s", gnu_get_libc_version());
    for (int pass = 0; pass < PASSES; pass++) {
        const struct bench_point point = {
            .n = matrix->bytes, .footprint = matrix->bytes, .mode = modes[pass], .unit = "ns"};
        const struct bench_row row = {.routine = "write",
                                      .variant = cell->name,
                                      .kind = "paper",
                                      .library = library,
                                      .config = "memset",
                                      .extra = extra};

        bench_values(bench, &point, &row, cell->samples[pass], cell->count);
    }
    if (cell->misplaced)
        bench_note(bench, "%s: %zu of %zu pages did not lie on node %u", cell->name,
                   cell->misplaced, cell->pages, cell->node);
}

static void run_rounds(struct bench *bench, struct matrix *matrix)
{
    for (unsigned round = 0; round < bench_rounds(bench); round++) {
        for (size_t i = matrix->count; i > 1; i--) {
            size_t k = (size_t)bench_random(bench, i), other = matrix->order[i - 1];

            matrix->order[i - 1] = matrix->order[k];
            matrix->order[k] = other;
        }
        for (size_t i = 0; i < matrix->count; i++) {
            struct cell *cell = &matrix->cells[matrix->order[i]];

            if (!cell->dead)
                run_cell(bench, matrix, cell);
        }
    }
}

static int run_size(struct bench *bench, size_t bytes)
{
    struct matrix matrix = {.bytes = bytes};
    int rc = okosu_place_list("/", &matrix.machine);

    if (!rc)
        rc = fill_cells(bench, &matrix);
    if (rc) {
        okosu_message("no matrix of CPUs and nodes", okosu_place_reason(), NULL);
    } else {
        run_rounds(bench, &matrix);
        for (size_t i = 0; i < matrix.count; i++) {
            if (matrix.cells[i].count)
                print_cell(bench, &matrix, &matrix.cells[i]);
        }
    }
    for (size_t i = 0; matrix.cells && i < matrix.count; i++) {
        free(matrix.cells[i].samples[FIRST]);
        free(matrix.cells[i].samples[SECOND]);
    }
    free(matrix.cells);
    free(matrix.order);
    okosu_place_drop(&matrix.machine);
    return rc;
}

static int sweep(struct bench *bench)
{
    const size_t paper = PAPER_BYTES, smoke = SMOKE_BYTES;
    size_t count;
    const size_t *sizes = bench_sizes(bench, bench_smoke(bench) ? &smoke : &paper, 1, 0, &count);
    int rc = 0;

    for (size_t i = 0; i < count && !rc; i++)
        rc = run_size(bench, sizes[i]);
    return rc;
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "numa",
        .doc = "Bandwidth at which each CPU writes memory of each NUMA node.",
        .routines = routines,
        .sweep = sweep,
    };

    if (okosu_place_mask(&allowed)) {
        okosu_message("no CPU to measure on", okosu_place_reason(), NULL);
        return 1;
    }
    return bench_main(argc, argv, &program);
}
