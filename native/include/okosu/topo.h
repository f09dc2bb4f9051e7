/* SPDX-License-Identifier: Apache-2.0 */
/* topo: which package, node, last-level cache and core each CPU belongs to, and orders in which to
 * use them. */
#ifndef OKOSU_TOPO_H
#define OKOSU_TOPO_H

#include <okosu/api.h>
#include <okosu/cpulist.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each place is named by the lowest CPU in it (a NUMA node by its number), so the names are unique
 * across the machine, which the kernel's core_id and cache ids are not. */
struct okosu_topo_cpu {
    unsigned cpu;
    unsigned package;
    unsigned node;
    unsigned l3;
    unsigned core;
};

enum okosu_topo_order {
    OKOSU_TOPO_COMPACT,     /* SMT siblings side by side, then cores, caches, nodes, packages */
    OKOSU_TOPO_SCATTER,     /* over packages, nodes, caches and cores first, siblings last */
    OKOSU_TOPO_ONE_PER_CORE /* one hardware thread of each core, in compact order */
};

/* Read the places of the CPUs in `mask` from root/sys. Where sysfs does not tell (containers, old
 * kernels), all CPUs are taken to share one place, except that each CPU is then a core of its own.
 * `cpus` has room for okosu_cpuset_count(mask) entries. Returns how many were written, or
 * -ENOMEM. */
OKOSU_API long okosu_topo_read(const char *root, const struct okosu_cpuset *mask,
                               struct okosu_topo_cpu *cpus);
/* Sort the CPUs into the given order. Returns how many of them belong to it (they come first), or
 * -ENOMEM. */
OKOSU_API long okosu_topo_sort(struct okosu_topo_cpu *cpus, size_t count,
                               enum okosu_topo_order order);
/* The CPUs that are online below root. 0 or -errno. */
OKOSU_API int okosu_topo_online(const char *root, struct okosu_cpuset *online);
/* The CPUs that the cgroup of this process may use, which is the limit set by a container or a
 * batch system; all online CPUs where no cgroup limits them. 0 or -errno. */
OKOSU_API int okosu_topo_confined(const char *root, struct okosu_cpuset *cpus);

#ifdef __cplusplus
}
#endif

#endif
