/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping, advice and population of chunks (see commit.h).
 *
 * Only the first chunk of a block is populated, the rest is left to page faults. Populating a block
 * wholly was measured (allocate, fill, free; Zen, Linux 6.18): between 5 % slower and 5 % faster at
 * 4 and 16 MiB, 10-15 % slower at 64 MiB, where the zeroed chunks have left the cache before the
 * program writes to them. And it would make a block that is touched sparsely resident as a whole at
 * once. */
#include "commit.h"

#include "evidence.h"
#include "policy.h"

#include <errno.h>
#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define READ_WRITE (PROT_READ | PROT_WRITE)
#define ANYWHERE_FIXED (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)

static int map_over(char *where, size_t length, int prot, int flags)
{
    intptr_t got = okosu_sys.map(where, length, prot, ANYWHERE_FIXED | flags);

    return okosu_sys_failed(got) ? (int)got : 0;
}

/* Pages that chunk i of `length` must have when the last one needs `tail`. */
static size_t pages_wanted(uint32_t i, uint32_t length, size_t tail)
{
    return i + 1 == length ? tail : OKOSU_CHUNK_PAGES;
}

/* Maps what is missing of `length` chunks, each gap with one call: in a fresh run that is one
 * call. */
static int map_missing(const struct okosu_span *s, uint32_t first, uint32_t length, size_t tail)
{
    struct okosu_chunk *c = s->chunks + first;
    uint32_t i = 0, j;

    while (i < length) {
        char *start = okosu_span_at(s, first + i) + c[i].pages * OKOSU_PAGE, *end;
        int err;

        if (c[i].pages >= pages_wanted(i, length, tail)) {
            i++;
            continue;
        }
        for (j = i + 1; j < length && c[j].pages == 0; j++)
            ;
        end = okosu_span_at(s, first + j - 1) + pages_wanted(j - 1, length, tail) * OKOSU_PAGE;
        err = map_over(start, (size_t)(end - start), READ_WRITE, 0);
        if (err)
            return err;
        for (; i < j; i++)
            c[i].pages = (uint16_t)pages_wanted(i, length, tail);
    }
    return 0;
}

static void advise_missing(const struct okosu_span *s, uint32_t first, uint32_t length)
{
    struct okosu_chunk *c = s->chunks + first;
    uint32_t i, j, missing = 0;
    size_t granted;

    for (i = 0; i < length; i++)
        missing += !c[i].advised;
    granted = okosu_policy_grant(missing, OKOSU_KIND_THP);
    for (i = 0; i < length && granted; i = j) {
        j = i + 1;
        if (c[i].advised)
            continue;
        while (j < length && !c[j].advised && j - i < granted)
            j++;
        if (okosu_sys.advise(okosu_span_at(s, first + i), (j - i) * OKOSU_CHUNK, MADV_HUGEPAGE)) {
            okosu_reason_add(OKOSU_WHY_ADVICE_FAILED);
            break;
        }
        okosu_evidence_advised((j - i) * OKOSU_CHUNK);
        granted -= j - i;
        for (; i < j; i++)
            c[i].advised = true;
    }
    okosu_policy_return(granted);
}

/* A single fault for 2 MiB can only have been a huge page, and counting faults needs neither a
 * descriptor nor /proc. In doubt (a signal handler may have faulted meanwhile) the page tables are
 * read, where that is possible. */
static void populate_first(const struct okosu_span *s, uint32_t first)
{
    char *chunk = okosu_span_at(s, first);
    long before = okosu_sys.faults(), taken;
    int err = okosu_sys.advise(chunk, OKOSU_CHUNK, MADV_POPULATE_WRITE);

    if (err) {
        okosu_reason_add(err == -EINVAL ? OKOSU_WHY_NO_POPULATE : OKOSU_WHY_POPULATE_FAILED);
        return;
    }
    taken = okosu_sys.faults() - before;
    okosu_count(&okosu_counters.populated, OKOSU_CHUNK);
    okosu_policy_outcome(taken == 1 || okosu_sys.is_huge(chunk) == 1);
}

