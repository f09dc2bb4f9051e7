/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call that large.c, maps.c and policy.c make, behind one table, so that tests inject
 * failures. Calls return 0 (or an address) or -errno, and leave errno alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OKOSU_PAGE ((size_t)4096)
#define OKOSU_CHUNK ((size_t)2 << 20)
#define OKOSU_CHUNK_PAGES (OKOSU_CHUNK / OKOSU_PAGE)

enum okosu_thp_state { OKOSU_THP_OK, OKOSU_THP_NEVER, OKOSU_THP_DISABLED, OKOSU_THP_ABSENT };

struct okosu_sys {
    /* An address, or -errno as a small negative number: test with okosu_sys_failed(). */
    intptr_t (*map)(void *where, size_t length, int prot, int flags);
    int (*unmap)(void *where, size_t length);
    /* Whether the range is mapped wholly, and with private anonymous memory that fork copies. Makes
     * it readable and writable. */
    bool (*is_plain)(void *where, size_t length);
    int (*advise)(void *where, size_t length, int advice);
    /* Moves private anonymous pages to `to`, leaving `from` mapped and empty. */
    int (*move)(void *from, void *to, size_t length);
    /* Page faults this thread has taken, those of MADV_POPULATE_WRITE included. */
    long (*faults)(void);
    /* Whether the chunk is one huge page: 1, 0, or -errno where the kernel cannot tell. */
    int (*is_huge)(const void *chunk);
    enum okosu_thp_state (*thp_state)(void);
    /* Whether the file of a descriptor lies in memory (tmpfs), and not on a device. */
    bool (*is_memory)(int fd);
    /* Bytes this process may still take: MemAvailable, and what its cgroups leave. */
    size_t (*available)(void);
    /* RLIMIT_AS in bytes, SIZE_MAX if there is none. */
    size_t (*address_limit)(void);
    /* About the highest address of this process. */
    uintptr_t (*address_top)(void);
    /* A number that differs from run to run and by `turn`, as the kernel's own placement does. */
    uint64_t (*random)(unsigned turn);
};

extern struct okosu_sys okosu_sys;

static inline bool okosu_sys_failed(intptr_t result)
{
    return result < 0 && result > -4096;
}
