/* SPDX-License-Identifier: Apache-2.0 */
/* place: memory with a policy, from a mapping of its own. */
#include "base/file.h"
#include "nodes.h"
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

#define MIB 1048576.0

static size_t base_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of a transparent huge page; where the kernel has none, aligning to 2 MiB costs nothing. */
static size_t huge_page(void)
{
    char text[32];
    size_t bytes = 0;

    if (okosu_file_read(text, sizeof(text), "/",
                        "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") > 0)
        bytes = strtoul(text, NULL, 10);
    return bytes && (bytes & (bytes - 1)) == 0 ? bytes : 2097152;
}

/* Bytes of a page of the default pool, 0 where the kernel has no pool. */
static size_t pool_page(void)
{
    char text[8192], value[32];

    if (okosu_file_read(text, sizeof(text), "/", "/proc/meminfo") < 0 ||
        okosu_file_field(text, "Hugepagesize", value, sizeof(value)))
        return 0;
    return strtoul(value, NULL, 10) * 1024;
}

static int no_room(size_t bytes, int error)
{
    return okosu_place_fail(-error, "mmap of %.0f MiB: %s", (double)bytes / MIB, strerror(error));
}

static int map(struct okosu_place_memory *memory)
{
    void *at =
        mmap(NULL, memory->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return no_room(memory->mapped, errno);
    memory->at = at;
    return 0;
}

/* Map one huge page more than is needed and give back what lies outside the alignment. */
static int map_aligned(struct okosu_place_memory *memory, size_t align)
{
    size_t room = memory->mapped + align - memory->page, before, after;
    char *at;

    if (room < memory->mapped)
        return okosu_place_fail(-EINVAL, "the size overflows");
    at = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return no_room(room, errno);
    before = (align - (uintptr_t)at % align) % align;
    after = room - before - memory->mapped;
    if (before)
        munmap(at, before);
    if (after)
        munmap(at + before + memory->mapped, after);
    memory->at = at + before;
    return 0;
}

static int map_pool(struct okosu_place_memory *memory)
{
    void *at = mmap(NULL, memory->mapped, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

    if (at == MAP_FAILED && errno == ENOMEM)
        return okosu_place_fail(-ENOMEM,
                                "the pool of %zu kB pages has fewer than %zu free "
                                "(/proc/sys/vm/nr_hugepages)",
                                memory->page / 1024, memory->mapped / memory->page);
    if (at == MAP_FAILED)
        return no_room(memory->mapped, errno);
    memory->at = at;
    return 0;
}

/* Round up to whole pages and map. */
static int map_as(struct okosu_place_memory *memory, unsigned flags)
{
    memory->page = flags & OKOSU_PLACE_HUGETLB ? pool_page() : base_page();
    if (!memory->page)
        return okosu_place_fail(-ENOSYS, "this kernel has no pool of huge pages (hugetlbfs)");
    memory->mapped = (memory->bytes + memory->page - 1) / memory->page * memory->page;
    if (memory->bytes == 0 || memory->mapped < memory->bytes)
        return okosu_place_fail(-EINVAL, "the size is 0 or overflows");
    if (flags & OKOSU_PLACE_HUGETLB)
        return map_pool(memory);
    return flags & OKOSU_PLACE_HUGE ? map_aligned(memory, huge_page()) : map(memory);
}

/* Compare with what the nodes have, so that too large a request is an error here and not a case for
 * the OOM killer. */
static int check_room(const struct okosu_place_memory *memory, const struct okosu_cpuset *nodes)
{
    uint64_t room = 0;
    char list[PLACE_LIST];

    for (unsigned node = okosu_cpuset_next(nodes, 0); node < OKOSU_PLACE_NODES;
         node = okosu_cpuset_next(nodes, node + 1)) {
        uint64_t total, avail;

        okosu_place_sizes("/", node, &total, &avail);
        if (!total)
            return 0;
        room += avail;
    }
    if (room >= memory->mapped)
        return 0;
    return okosu_place_fail(-ENOMEM, "node %s has %.0f MiB, %.0f are wanted",
                            okosu_place_text(nodes, list), (double)room / MIB,
                            (double)memory->mapped / MIB);
}

/* Huge pages that the nodes lack would raise SIGBUS at the touch; populating returns -ENOMEM
 * instead. */
static int fill_pool(const struct okosu_place_memory *memory)
{
    if (madvise(memory->at, memory->mapped, MADV_POPULATE_WRITE) == 0)
        return 0;
    if (errno == EINVAL)
        return okosu_place_fail(-ENOTSUP, "MADV_POPULATE_WRITE needs Linux 5.14, and without it a "
                                          "page that the pool lacks would be a SIGBUS");
    return okosu_place_fail(-ENOMEM, "the pool of %zu kB pages has too few on these nodes: %s",
                            memory->page / 1024, strerror(errno));
}

/* On a machine with one node every policy has the same effect as first touch. */
static bool one_place(void)
{
    struct okosu_cpuset nodes;

    return !okosu_place_numa("/") ||
           (okosu_place_nodes("/", "has_memory", &nodes) == 0 && okosu_cpuset_count(&nodes) == 1);
}

static int set_policy(const struct okosu_place_memory *memory, enum okosu_place_policy policy,
                      const struct okosu_cpuset *nodes)
{
    int rc = okosu_place_bind(memory->at, memory->mapped, policy, nodes, 0);

    if ((rc == -ENOSYS || rc == -EPERM) && policy == OKOSU_PLACE_FIRST_TOUCH && one_place()) {
        okosu_place_begin();
        return 0;
    }
    return rc;
}

/* A kernel without transparent huge pages answers EINVAL, which is ignored. */
static void advise(const struct okosu_place_memory *memory, unsigned flags)
{
    if (flags & OKOSU_PLACE_HUGE)
        madvise(memory->at, memory->mapped, MADV_HUGEPAGE);
    if (flags & OKOSU_PLACE_SMALL)
        madvise(memory->at, memory->mapped, MADV_NOHUGEPAGE);
}

static int fill(const struct okosu_place_memory *memory, enum okosu_place_policy policy,
                const struct okosu_cpuset *nodes, unsigned flags)
{
    struct okosu_cpuset usable;
    int rc = 0;

    if (flags & OKOSU_PLACE_HUGETLB)
        return fill_pool(memory);
    if (!(flags & OKOSU_PLACE_TOUCH))
        return 0;
    if (policy == OKOSU_PLACE_BIND) {
        if (!nodes && okosu_place_usable("/", &usable) == 0)
            nodes = &usable;
        rc = nodes ? check_room(memory, nodes) : 0;
    }
    return rc ? rc : okosu_place_touch(memory, NULL, 0);
}

int okosu_place_alloc(struct okosu_place_memory *memory, size_t bytes,
                      enum okosu_place_policy policy, const struct okosu_cpuset *nodes,
                      unsigned flags)
{
    unsigned kinds = flags & (OKOSU_PLACE_HUGE | OKOSU_PLACE_SMALL | OKOSU_PLACE_HUGETLB);
    int rc;

    okosu_place_begin();
    *memory = (struct okosu_place_memory){.bytes = bytes};
    if (flags & ~(kinds | OKOSU_PLACE_TOUCH) || kinds & (kinds - 1))
        return okosu_place_fail(-EINVAL, "flags that do not go together, or that alloc has not");
    rc = map_as(memory, flags);
    if (rc)
        goto out;
    rc = set_policy(memory, policy, nodes);
    if (rc)
        goto out;
    advise(memory, flags);
    rc = fill(memory, policy, nodes, flags);
out:
    if (rc) {
        if (memory->at)
            munmap(memory->at, memory->mapped);
        *memory = (struct okosu_place_memory){0};
    }
    return rc;
}

int okosu_place_alloc_on(struct okosu_place_memory *memory, size_t bytes, unsigned node,
                         unsigned flags)
{
    struct okosu_cpuset nodes = {0};

    okosu_place_begin();
    *memory = (struct okosu_place_memory){0};
    if (node >= OKOSU_PLACE_NODES)
        return okosu_place_fail(-EINVAL, "nodes are numbered below %d", OKOSU_PLACE_NODES);
    okosu_cpuset_add(&nodes, node);
    return okosu_place_alloc(memory, bytes, OKOSU_PLACE_BIND, &nodes, flags);
}

int okosu_place_free(struct okosu_place_memory *memory)
{
    okosu_place_begin();
    if (memory->at && munmap(memory->at, memory->mapped))
        return okosu_place_fail(-errno, "munmap: %s", strerror(errno));
    *memory = (struct okosu_place_memory){0};
    return 0;
}
