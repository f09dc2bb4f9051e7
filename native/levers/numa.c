/* SPDX-License-Identifier: Apache-2.0 */
/* Numa: on which nodes the program's memory lies, by set_mempolicy. The nodes are checked before
 * the call, because its EINVAL explains nothing. */
#include "lever.h"

#include "base/file.h"

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <string.h>

#define WORD_BITS (CHAR_BIT * sizeof(unsigned long))

static const char *list(struct okosu_plan *plan, const struct okosu_cpuset *set)
{
    char text[OKOSU_NODE_LIMIT * 5];

    if (okosu_cpulist_format(set, text, sizeof(text)) < 0)
        return "(too many to list)";
    return okosu_arena_strndup(&plan->arena, text, strlen(text));
}

static int read_nodes(const char *root, const char *file, struct okosu_cpuset *nodes)
{
    char text[4096];
    long rc = okosu_file_read(text, sizeof(text), root, "/sys/devices/system/node/%s", file);

    return rc < 0 ? (int)rc : okosu_cpulist_parse_set(text, nodes);
}

/* The nodes that set_mempolicy would accept: those with memory that the cpuset of this process
 * allows. */
static int usable_nodes(struct okosu_plan *plan, const char *root, struct okosu_cpuset *usable)
{
    struct okosu_cpuset memory, allowed;
    char status[8192], text[4096];

    if (read_nodes(root, "has_memory", &memory) && read_nodes(root, "online", &memory))
        return okosu_plan_refuse(
            plan, -ENOSYS, "this kernel knows no NUMA nodes: there is no /sys/devices/system/node",
            "leave numa out: all memory is equally far here");
    *usable = memory;
    if (okosu_file_read(status, sizeof(status), root, "/proc/self/status") > 0 &&
        okosu_file_field(status, "Mems_allowed_list", text, sizeof(text)) == 0 &&
        okosu_cpulist_parse_set(text, &allowed) == 0)
        *usable = okosu_cpuset_within(&memory, &allowed);
    return 0;
}

static int check_nodes(struct okosu_plan *plan, const char *root, const struct okosu_cpuset *wanted,
                       const struct okosu_cpuset *usable)
{
    struct okosu_cpuset online, missing = okosu_cpuset_without(wanted, usable), absent;
    const char *fix, *why;

    if (okosu_cpuset_count(&missing) == 0)
        return 0;
    fix = okosu_arena_printf(&plan->arena,
                             "choose from the nodes %s, or have the cpuset (cpuset.mems) widened",
                             list(plan, usable));
    if (read_nodes(root, "online", &online))
        online = *usable;
    absent = okosu_cpuset_without(&missing, &online);
    if (okosu_cpuset_count(&absent)) {
        why = okosu_arena_printf(&plan->arena, "there is no node %s; online: %s",
                                 list(plan, &absent), list(plan, &online));
        fix = okosu_arena_printf(&plan->arena, "choose from the nodes %s", list(plan, usable));
    } else {
        why = okosu_arena_printf(
            &plan->arena,
            "node %s has no memory or is not allowed to this process; requested %s, allowed %s",
            list(plan, &missing), list(plan, wanted), list(plan, usable));
    }
    return okosu_plan_refuse(plan, -ENODEV, why, fix);
}

/* Which policy a value names, and its parameter; the parameter is "" where there is none. */
static int read_value(const char *value, int *policy, const char **nodes)
{
    static const struct {
        const char *word;
        int policy;
    } words[] = {
        {"bind", MPOL_BIND}, {"interleave", MPOL_INTERLEAVE}, {"preferred", MPOL_PREFERRED}};

    *nodes = "";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        const char *parameter = okosu_lever_parameter(value, words[i].word);

        if (parameter) {
            *policy = words[i].policy;
            *nodes = parameter;
            return *parameter ? 0 : -EINVAL;
        }
    }
    if (strcmp(value, "interleave") == 0)
        *policy = MPOL_INTERLEAVE;
    else if (strcmp(value, "local") == 0)
        *policy = MPOL_LOCAL;
    else
        return -EINVAL;
    return 0;
}

static int apply(struct okosu_plan *plan, const char *value, const struct okosu_context *context)
{
    struct okosu_cpuset wanted, usable;
    const char *nodes;
    int policy, rc;

    if (read_value(value, &policy, &nodes) || okosu_cpulist_parse_set(nodes, &wanted) ||
        okosu_cpuset_next(&wanted, OKOSU_NODE_LIMIT) < OKOSU_CPU_LIMIT)
        return okosu_plan_refuse(plan, -EINVAL,
                                 "NODES is a list such as 0 or 0-1,3, NODE a single number",
                                 "see okosu-run --help");
    if (policy == MPOL_PREFERRED && okosu_cpuset_count(&wanted) != 1)
        return okosu_plan_refuse(plan, -EINVAL, "preferred takes a single node",
                                 "--numa=bind:NODES takes several");
    rc = usable_nodes(plan, context->root, &usable);
    if (rc)
        return rc;
    if (policy == MPOL_INTERLEAVE && !*nodes)
        wanted = usable;
    rc = check_nodes(plan, context->root, &wanted, &usable);
    if (rc)
        return rc;

    plan->policy = policy;
    plan->policy_lever = okosu_arena_printf(&plan->arena, "numa=%s", value);
    if (!plan->policy_lever)
        return -ENOMEM;
    for (unsigned node = okosu_cpuset_next(&wanted, 0); node < OKOSU_NODE_LIMIT;
         node = okosu_cpuset_next(&wanted, node + 1))
        plan->nodes[node / WORD_BITS] |= 1UL << (node % WORD_BITS);
    return 0;
}

static const struct okosu_value values[] = {
    {.value = "bind:NODES", .doc = "memory from these nodes only"},
    {.value = "interleave", .doc = "pages in turn over all nodes that are allowed"},
    {.value = "interleave:NODES", .doc = "pages in turn over these nodes"},
    {.value = "local", .doc = "memory from the node of the CPU that touches it first"},
    {.value = "preferred:NODE", .doc = "memory from this node while it has some"},
    {0},
};

static const char *const observes[] = {"numa", NULL};

const struct okosu_lever okosu_lever_numa = {
    .name = "numa",
    .doc = "on which NUMA nodes the program's memory lies",
    .default_value = "local",
    .values = values,
    .observes = observes,
    .apply = apply,
};
