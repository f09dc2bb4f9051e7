/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* Which pages are of 2 MiB: the guest announces those of its program; all of the kernel's have one
 * size. */
#ifndef OKOSU_MODEL_PAGES_H
#define OKOSU_MODEL_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "shape.h"

struct pages {
    enum page_size kernel;
    uint64_t *huge; /* a bit for each 2 MiB of the lower half of the addresses */
};

/* 0 or -ENOMEM. */
int pages_make(struct pages *pages, enum page_size kernel);
void pages_free(struct pages *pages);
/* Record that `count` pages of 4 KiB from page number `start` on are mapped by pages of 1 << `shift`
 * bytes. False where that is impossible: another size, not aligned, or not in the lower half. */
bool pages_announce(struct pages *pages, uint64_t start, uint64_t count, uint64_t shift);
/* All pages of the lower half are 4 KiB again. */
void pages_forget(struct pages *pages);

static inline enum page_size pages_size(const struct pages *pages, uint64_t address)
{
    if (address >> 47)
        return pages->kernel;
    return pages->huge[address >> (HUGE_SHIFT + 6)] >> (address >> HUGE_SHIFT & 63) & 1 ? PAGE_2M
                                                                                        : PAGE_4K;
}

#endif
