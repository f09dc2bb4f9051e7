/* SPDX-License-Identifier: Apache-2.0 */
/* place: on which CPU a thread runs, on which NUMA node its memory lies, and which CPUs and nodes
 * can be chosen. Raw system calls; no libnuma. */
#ifndef OKOSU_PLACE_H
#define OKOSU_PLACE_H

#include <okosu/api.h>
#include <okosu/cpulist.h>
#include <okosu/topo.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Every node number is below this: Linux's NODES_SHIFT is at most 10. Sets of nodes are
 * okosu_cpusets whose members are below it. */
#define OKOSU_PLACE_NODES 1024

/* Why the last call of this area failed in this thread, as a sentence without a full stop: "node 1
 * is not allowed to this process: its cpuset (Mems_allowed_list) has 0". "" after a success. The
 * text lives until the thread's next call of this area. */
OKOSU_API const char *okosu_place_reason(void);

/* The CPUs that the calling thread may run on now. 0 or -errno. */
OKOSU_API int okosu_place_mask(struct okosu_cpuset *cpus);
/* Let the calling thread run on these CPUs only; `before` (may be NULL) gets the mask it had, for
 * okosu_place_unpin(). Unlike the system call, which drops CPUs silently, this is all or nothing:
 * -ENODEV: one of them is not online; -EACCES: not in the caller's cpuset; -EPERM: a seccomp
 * filter; -EINVAL: no CPU at all. After a failure the mask is what it was. */
OKOSU_API int okosu_place_pin(const struct okosu_cpuset *cpus, struct okosu_cpuset *before);
OKOSU_API int okosu_place_pin_cpu(unsigned cpu, struct okosu_cpuset *before);
/* Put back the mask that pin gave, less the CPUs that have gone since. 0 or -errno. */
OKOSU_API int okosu_place_unpin(const struct okosu_cpuset *before);

struct okosu_place_cache {
    unsigned level; /* 1, 2, ... */
    char kind;      /* 'd' data, 'i' instructions, 'u' both */
    size_t bytes;   /* bytes, line, ways and sets are 0 where sysfs does not tell */
    unsigned line;  /* bytes */
    unsigned ways;  /* associativity */
    unsigned sets;
    struct okosu_cpuset cpus; /* the usable CPUs that share it */
};

struct okosu_place_node {
    unsigned number;
    bool usable;           /* has memory, and the caller's cpuset allows it */
    uint64_t total, avail; /* bytes; avail: free or clean file cache. 0 where sysfs does not tell */
    struct okosu_cpuset cpus; /* usable CPUs of the node; empty for memory without CPUs */
};

/* Release with okosu_place_drop(). */
struct okosu_place_machine {
    bool numa;                    /* the kernel knows nodes; else there is one, number 0 */
    struct okosu_cpuset cpus_set; /* online, in the caller's cpuset: pin accepts these */
    struct okosu_cpuset mask;     /* those of cpus_set that the calling thread may run on now */
    size_t cpu_count, node_count, cache_count;
    struct okosu_topo_cpu *cpus;      /* the usable CPUs in compact order */
    struct okosu_place_node *nodes;   /* all that are online, ascending */
    struct okosu_place_cache *caches; /* each cache once, by level */
    unsigned *distances; /* node_count x node_count: [from * node_count + to], indices into nodes,
                            in the firmware's unit (10 is local); 0: not told */
};

/* Read the machine below root/sys and root/proc ("/": this machine). What sysfs does not tell, or
 * tells in a malformed way, is left out or 0 as said above. The mask is the live one if root is
 * "/", else that of root/proc/self/status. 0; -ENOMEM; -ENOENT, -EINVAL: no CPU is known. */
OKOSU_API int okosu_place_list(const char *root, struct okosu_place_machine *machine);
OKOSU_API void okosu_place_drop(struct okosu_place_machine *machine);
/* The index in machine->nodes of a node, or node_count if it is not there. */
OKOSU_API size_t okosu_place_find(const struct okosu_place_machine *machine, unsigned node);
/* Whether all these nodes can be bound to. 0; -ENODEV: one of them is not there or has no memory;
 * -EACCES: the cpuset or cgroup (Mems_allowed) forbids one; -ENOSYS: a kernel without NUMA;
 * -EINVAL: none, or a number of OKOSU_PLACE_NODES or more. */
