/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
#include "pages.h"

#include <errno.h>
#include <stdlib.h>

#define HALF_SHIFT 47
#define HUGE_PAGES (1ull << (HALF_SHIFT - HUGE_SHIFT))
#define PER_HUGE (1ull << (HUGE_SHIFT - PAGE_SHIFT))

int pages_make(struct pages *pages, enum page_size kernel)
{
    pages->kernel = kernel;
    /* 8 MiB, of which hardly any page is ever touched. */
    pages->huge = calloc(HUGE_PAGES / 64, sizeof(*pages->huge));
    return pages->huge ? 0 : -ENOMEM;
}

void pages_free(struct pages *pages)
{
    free(pages->huge);
    pages->huge = NULL;
}

bool pages_announce(struct pages *pages, uint64_t start, uint64_t count, uint64_t shift)
{
    uint64_t first = start / PER_HUGE, end;

    if (shift != PAGE_SHIFT && shift != HUGE_SHIFT)
        return false;
    if (start % PER_HUGE || count % PER_HUGE || start > HUGE_PAGES * PER_HUGE ||
        count > HUGE_PAGES * PER_HUGE - start)
        return false;
    end = first + count / PER_HUGE;
    for (uint64_t page = first; page < end; page++) {
        uint64_t bit = 1ull << page % 64;

        if (shift == HUGE_SHIFT)
            pages->huge[page / 64] |= bit;
        else
            pages->huge[page / 64] &= ~bit;
    }
    return true;
}

void pages_forget(struct pages *pages)
{
    /* Only words that are set are cleared: writing everywhere would make all of it resident. */
    for (uint64_t i = 0; i < HUGE_PAGES / 64; i++)
        if (pages->huge[i])
            pages->huge[i] = 0;
}
