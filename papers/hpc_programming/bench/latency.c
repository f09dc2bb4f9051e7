/* SPDX-License-Identifier: Apache-2.0 */
/* latency: the paper's ten dependent operations a pass by every compiler and option, and what the
 * core itself takes for one. */
#include "harness.h"
#include "latency_chains.h"
#include "latency_rows.h"
#include "paper.h"

#include <okosu/cpu.h>

#define CHAINS_LIMIT 32

#define ROW(compiler, option) extern const struct latency_paper latency_##compiler##_##option;
LATENCY_ROWS
#undef ROW
#define ROW(compiler, option) &latency_##compiler##_##option,
static const struct latency_paper *const latency_papers[] = {LATENCY_ROWS};
#undef ROW
#define PAPER_COUNT (sizeof(latency_papers) / sizeof(latency_papers[0]))

static const struct bench_routine routines[] = {
    {"ten-add", 0, 10, "pass", "ten dependent a = a + a a pass of a loop, as the paper wrote it"},
    {"ten-mul", 0, 10, "pass", "ten dependent a = a * a a pass of a loop, as the paper wrote it"},
    {"latency", 0, 0, "operation", "one double-precision operation waiting for the one before"},
    {NULL, 0, 0, NULL, NULL},
};

/* What the paper gives on its command line. */
static volatile double start;

static void run_add(void *arg, size_t calls)
{
    const struct latency_paper *paper = arg;

    for (size_t i = 0; i < calls; i++)
        bench_keep(paper->add(start));
}

static void run_mul(void *arg, size_t calls)
{
    const struct latency_paper *paper = arg;

    for (size_t i = 0; i < calls; i++)
        bench_keep(paper->mul(start));
}

static int run_paper(struct bench *bench)
{
    const struct bench_point point = {.n = 10,
                                      .items = LATENCY_PASSES,
                                      .place = "registers",
                                      .mode = "latency",
                                      .batch_us = bench_smoke(bench) ? 20 : 500};
    struct bench_row rows[2 * PAPER_COUNT];

    for (size_t i = 0; i < PAPER_COUNT; i++) {
        struct bench_row row = {.routine = "ten-add",
                                .variant = latency_papers[i]->variant,
                                .kind = "paper",
                                .library = "section 2",
                                .config = latency_papers[i]->config,
                                .run = run_add,
                                .arg = (void *)(uintptr_t)latency_papers[i]};

        rows[2 * i] = row;
        row.routine = "ten-mul";
        row.run = run_mul;
        rows[2 * i + 1] = row;
    }
    return bench_point_run(bench, &point, rows, 2 * PAPER_COUNT);
}

static int run_chains(struct bench *bench)
{
    const struct bench_point point = {
        .n = 1, .items = LATENCY_CHAIN, .place = "registers", .mode = "latency"};
    struct bench_row rows[CHAINS_LIMIT];
    size_t count = 0;

    for (const struct latency_chain *chain = latency_chains; chain->about.name; chain++) {
        if (chain->about.needs & ~okosu_cpu_features()) {
            bench_absent(bench, chain->about.name, "this CPU has no such instruction", NULL);
            continue;
        }
        rows[count++] = (struct bench_row){.routine = "latency",
                                           .variant = chain->about.name,
                                           .kind = "okosu",
                                           .config = chain->about.doc,
                                           .run = chain->run};
    }
    return bench_point_run(bench, &point, rows, count);
}

static int sweep(struct bench *bench)
{
    int rc = run_paper(bench);

    return rc ? rc : run_chains(bench);
}

static void list(struct bench *bench)
{
    for (size_t i = 0; i < PAPER_COUNT; i++) {
        struct okosu_variant about = {latency_papers[i]->variant, 0, latency_papers[i]->config};

        bench_list_variant(bench, &about);
    }
    for (const struct latency_chain *chain = latency_chains; chain->about.name; chain++)
        bench_list_variant(bench, &chain->about);
}

int main(int argc, char **argv)
{
    static const struct bench_program program = {
        .name = "latency",
        .doc = "Ten dependent operations as compilers make them, and one as the core has it.",
        .routines = routines,
        .sweep = sweep,
        .list = list,
    };

    return bench_main(argc, argv, &program);
}
