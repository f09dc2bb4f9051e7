/* SPDX-License-Identifier: Apache-2.0 */
/* fault_methods: the ways to get memory that okosu-bench-fault compares. */
#ifndef OKOSU_BENCH_FAULT_METHODS_H
#define OKOSU_BENCH_FAULT_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_HUGE ((size_t)2 << 20)

enum fault_kind { FAULT_SMALL, FAULT_THP, FAULT_HUGETLB };

enum fault_how {
    FAULT_TOUCH,          /* one byte written to each page of a new mapping */
    FAULT_POPULATE,       /* mmap with MAP_POPULATE */
    FAULT_POPULATE_WRITE, /* MADV_POPULATE_WRITE on a new mapping */
    FAULT_EXISTS,         /* touch, mapped anew, of pages that a memfd holds */
    FAULT_EXISTS_MAP,     /* the same with its mmap and munmap */
    FAULT_EXISTS_CLEAR,   /* touch, and clear by okosu_zero_page() */
    FAULT_MAPPED,         /* touch of what is mapped */
    FAULT_TOUCH_READ,     /* one byte written to each page, and then all of it read */
    FAULT_TAKE,           /* a clean block of the pool, one byte written to it */
    FAULT_TAKE_READ,      /* the same, and all of it read, from memory */
    FAULT_TAKE_READ_AGAIN /* the same block each time, so that the caches have it */
};

struct fault_method {
    const char *routine, *variant, *doc;
    enum fault_kind kind;
    enum fault_how how;
};

/* Ended by a NULL routine. */
extern const struct fault_method fault_methods[];

/* What one method works on. All zero before fault_open(). */
struct fault_region {
    const struct fault_method *method;
    char *reserved; /* addresses of its own, so that no other mapping merges with it */
    char *base;     /* on a huge page's boundary */
    size_t bytes;   /* whole huge pages */
    int memfd;      /* -1: none */
    struct okosu_zero_pool *pool; /* base is its first block then; NULL: none */
    bool mapped;
};

/* What was seen in one run. */
struct fault_seen {
    uint64_t ticks;
    long faults;    /* page faults while the clock ran */
    long after;     /* and when every page was touched again */
    size_t huge_kb; /* of the region, in huge pages, by smaps */
};

size_t fault_page_bytes(const struct fault_method *method);

/* Reserve addresses. 0 or -errno. */
int fault_open(struct fault_region *region, const struct fault_method *method, size_t bytes);
void fault_close(struct fault_region *region);

/* Touch a quarter more memory of the method's kind, drop it from the caches and free it: its pages
 * are backed then. */
int fault_warm(const struct fault_region *region);
/* Fill the memfd that the method has, and map what it needs before the clock runs. 0 or -errno;
 * fault_unmap() undoes it, also where it failed half-way. */
int fault_map(struct fault_region *region);
void fault_unmap(struct fault_region *region);
/* Run the method once after fault_map(). 0 or -errno. */
int fault_run(struct fault_region *region, struct fault_seen *seen);
/* Touch, or populate, one huge page's worth at a time: ticks[i] of the i-th. */
int fault_run_chunks(struct fault_region *region, uint64_t *ticks);
/* Whether the run was what the method says: NULL, or what was not as it should be. */
const char *fault_wrong(const struct fault_region *region, const struct fault_seen *seen);

#endif
