/* SPDX-License-Identifier: Apache-2.0 */
/* topo: orders. Each CPU gets its rank within each place; an order is a choice of which rank weighs
 * most. */
#include <okosu/topo.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PACKAGE, NODE, L3, CORE, THREAD, LEVELS };

struct ranked {
    struct okosu_topo_cpu cpu;
    unsigned place[LEVELS]; /* names, outermost first */
    unsigned rank[LEVELS];  /* how many-th in the place around it, among the CPUs given */
};

static int compare(const unsigned *a, const unsigned *b, const unsigned char *weights)
{
    for (size_t i = 0; i < LEVELS; i++) {
        unsigned level = weights[i];

        if (a[level] != b[level])
            return a[level] < b[level] ? -1 : 1;
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    static const unsigned char weights[LEVELS] = {PACKAGE, NODE, L3, CORE, THREAD};

    return compare(((const struct ranked *)a)->place, ((const struct ranked *)b)->place, weights);
}

static int by_spread(const void *a, const void *b)
{
    static const unsigned char weights[LEVELS] = {THREAD, CORE, L3, NODE, PACKAGE};

    return compare(((const struct ranked *)a)->rank, ((const struct ranked *)b)->rank, weights);
}

/* From the one before in compact order: the outermost place that differs is one further, all within
 * it start at 0. */
static void rank_all(struct ranked *all, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        size_t level = 0;

        while (level < LEVELS - 1 && all[i].place[level] == all[i - 1].place[level]) {
            all[i].rank[level] = all[i - 1].rank[level];
            level++;
        }
        all[i].rank[level] = all[i - 1].rank[level] + 1;
    }
}

long okosu_topo_sort(struct okosu_topo_cpu *cpus, size_t count, enum okosu_topo_order order)
{
    struct ranked *all = calloc(count ? count : 1, sizeof(*all));
    size_t kept = 0;

    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct okosu_topo_cpu *cpu = &cpus[i];

        all[i].cpu = *cpu;
        memcpy(all[i].place, (unsigned[]){cpu->package, cpu->node, cpu->l3, cpu->core, cpu->cpu},
               sizeof(all[i].place));
    }
    qsort(all, count, sizeof(*all), by_place);
    rank_all(all, count);
    if (order == OKOSU_TOPO_SCATTER)
        qsort(all, count, sizeof(*all), by_spread);
    for (size_t i = 0; i < count; i++) {
        if (order != OKOSU_TOPO_ONE_PER_CORE || all[i].rank[THREAD] == 0)
            cpus[kept++] = all[i].cpu;
    }
    free(all);
    return (long)kept;
}
