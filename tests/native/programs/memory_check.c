/* SPDX-License-Identifier: Apache-2.0 */
/* memory_check: canaries and guard pages. */
#include "memory_check.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void put_canaries(unsigned char *p, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        p[i] = (unsigned char)(i * 37 + 11);
}

void tell_difference(const unsigned char *got, const unsigned char *want, size_t room, size_t first)
{
    size_t i = 0;

    while (i < room && got[i] == want[i])
        i++;
    if (i < room)
        printf("byte %td is %d and not %d\n", (ptrdiff_t)i - (ptrdiff_t)first, got[i], want[i]);
    else
        printf("returns another address\n");
}

bool guarded_make(struct guarded *area, size_t inner)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    inner = (inner + page - 1) / page * page;
    area->bytes = inner + 2 * page;
    area->memory = mmap(NULL, area->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area->memory == MAP_FAILED)
        return false;
    area->first = area->memory + page;
    area->end = area->first + inner;
    return !mprotect(area->first, inner, PROT_READ | PROT_WRITE);
}

void guarded_drop(struct guarded *area)
{
    munmap(area->memory, area->bytes);
}