/* Puts up to `length` chunks of a fresh run on hugetlb pages: how many, all that were granted or
 * 0. */
static uint32_t commit_hugetlb(const struct okosu_span *s, uint32_t first, uint32_t length)
{
    size_t granted = okosu_policy_grant(length, OKOSU_KIND_HUGETLB), bytes = granted * OKOSU_CHUNK,
           i;
    char *start = okosu_span_at(s, first);

    if (!granted)
        return 0;
    if (map_over(start, bytes, READ_WRITE, MAP_HUGETLB | MAP_HUGE_2MB)) {
        okosu_reason_add(OKOSU_WHY_HUGETLB_EMPTY);
        okosu_policy_return(granted);
        return 0;
    }
    /* The chunks still count as missing after a failure, so the caller maps plain pages over
     * them. */
    if (okosu_sys.advise(start, bytes, MADV_POPULATE_WRITE)) {
        okosu_reason_add(OKOSU_WHY_HUGETLB_POPULATE);
        okosu_policy_return(granted);
        return 0;
    }
    for (i = 0; i < granted; i++) {
        s->chunks[first + i].pages = OKOSU_CHUNK_PAGES;
        s->chunks[first + i].advised = true;
        s->chunks[first + i].hugetlb = true;
    }
    okosu_evidence_advised(bytes);
    okosu_count(&okosu_counters.populated, bytes);
    okosu_count(&okosu_counters.huge_first_chunks, 1);
    return (uint32_t)granted;
}

/* Pages that the last chunk of `bytes` bytes needs: all of it where it may become a huge page. */
static size_t tail_pages(size_t bytes)
{
    size_t rest = bytes % OKOSU_CHUNK;

    if (okosu_policy_dense(bytes) == okosu_span_chunks(bytes))
        return OKOSU_CHUNK_PAGES;
    return (rest + OKOSU_PAGE - 1) / OKOSU_PAGE;
}

int okosu_commit(const struct okosu_span *s, uint32_t first, uint32_t from, size_t bytes,
                 bool fresh)
{
    uint32_t length = okosu_span_chunks(bytes), dense = (uint32_t)okosu_policy_dense(bytes);
    int err;

    if (fresh && okosu_policy_hugetlb())
        from = commit_hugetlb(s, first, dense);
    if (from < length) {
        err = map_missing(s, first + from, length - from, tail_pages(bytes));
        if (err) {
            okosu_reason_add(OKOSU_WHY_COMMIT_FAILED);
            return err;
        }
    }
    if (from < dense)
        advise_missing(s, first + from, dense - from);
    /* Whether it became huge could only be asked by calls that a filter may forbid. */
    if (fresh && s->chunks[first].advised && !s->chunks[first].hugetlb && !okosu_config.filtered)
        populate_first(s, first);
    return 0;
}

bool okosu_is_plain(const struct okosu_span *s, uint32_t first, uint32_t length)
{
    const struct okosu_chunk *c = s->chunks + first;
    uint32_t i, j;

    for (i = 0; i < length; i = j) {
        for (j = i + 1; j < length && c[j].hugetlb == c[i].hugetlb; j++)
            ;
        if (!c[i].hugetlb &&
            !okosu_sys.is_plain(okosu_span_at(s, first + i),
                                (j - 1 - i) * OKOSU_CHUNK + c[j - 1].pages * OKOSU_PAGE))
            return false;
    }
    return true;
}

