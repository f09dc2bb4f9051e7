/* SPDX-License-Identifier: Apache-2.0 */
/* zero_neighbour ENGINE PAGES: what of a working set the caches still hold after a huge page was
 * touched for the first time by the CPU that uses it. ENGINE is as in zero_fault.h. Regions, for the
 * model, each a walk through the set, a load of each of its lines:
 *
 *   label 1  PAGES of them, each after the first touch of a page that was cleared ahead
 *   label 2  each after one of a page that the fault had to clear
 *   label 3  each after no touch */
#include "zero_fault.h"

/* Half of a second-level cache of 1 MiB. */
enum { SET = 512 << 10, LINE = 64, UNTOUCHED = 3 };

static unsigned char set[SET] __attribute__((aligned(4096)));

static void walk(void)
{
    for (size_t i = 0; i < SET; i += LINE)
        (void)*(volatile unsigned char *)(set + i);
}

/* The model follows from the first walk on, so that it sees the set come into the caches. */
static void walk_marked(volatile uint64_t *touched, uint64_t label)
{
    mark_label(label);
    walk();
    walk();
    if (touched)
        *touched = 1;
    mark_begin();
    walk();
    mark_end();
    mark_sleep();
}

static void walk_after_touches(size_t pages, uint64_t label)
{
    uint64_t *at = map_or_end(pages);

    for (size_t i = 0; i < pages; i++) {
        walk_marked(zero_page_of(at, i), label);
        walk_marked(NULL, UNTOUCHED);
    }
    zero_unmap(at, pages);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s ENGINE PAGES\n", argv[0]);
        return 2;
    }
    long pages = work_number(argv[2]);

    mark_sleep();
    memset(set, 1, sizeof(set));
    zero_set_number("nr_hugepages", pages);
    dirty((size_t)pages);
    long before[] = {served(argv[1], 0), served(argv[1], 1)};
    clear_ahead(argv[1], pages);
    walk_after_touches((size_t)pages, CLEAN);
    walk_after_touches((size_t)pages, DIRTY);
    printf("clean %ld dirty %ld\n", served(argv[1], 1) - before[1], served(argv[1], 0) - before[0]);
    return 0;
}