OKOSU_API int okosu_place_check(const char *root, const struct okosu_cpuset *nodes);

enum okosu_place_policy {
    OKOSU_PLACE_BIND,       /* on these nodes and no others (MPOL_BIND) */
    OKOSU_PLACE_INTERLEAVE, /* page by page in turn over these nodes */
    /* On the node of the CPU that touches the page first (MPOL_LOCAL). On a machine with a single
     * node no system call is needed, so a refused one is no error. */
    OKOSU_PLACE_FIRST_TOUCH
};

#define OKOSU_PLACE_TOUCH 1u    /* fill all pages now */
#define OKOSU_PLACE_MOVE 2u     /* pages that are already there move (okosu_place_bind) */
#define OKOSU_PLACE_HUGE 4u     /* transparent huge pages wherever the kernel can */
#define OKOSU_PLACE_SMALL 8u    /* never transparent huge pages */
#define OKOSU_PLACE_HUGETLB 16u /* pages of the pool, of its default size; implies TOUCH */

struct okosu_place_memory {
    void *at;      /* aligned to `page`; with OKOSU_PLACE_HUGE to a transparent huge page */
    size_t bytes;  /* as asked for */
    size_t mapped; /* bytes rounded up to whole pages */
    size_t page;   /* bytes of a page of the mapping: the base page's or hugetlb's size */
};

/* Zeroed memory with a policy. nodes NULL: all usable ones (and it is ignored for FIRST_TOUCH).
 * flags: TOUCH and at most one of HUGE, SMALL, HUGETLB. 0, or what okosu_place_check() and
 * okosu_place_bind() say, or -ENOMEM: no room (address space, pool of huge pages, or with TOUCH and
 * BIND the nodes: touching more than they have would end in the OOM killer), -EINVAL: bytes 0 or
 * too large, or the flags; -ENOTSUP: HUGETLB before Linux 5.14. */
OKOSU_API int okosu_place_alloc(struct okosu_place_memory *memory, size_t bytes,
                                enum okosu_place_policy policy, const struct okosu_cpuset *nodes,
                                unsigned flags);
/* The common case: bound to one node. */
OKOSU_API int okosu_place_alloc_on(struct okosu_place_memory *memory, size_t bytes, unsigned node,
                                   unsigned flags);
OKOSU_API int okosu_place_free(struct okosu_place_memory *memory);

/* Set the policy of whole pages that exist already: mbind with MPOL_MF_STRICT. `at` is
 * page-aligned. flags: MOVE or 0. 0; -EIO: pages lie elsewhere (and, with MOVE, could not all be
 * moved); -EPERM: a seccomp filter; -ENOSYS; -EFAULT: not mapped; -EINVAL. */
OKOSU_API int okosu_place_bind(void *at, size_t bytes, enum okosu_place_policy policy,
                               const struct okosu_cpuset *nodes, unsigned flags);

/* Touch each page, by writing a byte that it holds already: in slices of equal size, slice i by a
 * thread on cpus[i], so that with FIRST_TOUCH it lies near that CPU. count 0: by the caller, all.
 * 0, -errno of the first thread that could not be made or pinned (then parts may be touched). */
OKOSU_API int okosu_place_touch(const struct okosu_place_memory *memory, const unsigned *cpus,
                                size_t count);

/* Where pages are, counted in base pages whatever the size of the pages that hold them. */
struct okosu_place_count {
    size_t pages;                 /* all pages of the range */
    size_t absent;                /* not in memory yet, or only the kernel's shared page of zeros */
    size_t on[OKOSU_PLACE_NODES]; /* the other pages, by node */
};

/* Ask the kernel (move_pages) where the pages that hold these bytes are. 0; -EPERM: a seccomp
 * filter; -ENOSYS; -EFAULT: not mapped; -ENOMEM. */
OKOSU_API int okosu_place_verify(const void *at, size_t bytes, struct okosu_place_count *count);

#ifdef __cplusplus
}
#endif

#endif
