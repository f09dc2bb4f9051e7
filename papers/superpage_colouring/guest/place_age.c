/* SPDX-License-Identifier: Apache-2.0 */
/* place_age STATE SEED: brings memory into a state, prints a line on stdout, and then holds the
 * memory that this takes until it is killed. A shell runs it in the background and waits for the
 * line:
 *
 *   mkfifo /tmp/ready; place_age aged 1 > /tmp/ready & read said < /tmp/ready
 *
 * No process may end in between: its pages would be the next ones to be used.
 *
 *   fresh   as after booting: free memory lies in large blocks. Some pages, up to 1024 by SEED, are
 *           taken first, so that what comes after does not begin at the same page with each seed.
 *   aged    as after weeks: all of free memory but what the kernel keeps back and RESERVE bytes
 *           is taken, page by page, and then half of the pages freed in an order that SEED draws.
 *
 * The line is {"pages": pages held, "free": bytes free then}. */
#include "work.h"

#include <stdint.h>
#include <sys/sysinfo.h>

enum { PAGE = 4096, RESERVE = 8 << 20, MOST_FRESH = 1024 };

static uint64_t random_state;

/* Draw a number below `below`, by xorshift64. */
static uint64_t draw(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 16) % below;
}

static size_t free_bytes(void)
{
    struct sysinfo info;

    if (sysinfo(&info))
        work_fail("sysinfo");
    return (size_t)info.freeram * info.mem_unit;
}

/* Return the bytes to leave free: the high watermark, 1.5 times the minimum, below which the kernel
 * would begin to reclaim. */
static size_t reserve(void)
{
    FILE *file = fopen("/proc/sys/vm/min_free_kbytes", "re");
    size_t kept;

    if (!file || fscanf(file, "%zu", &kept) != 1)
        work_fail("min_free_kbytes");
    fclose(file);
    return kept * 1024 / 2 * 3 + RESERVE;
}

static unsigned char *take(size_t pages)
{
    unsigned char *at =
        mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || madvise(at, pages * PAGE, MADV_NOHUGEPAGE))
        work_fail("mmap");
    for (size_t i = 0; i < pages; i++)
        at[i * PAGE] = 1;
    return at;
}

/* Free half of the pages, one call each, so that free neighbours are there only by chance. The array
 * that holds the order stays allocated: its pages, freed last, would be the next to be used. */
static void free_half(unsigned char *at, size_t pages)
{
    uint32_t *order = malloc(pages * sizeof(*order));

    if (!order)
        work_fail("malloc");
    for (size_t i = 0; i < pages; i++)
        order[i] = (uint32_t)i;
    for (size_t done = 0; done < pages / 2; done++) {
        size_t other = done + draw(pages - done);
        uint32_t page = order[other];

        order[other] = order[done];
        if (madvise(at + (size_t)page * PAGE, PAGE, MADV_DONTNEED))
            work_fail("madvise");
    }
}

static size_t age(int aged)
{
    size_t pages = aged ? (free_bytes() - reserve()) / PAGE : 1 + draw(MOST_FRESH);
    unsigned char *at = take(pages);

    if (!aged)
        return pages;
    free_half(at, pages);
    return pages - pages / 2;
}

int main(int argc, char **argv)
{
    int aged = argc == 3 && !strcmp(argv[1], "aged");

    if (argc != 3 || (!aged && strcmp(argv[1], "fresh") != 0)) {
        fprintf(stderr, "usage: %s fresh|aged SEED\n", argv[0]);
        return 2;
    }
    random_state = (uint64_t)work_number(argv[2]) * 0x9e3779b97f4a7c15u;
    size_t held = age(aged);
    printf("{\"pages\": %zu, \"free\": %zu}\n", held, free_bytes());
    fclose(stdout);
    for (;;)
        pause();
}
