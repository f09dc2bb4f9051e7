/* SPDX-License-Identifier: Apache-2.0 */
/* place: on which nodes pages really lie, asked with a move_pages call that moves no page. */
#include "reason.h"

#include <okosu/place.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 512

static bool is_mapped(void *page)
{
    unsigned char resident;

    return mincore(page, 1, &resident) == 0 || errno != ENOMEM;
}

/* move_pages returns -EFAULT both for an address outside every mapping and for the shared page of
 * zeros. */
static int count_page(struct okosu_place_count *count, void *page, int status)
{
    if (status >= 0 && status < OKOSU_PLACE_NODES)
        count->on[status]++;
    else if (status == -ENOENT || (status == -EFAULT && is_mapped(page)))
        count->absent++;
    else
        return okosu_place_fail(status < 0 ? status : -ERANGE, "move_pages: page %zu: %s",
                                count->pages, strerror(status < 0 ? -status : ERANGE));
    return 0;
}

int okosu_place_verify(const void *at, size_t bytes, struct okosu_place_count *count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)at / page, last = ((uintptr_t)at + bytes + page - 1) / page;

    okosu_place_begin();
    memset(count, 0, sizeof(*count));
    if (bytes && (uintptr_t)at + bytes < (uintptr_t)at)
        return okosu_place_fail(-EINVAL, "the size overflows");
    for (uintptr_t from = first; bytes && from < last; from += BATCH) {
        size_t some = last - from < BATCH ? last - from : BATCH;
        void *pages[BATCH];
        int status[BATCH];

        for (size_t i = 0; i < some; i++)
            pages[i] = (void *)((from + i) * page);
        if (syscall(SYS_move_pages, 0, some, pages, NULL, status, 0))
            return okosu_place_refused("move_pages", errno);
        for (size_t i = 0; i < some; i++) {
            int rc = count_page(count, pages[i], status[i]);

            if (rc)
                return rc;
            count->pages++;
        }
    }
    return 0;
}
