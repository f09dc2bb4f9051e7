/* SPDX-License-Identifier: Apache-2.0 */
/* place: the machine as this process may use it: CPUs, nodes, caches, distances. */
#include "base/file.h"
#include "nodes.h"
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 24576 /* as in topo: the longest list of CPUs */
#define LEVELS 8
#define INDICES 32

/* The CPUs whose cache of one level and kind is listed already. */
struct caches {
    const char *root;
    char text[TEXT_BYTES];
    struct okosu_cpuset done[LEVELS][3];
    size_t room;
};

static size_t kind_number(char kind)
{
    return kind == 'd' ? 0 : kind == 'i' ? 1 : 2;
}

static long read_cache(struct caches *c, unsigned cpu, unsigned index, const char *file)
{
    return okosu_file_read(c->text, sizeof(c->text), c->root,
                           "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, index, file);
}

/* A number with an optional K, M or G, 0 if it is none. */
static size_t read_size(struct caches *c, unsigned cpu, unsigned index, const char *file)
{
    static const char units[] = "KMG";
    unsigned long long value;
    const char *unit;
    unsigned shift;
    char *end;

    if (read_cache(c, cpu, index, file) <= 0 || c->text[0] < '0' || c->text[0] > '9')
        return 0;
    value = strtoull(c->text, &end, 10);
    if (*end == '\0')
        return (size_t)value;
    unit = strchr(units, *end);
    shift = unit ? (unsigned)(unit - units + 1) * 10 : 0;
    return unit && end[1] == '\0' && value <= SIZE_MAX >> shift ? (size_t)value << shift : 0;
}

static unsigned read_count(struct caches *c, unsigned cpu, unsigned index, const char *file)
{
    size_t value = read_size(c, cpu, index, file);

    return value <= UINT32_MAX ? (unsigned)value : 0;
}

static bool read_kind(struct caches *c, unsigned cpu, unsigned index, char *kind)
{
    if (read_cache(c, cpu, index, "type") < 0)
        return false;
    if (strcmp(c->text, "Data") == 0)
        *kind = 'd';
    else if (strcmp(c->text, "Instruction") == 0)
        *kind = 'i';
    else if (strcmp(c->text, "Unified") == 0)
        *kind = 'u';
    else
        return false;
    return true;
}

static struct okosu_place_cache *append(struct caches *c, struct okosu_place_machine *machine)
{
    if (machine->cache_count == c->room) {
        size_t room = c->room ? 2 * c->room : 16;
        struct okosu_place_cache *all = realloc(machine->caches, room * sizeof(*all));

        if (!all)
            return NULL;
        machine->caches = all;
        c->room = room;
    }
    memset(&machine->caches[machine->cache_count], 0, sizeof(machine->caches[0]));
    return &machine->caches[machine->cache_count++];
}

/* 0; -ENOENT: there is no such index; -ENOMEM. An index without a level or kind is passed over. */
static int add_cache(struct caches *c, struct okosu_place_machine *machine, unsigned cpu,
                     unsigned index)
{
    struct okosu_place_cache *cache;
    struct okosu_cpuset shared;
    unsigned level;
    char kind;

    if (read_cache(c, cpu, index, "level") == -ENOENT)
        return -ENOENT;
    level = read_count(c, cpu, index, "level");
    if (level < 1 || level >= LEVELS || !read_kind(c, cpu, index, &kind) ||
        okosu_cpuset_has(&c->done[level][kind_number(kind)], cpu))
        return 0;
    cache = append(c, machine);
    if (!cache)
        return -ENOMEM;
    cache->level = level;
    cache->kind = kind;
    cache->bytes = read_size(c, cpu, index, "size");
    cache->line = read_count(c, cpu, index, "coherency_line_size");
    cache->ways = read_count(c, cpu, index, "ways_of_associativity");
    cache->sets = read_count(c, cpu, index, "number_of_sets");
    if (read_cache(c, cpu, index, "shared_cpu_list") < 0 ||
        okosu_cpulist_parse_set(c->text, &shared) || !okosu_cpuset_has(&shared, cpu)) {
        memset(&shared, 0, sizeof(shared));
        okosu_cpuset_add(&shared, cpu);
    }
    cache->cpus = okosu_cpuset_within(&shared, &machine->cpus_set);
    for (size_t i = 0; i < OKOSU_CPU_LIMIT / 64; i++)
        c->done[level][kind_number(kind)].bits[i] |= shared.bits[i];
    return 0;
}

static int by_level(const void *a, const void *b)
{
    const struct okosu_place_cache *x = a, *y = b;
    unsigned first = okosu_cpuset_next(&x->cpus, 0), second = okosu_cpuset_next(&y->cpus, 0);

    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return first < second ? -1 : first > second;
}

static int list_caches(const char *root, struct okosu_place_machine *machine)
{
    struct caches *c = calloc(1, sizeof(*c));
    int rc = c ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < machine->cpu_count; i++) {
        c->root = root;
        for (unsigned index = 0; !rc && index < INDICES; index++)
            rc = add_cache(c, machine, machine->cpus[i].cpu, index);
        rc = rc == -ENOENT ? 0 : rc;
    }
    if (!rc && machine->cache_count)
        qsort(machine->caches, machine->cache_count, sizeof(machine->caches[0]), by_level);
    free(c);
    return rc;
}

