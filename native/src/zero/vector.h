/* SPDX-License-Identifier: Apache-2.0 */
/* vector: memset with vector stores, written once for all widths. The including file defines
 *
 *   WIDTH          bytes of a vector
 *   SPLAT(v, byte) declares v, a vector with the byte in every place
 *   PUT(p, v)      an unaligned store
 *   STREAM(p, v)   a non-temporal store to a multiple of WIDTH
 *   SMALL(p, byte, n, v)  n < WIDTH
 *   ENTRY(name, r)  the name of what serves route r on a machine whose widest vectors these are
 *   SET            instead of SMALL and ENTRY: a memset that there is already
 *
 * and gets set() and the entries, unless there is SET, and set_past_caches(). Two stores that may
 * overlap cover every size from their width to twice that, so that there is no loop for the tail and
 * no branch on alignment. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#ifndef SET
#include "zero/route.h"

#define SET set
/* At most eight vectors. */
static inline __attribute__((always_inline)) void *fill(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n;

    SPLAT(v, byte);
    if (n < WIDTH) {
        SMALL(p, byte, n, v);
        return start;
    }
    /* With the tests in this order no branch is taken up to two vectors, and one for each doubling
     * after that. */
    if (__builtin_expect(n <= 2 * WIDTH, 1)) {
        PUT(p, v);
        PUT(end - WIDTH, v);
        return start;
    }
    if (__builtin_expect(n <= 4 * WIDTH, 1)) {
        PUT(p, v);
        PUT(p + WIDTH, v);
        PUT(end - 2 * WIDTH, v);
        PUT(end - WIDTH, v);
        return start;
    }
    PUT(p, v);
    PUT(p + WIDTH, v);
    PUT(p + 2 * WIDTH, v);
    PUT(p + 3 * WIDTH, v);
    PUT(end - 4 * WIDTH, v);
    PUT(end - 3 * WIDTH, v);
    PUT(end - 2 * WIDTH, v);
    PUT(end - WIDTH, v);
    return start;
}

/* More than eight vectors: the first and the last four, and a loop from the first aligned address on
 * for what lies between them. */
static void *fill_long(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n - 4 * WIDTH;

    SPLAT(v, byte);
    for (size_t i = 0; i < 4 * WIDTH; i += WIDTH) {
        PUT(p + i, v);
        PUT(end + i, v);
    }
    p = (unsigned char *)(((uintptr_t)p + 4 * WIDTH) & -(uintptr_t)WIDTH);
    do {
        PUT(p, v);
        PUT(p + WIDTH, v);
        PUT(p + 2 * WIDTH, v);
        PUT(p + 3 * WIDTH, v);
        p += 4 * WIDTH;
    } while (p < end);
    return start;
}

static void *set(void *start, int byte, size_t n)
{
    return __builtin_expect(n <= 8 * WIDTH, 1) ? fill(start, byte, n) : fill_long(start, byte, n);
}

/* Up to eight vectors no choice is looked at: to find out what it is would take as long as the set
 * itself. */
static inline __attribute__((always_inline)) void *enter(size_t r, void *p, int byte, size_t n)
{
    if (__builtin_expect(n <= 8 * WIDTH, 1))
        return fill(p, byte, n);
    if (n < okosu_zero_route_below(r))
        return fill_long(p, byte, n);
    return okosu_zero_route_rest(r)(p, byte, n);
}

#define ENTRIES(r)                                                                                 \
    okosu_zero_set ENTRY(okosu_set, r);                                                            \
    okosu_zero_clear ENTRY(okosu_zero, r);                                                         \
    void *ENTRY(okosu_set, r)(void *p, int byte, size_t n)                                         \
    {                                                                                              \
        return enter(r, p, byte, n);                                                               \
    }                                                                                              \
    void *ENTRY(okosu_zero, r)(void *p, size_t n)                                                  \
    {                                                                                              \
        return enter(r, p, 0, n);                                                                  \
    }
ENTRIES(0)
ENTRIES(1)
ENTRIES(2)

#endif

/* Below this size most of the bytes lie in the part lines at both ends. */
enum { LEAST_STREAM = 512 };

static void *set_past_caches(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n;

    if (n < LEAST_STREAM)
        return SET(start, byte, n);
    SPLAT(v, byte);
    /* The first and the last line, whole or not, with ordinary stores. */
    for (size_t i = 0; i < 64; i += WIDTH) {
        PUT(p + i, v);
        PUT(end - 64 + i, v);
    }
    p = (unsigned char *)(((uintptr_t)p + 63) & -(uintptr_t)64);
    end = (unsigned char *)((uintptr_t)end & -(uintptr_t)64);
    for (; p < end; p += 64)
        for (size_t i = 0; i < 64; i += WIDTH)
            STREAM(p + i, v);
    _mm_sfence();
    return start;
}
