/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for runs of chunks: maps it, advises it, checks it, moves it, returns it. The caller owns
 * the runs it names (USED or LEAVING), so nothing here takes a lock.
 *
 * 1. A chunk with `pages` = n has its first n pages mapped readable and writable.
 *
 * 2. A chunk is `advised` exactly while one granted chunk of the policy's budget is charged for it.
 *
 * 3. hugetlb pages are populated at once or not used: no later access can raise SIGBUS. */
#pragma once

#include "runs.h"
#include "sys.h"

struct okosu_span {
    char *base; /* address of chunk 0 */
    struct okosu_chunk *chunks;
};

static inline char *okosu_span_at(const struct okosu_span *s, uint32_t chunk)
{
    return s->base + (size_t)chunk * OKOSU_CHUNK;
}

/* Chunks that `bytes` bytes from a chunk's start reach into. */
static inline uint32_t okosu_span_chunks(size_t bytes)
{
    return (uint32_t)((bytes + OKOSU_CHUNK - 1) / OKOSU_CHUNK);
}

/* Makes the run at `first` hold `bytes` bytes; the chunks before `from` need nothing. A `fresh` run
 * holds nothing yet: it may become hugetlb, and its first chunk is populated and checked. 0 or
 * -errno. */
int okosu_commit(const struct okosu_span *s, uint32_t first, uint32_t from, size_t bytes,
                 bool fresh);

/* Whether `length` committed chunks are still mapped as okosu_commit() mapped them, as far as the
 * kernel can tell; their protection is made so. Of hugetlb chunks it can tell nothing. */
bool okosu_is_plain(const struct okosu_span *s, uint32_t first, uint32_t length);

/* Frees the memory of `length` chunks, and returns their share of the budget. */
void okosu_discard(const struct okosu_span *s, uint32_t first, uint32_t length);

/* Moves what `length` chunks hold to the fresh run `to`, which then holds `bytes` bytes. 0 or
 * -errno; on failure nothing was moved. */
int okosu_commit_moved(const struct okosu_span *s, uint32_t from, uint32_t to, uint32_t length,
                       size_t bytes);
