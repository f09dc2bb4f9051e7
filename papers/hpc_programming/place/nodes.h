/* SPDX-License-Identifier: Apache-2.0 */
/* nodes: what the system's files say of NUMA nodes and of this process's share of them. `root` is
 * the folder that has proc/ and sys/, "/" but in tests. */
#ifndef OKOSU_PLACE_NODES_H
#define OKOSU_PLACE_NODES_H

#include <okosu/cpulist.h>

#include <stdbool.h>
#include <stdint.h>

/* A list file below root/sys/devices/system/node as a set. 0 or -errno. */
int okosu_place_nodes(const char *root, const char *file, struct okosu_cpuset *nodes);
/* There are NUMA nodes below root. */
bool okosu_place_numa(const char *root);
/* A list line of root/proc/self/status as a set. 0 or -errno. */
int okosu_place_status(const char *root, const char *key, struct okosu_cpuset *set);
/* The nodes with memory. 0 or -errno. */
int okosu_place_with_memory(const char *root, struct okosu_cpuset *nodes);
/* The nodes that can be bound to: with memory, and allowed. 0 or -errno. */
int okosu_place_usable(const char *root, struct okosu_cpuset *nodes);
/* A node's memory in bytes, 0 where it is not told. */
void okosu_place_sizes(const char *root, unsigned node, uint64_t *total, uint64_t *avail);

#endif
