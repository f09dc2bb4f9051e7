/* SPDX-License-Identifier: Apache-2.0 */
/* colour_blocks PAGES COLOURS MASK: touches PAGES pages of 4 KiB whose addresses have one colour in
 * the mode fold of so many COLOURS (1: pages one after the other), and prints how many blocks of
 * 2 MiB of free memory were whole before and after: {"before": N, "after": N, "colour": PAGES}. The
 * last is how many of the pages have the colour, of 16, that most of them have. MASK is as in
 * colour_pages. Needs root. */
#include "work.h"

#include <stdint.h>

#include "colour_mask.h"

#define PAGE 4096ul
/* SHARED: how many rows of colours have one shift, as a binary logarithm. */
enum { COUNTED = 16, ORDERS = 11, WHOLE = 9, SHARED = 2 };

/* Count the free blocks of all zones; one of order 10 is two. */
static long whole_blocks(void)
{
    FILE *file = fopen("/proc/buddyinfo", "re");
    char line[512];
    long found = 0;

    if (!file)
        work_fail("/proc/buddyinfo");
    while (fgets(line, sizeof(line), file)) {
        int at = 0, order = 0, more;
        long count;

        sscanf(line, "Node %*d, zone %*s %n", &at);
        while (at && order < ORDERS && sscanf(line + at, "%ld %n", &count, &more) == 1) {
            if (order >= WHOLE)
                found += count << (order - WHOLE);
            at += more;
            order++;
        }
    }
    fclose(file);
    return found;
}

/* The colour of a virtual page, without what its address space adds. */
static unsigned long fold(unsigned long number, unsigned long colours)
{
    int bits = __builtin_ctzl(colours);
    unsigned long rows = number >> (bits + SHARED);

    return (number + rows + (rows >> bits)) % colours;
}

static void count_frame(int fd, uintptr_t at, long *counts)
{
    uint64_t entry;

    if (pread(fd, &entry, sizeof(entry), (off_t)(at / PAGE * sizeof(entry))) != sizeof(entry))
        work_fail("/proc/self/pagemap");
    counts[(entry & ((UINT64_C(1) << 55) - 1)) % COUNTED]++;
}

int main(int argc, char **argv)
{
    static long counts[COUNTED];

    if (argc != 4) {
        fprintf(stderr, "usage: %s PAGES COLOURS MASK\n", argv[0]);
        return 2;
    }
    long pages = work_number(argv[1]), most = 0;
    unsigned long colours = (unsigned long)work_number(argv[2]);
    uint64_t mask = strtoull(argv[3], NULL, 16);
    int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        work_fail("/proc/self/pagemap");
    colour_mask(mask);
    /* A row of as many pages as there are colours has it once, but for a few rows that skip it. */
    size_t size = ((size_t)pages + 2) * colours * 2 * PAGE;
    unsigned char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || madvise(at, size, MADV_NOHUGEPAGE))
        work_fail("mmap");
    long before = whole_blocks(), touched = 0;

    for (size_t done = 0; done < size && touched < pages; done += PAGE) {
        if (fold((uintptr_t)(at + done) / PAGE, colours))
            continue;
        at[done] = 1;
        touched++;
    }
    long after = whole_blocks();

    for (size_t done = 0; done < size; done += PAGE)
        if (!fold((uintptr_t)(at + done) / PAGE, colours) && touched-- > 0)
            count_frame(fd, (uintptr_t)(at + done), counts);
    for (int colour = 0; colour < COUNTED; colour++)
        if (counts[colour] > most)
            most = counts[colour];
    printf("{\"before\": %ld, \"after\": %ld, \"colour\": %ld}\n", before, after, most);
    return fflush(stdout) ? 1 : 0;
}
