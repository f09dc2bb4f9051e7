/* SPDX-License-Identifier: Apache-2.0 */
/* What the first touch of a huge page costs, and giving it back, marked for the model. ENGINE is what
 * clears pages: one that does ahead of their use, `thread` on a kernel that has the series as it is
 * to be sent; SWITCH:COUNT, on a kernel that has somebody else's, which clears all free pages once 1
 * is written to the pool's file SWITCH, and whose file COUNT says how many are clean; `free`, where
 * who frees a page clears it; or `none`, where a fault has to. In each of TIMES rounds the regions
 * are
 *
 *   label 1  PAGES faults on pages that are clean (not with `none`)
 *   label 2  PAGES faults on pages that the fault has to clear (not with `free`)
 *   label 3  after each of these faults, the end of the page's mapping
 *
 * A page is scanned after its fault. */
#ifndef OKOSU_ZERO_FAULT_H
#define OKOSU_ZERO_FAULT_H

#include "zero_pages.h"

#include "mark.h"

enum { CLEAN = 1, DIRTY = 2, GIVEN_BACK = 3 };

static uint64_t *map_or_end(size_t pages)
{
    uint64_t *at = zero_map(pages, 0);

    if (!at)
        work_fail("mmap");
    return at;
}

/* A small page of each is written to, so that the next fault on it would find what was there. */
static void dirty(size_t pages)
{
    uint64_t *at = map_or_end(pages);

    for (size_t i = 0; i < pages; i++)
        for (size_t word = 0; word < ZERO_WORDS; word += 512)
            zero_page_of(at, i)[word] = 1;
    zero_unmap(at, pages);
}

static inline void touch_marked(size_t pages, uint64_t label)
{
    uint64_t *at = map_or_end(pages);

    for (size_t i = 0; i < pages; i++) {
        volatile uint64_t *page = zero_page_of(at, i);

        mark_label(label);
        mark_begin();
        *page = 1;
        mark_end();
        mark_sleep();
        *page = 0;
        zero_scan((const uint64_t *)page, "a fault");
        *page = 1;
        mark_label(GIVEN_BACK);
        mark_begin();
        zero_unmap((uint64_t *)page, 1);
        mark_end();
        mark_sleep();
    }
}

static int by_files(const char *engine)
{
    return strchr(engine, ':') != NULL;
}

static void clear_by_files(const char *engine, long pages)
{
    char file[64];
    const char *count = strchr(engine, ':');

    snprintf(file, sizeof(file), "%.*s", (int)(count - engine), engine);
    zero_set_number(file, 1);
    zero_wait_count(count + 1, pages);
    zero_set_number(file, 0);
}

/* Have so many pages cleared ahead, and nothing more once they are. */
static void clear_ahead(const char *engine, long pages)
{
    if (by_files(engine)) {
        clear_by_files(engine, pages);
        return;
    }
    if (zero_by_thread(engine))
        zero_set_number("prezero_cpu_percent", 100);
    zero_ahead(engine, pages);
    zero_wait_clean(pages);
    zero_ahead(zero_by_thread(engine) ? engine : "cpu", 0);
}

static long served(const char *engine, int clean)
{
    if (zero_by_thread(engine) || !strcmp(engine, "free"))
        return zero_line("/proc/vmstat", clean ? "htlb_prezero_hit" : "htlb_prezero_miss");
    if (!strcmp(engine, "none") || by_files(engine))
        return 0;
    return zero_stat(clean ? "served_clean" : "served_dirty");
}

static inline int zero_fault(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: %s ENGINE PAGES [TIMES]\n", argv[0]);
        return 2;
    }
    const char *engine = argv[1];
    long pages = work_number(argv[2]);
    int at_free = !strcmp(engine, "free"), never = !strcmp(engine, "none");

    mark_sleep();
    /* Of large pages only as many can be had as the kernel was booted with. */
    if (zero_number("nr_hugepages") != pages)
        zero_set_number("nr_hugepages", pages);
    dirty((size_t)pages);
    long before[] = {served(engine, 0), served(engine, 1)};
    for (long round = 0; round < (argc == 4 ? work_number(argv[3]) : 1); round++) {
        if (!never && !at_free)
            clear_ahead(engine, pages);
        if (!never)
            touch_marked((size_t)pages, CLEAN);
        if (!at_free)
            touch_marked((size_t)pages, DIRTY);
    }
    printf("clean %ld dirty %ld\n", served(engine, 1) - before[1], served(engine, 0) - before[0]);
    return 0;
}

#endif
