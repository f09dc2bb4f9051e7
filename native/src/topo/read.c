/* SPDX-License-Identifier: Apache-2.0 */
/* topo: reading. The file of one CPU lists all CPUs of the same package, cache or core, so that
 * a machine costs one read for each of those and not five for each CPU. */
#include "base/cgroup.h"
#include "base/file.h"

#include <okosu/topo.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Room for 8192 CPUs in the worst notation there is, every other one alone: 4096 numbers of 4
 * digits and a comma. */
#define LIST_BYTES 24576

/* What is being filled: the entries by CPU number, and a buffer for the files' texts. */
struct reading {
    const char *root;
    const struct okosu_cpuset *mask;
    struct okosu_topo_cpu *cpus;
    int *index; /* CPU number -> entry, -1 outside the mask */
    char *text;
};

static int read_set(const struct reading *r, struct okosu_cpuset *set, const char *file,
                    unsigned cpu, unsigned cache)
{
    long rc;

    if (strncmp(file, "cache/", 6) == 0)
        rc =
            okosu_file_read(r->text, LIST_BYTES, r->root,
                            "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu, cache, file + 6);
    else
        rc = okosu_file_read(r->text, LIST_BYTES, r->root,
                             "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, file);
    if (rc < 0)
        return (int)rc;
    return okosu_cpulist_parse_set(r->text, set);
}

/* The last-level cache below memory is level 3 nearly everywhere, and index 3 nearly always. */
static int read_l3(const struct reading *r, unsigned cpu, struct okosu_cpuset *set)
{
    for (unsigned i = 0; i < 8; i++) {
        unsigned cache = (i + 3) % 8;
        long rc = okosu_file_read(r->text, LIST_BYTES, r->root,
                                  "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu, cache);

        if (rc > 0 && strcmp(r->text, "3") == 0)
            return read_set(r, set, "cache/shared_cpu_list", cpu, cache);
    }
    return -ENOENT;
}

static int read_package(const struct reading *r, unsigned cpu, struct okosu_cpuset *set)
{
    int rc = read_set(r, set, "package_cpus_list", cpu, 0);

    /* Before Linux 5.3 the same lists had other names. */
    return rc == -ENOENT ? read_set(r, set, "core_siblings_list", cpu, 0) : rc;
}

static int read_core(const struct reading *r, unsigned cpu, struct okosu_cpuset *set)
{
    int rc = read_set(r, set, "core_cpus_list", cpu, 0);

    return rc == -ENOENT ? read_set(r, set, "thread_siblings_list", cpu, 0) : rc;
}

typedef int (*reader)(const struct reading *, unsigned, struct okosu_cpuset *);

/* Give each CPU the lowest number of its place, in the field at `offset`; `alone`: what to do where
 * sysfs is silent. */
static void fill(const struct reading *r, reader read, size_t offset, bool alone)
{
    struct okosu_cpuset done = {0};

    for (unsigned cpu = okosu_cpuset_next(r->mask, 0); cpu < OKOSU_CPU_LIMIT;
         cpu = okosu_cpuset_next(r->mask, cpu + 1)) {
        struct okosu_cpuset members;
        unsigned name;

        if (okosu_cpuset_has(&done, cpu))
            continue;
        if (read(r, cpu, &members) != 0 || !okosu_cpuset_has(&members, cpu)) {
            memset(&members, 0, sizeof(members));
            okosu_cpuset_add(&members, cpu);
            name = alone ? cpu : 0;
        } else {
            name = okosu_cpuset_next(&members, 0);
        }
        for (unsigned member = okosu_cpuset_next(&members, cpu); member < OKOSU_CPU_LIMIT;
             member = okosu_cpuset_next(&members, member + 1)) {
            okosu_cpuset_add(&done, member);
            if (r->index[member] >= 0)
                *(unsigned *)((char *)&r->cpus[r->index[member]] + offset) = name;
        }
    }
}

static void fill_nodes(const struct reading *r)
{
    struct okosu_cpuset nodes, members;

    if (okosu_file_read(r->text, LIST_BYTES, r->root, "/sys/devices/system/node/online") < 0 ||
        okosu_cpulist_parse_set(r->text, &nodes) != 0)
        return;
    for (unsigned node = okosu_cpuset_next(&nodes, 0); node < OKOSU_CPU_LIMIT;
         node = okosu_cpuset_next(&nodes, node + 1)) {
        if (okosu_file_read(r->text, LIST_BYTES, r->root, "/sys/devices/system/node/node%u/cpulist",
                            node) < 0 ||
            okosu_cpulist_parse_set(r->text, &members) != 0)
            continue;
        for (unsigned cpu = okosu_cpuset_next(&members, 0); cpu < OKOSU_CPU_LIMIT;
             cpu = okosu_cpuset_next(&members, cpu + 1)) {
            if (r->index[cpu] >= 0)
                r->cpus[r->index[cpu]].node = node;
        }
    }
}

long okosu_topo_read(const char *root, const struct okosu_cpuset *mask, struct okosu_topo_cpu *cpus)
{
    struct reading r = {.root = root, .mask = mask, .cpus = cpus};
    long count = -ENOMEM;

    r.index = malloc(OKOSU_CPU_LIMIT * sizeof(*r.index));
    r.text = malloc(LIST_BYTES);
    if (!r.index || !r.text)
        goto out;
    memset(r.index, -1, OKOSU_CPU_LIMIT * sizeof(*r.index));
    count = 0;
    for (unsigned cpu = okosu_cpuset_next(mask, 0); cpu < OKOSU_CPU_LIMIT;
         cpu = okosu_cpuset_next(mask, cpu + 1)) {
        cpus[count] = (struct okosu_topo_cpu){.cpu = cpu};
        r.index[cpu] = (int)count++;
    }
    fill(&r, read_package, offsetof(struct okosu_topo_cpu, package), false);
    fill(&r, read_l3, offsetof(struct okosu_topo_cpu, l3), false);
    fill(&r, read_core, offsetof(struct okosu_topo_cpu, core), true);
    fill_nodes(&r);
out:
    free(r.text);
    free(r.index);
    return count;
}

int okosu_topo_online(const char *root, struct okosu_cpuset *online)
{
    char text[4096];
    long rc = okosu_file_read(text, sizeof(text), root, "/sys/devices/system/cpu/online");

    return rc < 0 ? (int)rc : okosu_cpulist_parse_set(text, online);
}

/* A group without a cpuset of its own has its parent's, so the climb ends at the first group
 * that has the file. */
static bool read_cpuset(const char *folder, bool unified, void *data)
{
    struct okosu_cpuset cpuset, *cpus = data;
    char text[4096];

    if (okosu_file_read(text, sizeof(text), "/", "%s/%s", folder,
                        unified ? "cpuset.cpus.effective" : "cpuset.effective_cpus") <= 0)
        return false;
    if (okosu_cpulist_parse_set(text, &cpuset) == 0)
        *cpus = okosu_cpuset_within(cpus, &cpuset);
    return true;
}

int okosu_topo_confined(const char *root, struct okosu_cpuset *cpus)
{
    struct okosu_cgroup_walk walk;
    int rc = okosu_topo_online(root, cpus);

    if (!rc)
        okosu_cgroup_walk(&walk, root, "cpuset", read_cpuset, cpus);
    return rc;
}
