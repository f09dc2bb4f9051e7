/* SPDX-License-Identifier: Apache-2.0 */
/* vector: memset with vector stores past the caches, written once for all widths. The including file
 * defines
 *
 *   WIDTH          bytes of a vector
 *   SPLAT(v, byte) declares v, a vector with the byte in every place
 *   PUT(p, v)      an unaligned store
 *   STREAM(p, v)   a non-temporal store to a multiple of WIDTH
 *   SET            a memset for what is too short to go past the caches
 *
 * and gets set_past_caches(). */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

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
