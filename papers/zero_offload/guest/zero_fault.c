/* SPDX-License-Identifier: Apache-2.0 */
/* zero_fault ENGINE PAGES: what the first touch of a huge page costs, marked for the model: PAGES
 * faults on pages that the engine has cleared (label 1), then as many on pages that the fault has
 * to clear (label 2). All of a page is scanned after its fault. The engine is `thread` on a kernel
 * that has the series as it is to be sent, with a thread and no engines. */
#include "zero_pages.h"

#include "mark.h"

static void touch_marked(long pages, uint64_t label)
{
    volatile uint64_t *at = zero_map((size_t)pages, 0);

    if (!at)
        work_fail("mmap");
    mark_label(label);
    for (long i = 0; i < pages; i++) {
        volatile uint64_t *page = zero_page_of((uint64_t *)at, (size_t)i);

        mark_begin();
        *page = 1;
        mark_end();
        *page = 0;
        zero_scan((const uint64_t *)page, "a fault");
    }
    zero_unmap((uint64_t *)at, (size_t)pages);
}

/* Have so many pages cleared ahead, and nothing more once they are. */
static void clear_ahead(const char *engine, long pages)
{
    if (!strcmp(engine, "thread")) {
        zero_set_number("prezero_cpu_percent", 100);
        zero_set_number("prezero_hugepages", pages);
        zero_wait_clean(pages);
        zero_set_number("prezero_hugepages", 0);
        return;
    }
    zero_set_number("zero_target", pages);
    zero_set("zero_engine", engine);
    zero_wait_clean(pages);
    zero_set_number("zero_target", 0);
    zero_set("zero_engine", "cpu");
}

static long served(const char *engine, int clean)
{
    if (!strcmp(engine, "thread"))
        return zero_line("/proc/vmstat", clean ? "htlb_prezero_hit" : "htlb_prezero_miss");
    return zero_stat(clean ? "served_clean" : "served_dirty");
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s ENGINE PAGES\n", argv[0]);
        return 2;
    }
    long pages = work_number(argv[2]);

    mark_sleep();
    zero_set_number("nr_hugepages", pages);
    clear_ahead(argv[1], pages);
    touch_marked(pages, 1);
    touch_marked(pages, 2);
    printf("clean %ld dirty %ld left %ld\n", served(argv[1], 1), served(argv[1], 0),
           zero_number("zeroed_hugepages"));
    return 0;
}
