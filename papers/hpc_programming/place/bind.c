/* SPDX-License-Identifier: Apache-2.0 */
/* place: sets the policy of memory that exists already, and says whether nodes can be bound to. */
#include "nodes.h"
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD_BITS (CHAR_BIT * sizeof(unsigned long))

/* The kernel takes maxnode for one more than the number of bits in the mask (get_nodes() in
 * mm/mempolicy.c), so the highest node's number would drop that node and the one before it. Bits
 * that this kernel has no nodes for are allowed to be there as long as they are zero. */
static int bind(void *at, size_t bytes, int mode, const struct okosu_cpuset *nodes, unsigned flags)
{
    unsigned long mask[OKOSU_PLACE_NODES / WORD_BITS] = {0};

    if (!nodes)
        return syscall(SYS_mbind, at, bytes, mode, NULL, 0UL, flags) ? errno : 0;
    for (unsigned node = okosu_cpuset_next(nodes, 0); node < OKOSU_PLACE_NODES;
         node = okosu_cpuset_next(nodes, node + 1))
        mask[node / WORD_BITS] |= 1UL << (node % WORD_BITS);
    return syscall(SYS_mbind, at, bytes, mode, mask, OKOSU_PLACE_NODES + 1UL, flags) ? errno : 0;
}

static int kernel_mode(enum okosu_place_policy policy)
{
    switch (policy) {
    case OKOSU_PLACE_BIND:
        return MPOL_BIND;
    case OKOSU_PLACE_INTERLEAVE:
        return MPOL_INTERLEAVE;
    case OKOSU_PLACE_FIRST_TOUCH:
        return MPOL_LOCAL;
    }
    return -1;
}

static int explain(int error, unsigned flags)
{
    switch (error) {
    case EIO:
        return okosu_place_fail(-EIO,
                                flags & OKOSU_PLACE_MOVE
                                    ? "mbind: some of the pages lie elsewhere and cannot be moved"
                                    : "mbind: some of the pages lie elsewhere already");
    case EFAULT:
        return okosu_place_fail(-EFAULT, "mbind: a part of the range is not mapped");
    case EINVAL:
        return okosu_place_fail(-EINVAL, "mbind: the range does not begin at a page, or its size "
                                         "overflows");
    default:
        return okosu_place_refused("mbind", error);
    }
}

int okosu_place_bind(void *at, size_t bytes, enum okosu_place_policy policy,
                     const struct okosu_cpuset *nodes, unsigned flags)
{
    int mode = kernel_mode(policy), error, rc;
    struct okosu_cpuset usable;

    okosu_place_begin();
    if (mode < 0 || flags & ~OKOSU_PLACE_MOVE)
        return okosu_place_fail(-EINVAL, "no such policy or flag");
    if (policy == OKOSU_PLACE_FIRST_TOUCH) {
        nodes = NULL;
    } else {
        if (!nodes) {
            rc = okosu_place_usable("/", &usable);
            nodes = &usable;
            if (rc)
                return okosu_place_refused("mbind", ENOSYS);
        }
        /* The kernel silently binds to only those of the nodes that are allowed. */
        rc = okosu_place_check("/", nodes);
        if (rc)
            return rc;
    }
    error = bind(at, bytes, mode, nodes,
                 MPOL_MF_STRICT | (flags & OKOSU_PLACE_MOVE ? MPOL_MF_MOVE : 0u));
    return error ? explain(error, flags) : 0;
}

int okosu_place_check(const char *root, const struct okosu_cpuset *nodes)
{
    struct okosu_cpuset online, memory, usable, wrong;
    char bad[PLACE_LIST], have[PLACE_LIST];

    okosu_place_begin();
    if (okosu_cpuset_count(nodes) == 0)
        return okosu_place_fail(-EINVAL, "no node was named");
    if (okosu_cpuset_next(nodes, OKOSU_PLACE_NODES) < OKOSU_CPU_LIMIT)
        return okosu_place_fail(-EINVAL, "nodes are numbered below %d", OKOSU_PLACE_NODES);
    if (okosu_place_with_memory(root, &memory) || okosu_place_usable(root, &usable))
        return okosu_place_fail(
            -ENOSYS, "this kernel knows no NUMA nodes: there is no /sys/devices/system/node");
    if (okosu_place_nodes(root, "online", &online))
        online = memory;
    wrong = okosu_cpuset_without(nodes, &online);
    if (okosu_cpuset_count(&wrong))
        return okosu_place_fail(-ENODEV, "there is no node %s; online: %s",
                                okosu_place_text(&wrong, bad), okosu_place_text(&online, have));
    wrong = okosu_cpuset_without(nodes, &memory);
    if (okosu_cpuset_count(&wrong))
        return okosu_place_fail(-ENODEV, "node %s has no memory; nodes with memory: %s",
                                okosu_place_text(&wrong, bad), okosu_place_text(&memory, have));
    wrong = okosu_cpuset_without(nodes, &usable);
    if (okosu_cpuset_count(&wrong))
        return okosu_place_fail(
            -EACCES,
            "node %s is not allowed to this process: its cpuset (Mems_allowed_list) has %s",
            okosu_place_text(&wrong, bad), okosu_place_text(&usable, have));
    return 0;
}
