/* SPDX-License-Identifier: Apache-2.0 */
/* place: which NUMA nodes there are, and which of them this process may bind memory to. */
#include "nodes.h"

#include "base/file.h"

#include <okosu/place.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int okosu_place_nodes(const char *root, const char *file, struct okosu_cpuset *nodes)
{
    char text[4096];
    long rc = okosu_file_read(text, sizeof(text), root, "/sys/devices/system/node/%s", file);
    int bad;

    if (rc < 0)
        return (int)rc;
    bad = okosu_cpulist_parse_set(text, nodes);
    if (bad)
        return bad;
    return okosu_cpuset_next(nodes, OKOSU_PLACE_NODES) < OKOSU_CPU_LIMIT ? -ERANGE : 0;
}

bool okosu_place_numa(const char *root)
{
    struct okosu_cpuset nodes;

    return okosu_place_nodes(root, "online", &nodes) == 0;
}

int okosu_place_status(const char *root, const char *key, struct okosu_cpuset *set)
{
    char status[16384], text[8192];
    long length = okosu_file_read(status, sizeof(status), root, "/proc/self/status");
    int rc;

    if (length < 0)
        return (int)length;
    rc = okosu_file_field(status, key, text, sizeof(text));
    return rc ? rc : okosu_cpulist_parse_set(text, set);
}

/* Linux has had has_memory since 2.6.24; without it, all nodes are taken to have memory. */
int okosu_place_with_memory(const char *root, struct okosu_cpuset *nodes)
{
    return okosu_place_nodes(root, "has_memory", nodes) == 0
               ? 0
               : okosu_place_nodes(root, "online", nodes);
}

int okosu_place_usable(const char *root, struct okosu_cpuset *nodes)
{
    struct okosu_cpuset memory, allowed;
    int rc = okosu_place_with_memory(root, &memory);

    if (rc)
        return rc;
    *nodes = okosu_place_status(root, "Mems_allowed_list", &allowed) == 0
                 ? okosu_cpuset_within(&memory, &allowed)
                 : memory;
    return 0;
}

/* "Node 0 MemFree:   23900924 kB" */
static uint64_t field(const char *text, const char *format, unsigned node)
{
    char key[64], value[64], *end;
    unsigned long long kib;

    snprintf(key, sizeof(key), format, node);
    if (okosu_file_field(text, key, value, sizeof(value)) || *value < '0' || *value > '9')
        return 0;
    kib = strtoull(value, &end, 10);
    return *end == ' ' && kib < UINT64_MAX / 1024 ? (uint64_t)kib * 1024 : 0;
}

void okosu_place_sizes(const char *root, unsigned node, uint64_t *total, uint64_t *avail)
{
    char text[8192];

    *total = *avail = 0;
    if (okosu_file_read(text, sizeof(text), root, "/sys/devices/system/node/node%u/meminfo", node) <
        0)
        return;
    *total = field(text, "Node %u MemTotal", node);
    *avail = field(text, "Node %u MemFree", node) + field(text, "Node %u Active(file)", node) +
             field(text, "Node %u Inactive(file)", node) +
             field(text, "Node %u SReclaimable", node);
}