void okosu_discard(const struct okosu_span *s, uint32_t first, uint32_t length)
{
    char *start = okosu_span_at(s, first);
    size_t bytes = length * OKOSU_CHUNK, advised = 0;
    uint32_t i;

    /* At the limit of mappings no hole can be punched; then at least the pages are freed. */
    if (map_over(start, bytes, PROT_NONE, MAP_NORESERVE))
        okosu_sys.advise(start, bytes, MADV_DONTNEED);
    for (i = 0; i < length; i++) {
        struct okosu_chunk *c = &s->chunks[first + i];

        advised += c->advised;
        c->pages = 0;
        c->advised = c->hugetlb = c->changed = false;
    }
    okosu_policy_return(advised);
}

/* Copies one chunk, onto a huge page if it came from one. */
static void copy_chunk(const struct okosu_span *s, uint32_t from, uint32_t to)
{
    struct okosu_chunk *a = &s->chunks[from], *b = &s->chunks[to];
    char *target = okosu_span_at(s, to);

    if (a->advised && b->pages == OKOSU_CHUNK_PAGES &&
        okosu_sys.advise(target, OKOSU_CHUNK, MADV_HUGEPAGE) == 0) {
        a->advised = false;
        b->advised = true;
    }
    memcpy(target, okosu_span_at(s, from), a->pages * OKOSU_PAGE);
}

/* Moves `length` chunks that are alike with one call, or one by one where they lie in several
 * mappings of the kernel's, or by copying where pages cannot be moved or are not all ours. A move
 * that failed may have unmapped its target. 0, or -ENOMEM with nothing of these chunks moved but
 * what `moved` counts. */
static int move_alike(const struct okosu_span *s, uint32_t from, uint32_t to, uint32_t length,
                      uint32_t *moved)
{
    struct okosu_chunk *a = &s->chunks[from], *b = &s->chunks[to];
    size_t bytes = (length - 1) * OKOSU_CHUNK + a[length - 1].pages * OKOSU_PAGE;
    uint32_t i;
    int err = 0;

    if (!a->hugetlb && !a->changed) {
        if (okosu_sys.move(okosu_span_at(s, from), okosu_span_at(s, to), bytes) == 0) {
            for (i = 0; i < length; i++) {
                b[i].advised = a[i].advised;
                a[i].advised = false;
            }
            *moved += length;
            return 0;
        }
        err = map_over(okosu_span_at(s, to), bytes, READ_WRITE, 0);
    }
    if (!err && length == 1) {
        copy_chunk(s, from, to);
        *moved += 1;
        return 0;
    }
    for (i = 0; i < length && !err; i++)
        err = move_alike(s, from + i, to + i, 1, moved);
    return err;
}

/* Undoes a move: the chunks at `from` are still mapped, but empty. */
static void move_back(const struct okosu_span *s, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t i;

    for (i = 0; i < length; i++) {
        struct okosu_chunk *a = &s->chunks[from + i], *b = &s->chunks[to + i];

        memcpy(okosu_span_at(s, from + i), okosu_span_at(s, to + i), a->pages * OKOSU_PAGE);
        a->advised = b->advised;
        b->advised = false;
    }
}

int okosu_commit_moved(const struct okosu_span *s, uint32_t from, uint32_t to, uint32_t length,
                       size_t bytes)
{
    const struct okosu_chunk *a = &s->chunks[from];
    uint32_t need = okosu_span_chunks(bytes), dense = (uint32_t)okosu_policy_dense(bytes);
    uint32_t moved = 0, end;
    int err = map_missing(s, to, need, tail_pages(bytes));

    while (!err && moved < length) {
        for (end = moved + 1;
             end < length && a[end - 1].pages == OKOSU_CHUNK_PAGES &&
             a[end].advised == a[moved].advised && a[end].hugetlb == a[moved].hugetlb &&
             a[end].changed == a[moved].changed;
             end++)
            ;
        err = move_alike(s, from + moved, to + moved, end - moved, &moved);
    }
    if (err) {
        move_back(s, from, to, moved);
        okosu_reason_add(OKOSU_WHY_COMMIT_FAILED);
        return err;
    }
    if (dense)
        advise_missing(s, to, dense);
    return 0;
}
