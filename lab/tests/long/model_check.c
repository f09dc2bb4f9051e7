/* SPDX-License-Identifier: Apache-2.0 */
/* model_check WHAT [N]: runs a marked region whose counts are known beforehand. It prints what else
 * the test needs, as numbers separated by blanks.
 *
 *   loop N      N rounds of two instructions and no access
 *   clear N     one REP STOSB of N bytes
 *   pages N     loads from N pages of 4 KiB, in turn, 100 times; prints the pages' frame numbers
 *   spread N    the same with pages of both nodes whose frame numbers are multiples of 4
 *   huge N      the same over N pages of 2 MiB, a load every 4 KiB, 10 times, announced
 *   unmarked N  the same without announcing them */
#include "work.h"

#include "mark.h"

#include <sys/syscall.h>

/* set_mempolicy's, of linux/mempolicy.h */
#define INTERLEAVE 3
#define BOTH_NODES 3ul
#define SPREAD_COLOURS 4

#define SMALL 4096ul
#define HUGE 2097152ul

static unsigned char *memory(size_t size)
{
    unsigned char *at =
        mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        work_fail("mmap");
    return at + (HUGE - (uintptr_t)at % HUGE) % HUGE;
}

static void walk(const unsigned char *at, size_t size, long rounds)
{
    for (long round = 0; round < rounds; round++)
        for (size_t i = 0; i < size; i += SMALL)
            __asm__ volatile("movb (%0), %%al" : : "r"(at + i) : "rax");
}

static void loop(long rounds)
{
    mark_begin();
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
    mark_end();
}

static void clear(long size)
{
    unsigned char *at = memory((size_t)size), *to = at;
    size_t count = (size_t)size;

    memset(at, 1, count);
    mark_begin();
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory");
    mark_end();
    if (at[0] || at[size - 1])
        work_wrong("clear");
}

/* Return the page frame of an address. */
static uint64_t frame_of(const unsigned char *at)
{
    int fd = open("/proc/self/pagemap", O_RDONLY);
    uint64_t entry = 0;

    if (pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)at / SMALL * sizeof(entry))) !=
        sizeof(entry))
        work_fail("pagemap");
    close(fd);
    return entry & ((UINT64_C(1) << 55) - 1);
}

static void pages(long count)
{
    unsigned char *at = memory((size_t)count * SMALL);

    if (madvise(at, (size_t)count * SMALL, MADV_NOHUGEPAGE))
        work_fail("madvise");
    memset(at, 1, (size_t)count * SMALL);
    for (long page = 0; page < count; page++)
        printf("%llu ", (unsigned long long)frame_of(at + (size_t)page * SMALL));
    mark_pages();
    walk(at, (size_t)count * SMALL, 2);
    mark_begin();
    walk(at, (size_t)count * SMALL, 100);
    mark_end();
}

static void chase(void **at, long steps)
{
    while (steps--)
        __asm__ volatile("mov (%0), %0" : "+r"(at));
}

static void spread(long count)
{
    const unsigned long nodes = BOTH_NODES;
    size_t size = 16 * (size_t)count * SMALL;
    unsigned char *at = memory(size);
    void **first = NULL, **last = NULL;
    long found = 0;

    if (syscall(SYS_set_mempolicy, INTERLEAVE, &nodes, 64ul))
        work_fail("set_mempolicy");
    if (madvise(at, size, MADV_NOHUGEPAGE))
        work_fail("madvise");
    memset(at, 1, size);
    for (size_t i = 0; i < size && found < count; i += SMALL) {
        uint64_t frame = frame_of(at + i);

        if (frame % SPREAD_COLOURS)
            continue;
        printf("%llu ", (unsigned long long)frame);
        if (last)
            *last = at + i;
        last = (void **)(void *)(at + i);
        first = first ? first : last;
        found++;
    }
    if (found < count)
        work_wrong("spread");
    *last = first;
    mark_pages();
    chase(first, 2 * count);
    mark_begin();
    chase(first, 100 * count);
    mark_end();
}

static void huge(long count, int announced)
{
    size_t size = (size_t)count * HUGE;
    unsigned char *at = memory(size);

    if (madvise(at, size, MADV_HUGEPAGE))
        work_fail("madvise");
    memset(at, 1, size);
    MARK(4);
    if (announced && mark_pages())
        work_fail("PAGEMAP_SCAN");
    walk(at, size, 2);
    mark_begin();
    walk(at, size, 10);
    mark_end();
}

int main(int argc, char **argv)
{
    long number = argc == 3 ? work_number(argv[2]) : 0;
    const char *what = argc == 3 ? argv[1] : "";

    mark_label((uint64_t)number);
    if (!strcmp(what, "loop"))
        loop(number);
    else if (!strcmp(what, "clear"))
        clear(number);
    else if (!strcmp(what, "pages"))
        pages(number);
    else if (!strcmp(what, "spread"))
        spread(number);
    else if (!strcmp(what, "huge") || !strcmp(what, "unmarked"))
        huge(number, *what == 'h');
    else
        return 2;
    printf("\n");
    return 0;
}