/* A row has one number for each node that is online, in their order; a row of another form is left
 * unknown. */
static void read_distances(const char *root, struct okosu_place_machine *machine, size_t from)
{
    unsigned *row = machine->distances + from * machine->node_count;
    char text[8192], *at = text;
    size_t count = 0;

    if (okosu_file_read(text, sizeof(text), root, "/sys/devices/system/node/node%u/distance",
                        machine->nodes[from].number) < 0)
        return;
    while (count < machine->node_count && *at >= '0' && *at <= '9') {
        unsigned long value = strtoul(at, &at, 10);

        row[count++] = value <= 255 ? (unsigned)value : 0;
        at += strspn(at, " \t");
    }
    if (count != machine->node_count || *at)
        memset(row, 0, machine->node_count * sizeof(*row));
}

static int list_nodes(const char *root, struct okosu_place_machine *machine)
{
    struct okosu_cpuset online = {0}, usable = {0};
    size_t at = 0;

    machine->numa = okosu_place_nodes(root, "online", &online) == 0 && okosu_cpuset_count(&online);
    if (!machine->numa) {
        memset(&online, 0, sizeof(online));
        okosu_cpuset_add(&online, 0);
        usable = online;
    } else if (okosu_place_usable(root, &usable)) {
        usable = online;
    }
    machine->node_count = okosu_cpuset_count(&online);
    machine->nodes = calloc(machine->node_count, sizeof(*machine->nodes));
    machine->distances =
        calloc(machine->node_count * machine->node_count, sizeof(*machine->distances));
    if (!machine->nodes || !machine->distances)
        return -ENOMEM;
    for (unsigned number = okosu_cpuset_next(&online, 0); number < OKOSU_CPU_LIMIT;
         number = okosu_cpuset_next(&online, number + 1)) {
        struct okosu_place_node *node = &machine->nodes[at++];

        node->number = number;
        node->usable = okosu_cpuset_has(&usable, number);
        okosu_place_sizes(root, number, &node->total, &node->avail);
    }
    for (size_t i = 0; i < machine->cpu_count; i++) {
        size_t index = machine->numa ? okosu_place_find(machine, machine->cpus[i].node) : 0;

        if (index < machine->node_count)
            okosu_cpuset_add(&machine->nodes[index].cpus, machine->cpus[i].cpu);
    }
    for (size_t i = 0; machine->numa && i < machine->node_count; i++)
        read_distances(root, machine, i);
    return 0;
}

static int list_cpus(const char *root, struct okosu_place_machine *machine)
{
    bool live = strcmp(root, "/") == 0;
    struct okosu_cpuset mask;
    bool known = live ? okosu_place_mask(&mask) == 0
                      : okosu_place_status(root, "Cpus_allowed_list", &mask) == 0;
    int rc = okosu_topo_confined(root, &machine->cpus_set);
    long count;

    if (rc && !known)
        return rc;
    if (rc)
        machine->cpus_set = mask;
    machine->mask = known ? okosu_cpuset_within(&mask, &machine->cpus_set) : machine->cpus_set;
    machine->cpu_count = okosu_cpuset_count(&machine->cpus_set);
    if (!machine->cpu_count)
        return -EINVAL;
    machine->cpus = calloc(machine->cpu_count, sizeof(*machine->cpus));
    if (!machine->cpus)
        return -ENOMEM;
    count = okosu_topo_read(root, &machine->cpus_set, machine->cpus);
    if (count >= 0)
        count = okosu_topo_sort(machine->cpus, (size_t)count, OKOSU_TOPO_COMPACT);
    return count < 0 ? (int)count : 0;
}

int okosu_place_list(const char *root, struct okosu_place_machine *machine)
{
    int rc;

    okosu_place_begin();
    memset(machine, 0, sizeof(*machine));
    rc = list_cpus(root, machine);
    if (!rc)
        rc = list_nodes(root, machine);
    if (!rc)
        rc = list_caches(root, machine);
    if (rc) {
        okosu_place_drop(machine);
        return okosu_place_fail(rc, rc == -ENOMEM
                                        ? "no memory for the list"
                                        : "no CPU is known: /sys/devices/system/cpu/online "
                                          "and the affinity mask say nothing");
    }
    okosu_place_begin();
    return 0;
}

void okosu_place_drop(struct okosu_place_machine *machine)
{
    free(machine->cpus);
    free(machine->nodes);
    free(machine->caches);
    free(machine->distances);
    memset(machine, 0, sizeof(*machine));
}

size_t okosu_place_find(const struct okosu_place_machine *machine, unsigned node)
{
    for (size_t i = 0; i < machine->node_count; i++) {
        if (machine->nodes[i].number == node)
            return i;
    }
    return machine->node_count;
}
