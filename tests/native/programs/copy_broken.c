/* SPDX-License-Identifier: Apache-2.0 */
/* copy_broken: copies that are wrong, so that it is seen that the checks can fail. */
#include <stdint.h>

#include "copy_check.h"

#include <string.h>

static void *right(void *dst, const void *src, size_t n)
{
    copy_bytes(dst, src, n);
    return dst;
}

static void *last_missing(void *dst, const void *src, size_t n)
{
    return right(dst, src, n > 300 ? n - 1 : n);
}

static void *first_missing(void *dst, const void *src, size_t n)
{
    if (n == 17 && ((uintptr_t)dst & 63) == 61)
        right((char *)dst + 1, (const char *)src + 1, n - 1);
    else
        right(dst, src, n);
    return dst;
}

static void *one_before(void *dst, const void *src, size_t n)
{
    if (n == 512 && ((uintptr_t)src & 63) == 9)
        ((volatile char *)dst)[-1] = 0;
    return right(dst, src, n);
}

static void *one_after(void *dst, const void *src, size_t n)
{
    return right(dst, src, n == 3 ? 4 : n);
}

static void *end_returned(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    return n == 200 ? (char *)dst + n : dst;
}

static void *hole(void *dst, const void *src, size_t n)
{
    unsigned char *at = dst, kept = n > 2048 ? at[2048] : 0;
    right(dst, src, n);
    if (n > 2048)
        at[2048] = kept;
    return dst;
}

static void *aliased(void *dst, const void *src, size_t n)
{
    right(dst, src, n);
    if (n > 512 && (((uintptr_t)dst - (uintptr_t)src) & 4095) == 511)
        ((volatile char *)dst)[300] ^= 1;
    return dst;
}

static void *large_cut(void *dst, const void *src, size_t n)
{
    return right(dst, src, n > 60000 ? n & ~(size_t)63 : n);
}

static void *nothing_written(void *dst, const void *src, size_t n)
{
    return n ? right(dst, src, n) : NULL;
}

static void *pair(void *dst, const void *src, size_t n)
{
    return right(dst, src,
                 n == 257 && ((uintptr_t)dst & 63) == 50 && ((uintptr_t)src & 63) == 3 ? 256 : n);
}

/* The rest are right where nothing overlaps. */
static void *forward_always(void *dst, const void *src, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile char *)dst)[i] = ((const char *)src)[i];
    return dst;
}

static void *backward_always(void *dst, const void *src, size_t n)
{
    for (size_t i = n; i > 0; i--)
        ((volatile char *)dst)[i - 1] = ((const char *)src)[i - 1];
    return dst;
}

/* Blocks of 64 bytes, each read before it is written, from the wrong end at just one distance. */
static void *one_distance(void *dst, const void *src, size_t n)
{
    if ((uintptr_t)dst - (uintptr_t)src == 129 && n == 299)
        return forward_always(dst, src, n);
    return right(dst, src, n);
}

static void *far_distance(void *dst, const void *src, size_t n)
{
    if ((uintptr_t)src - (uintptr_t)dst == 4097 && n > 16384)
        return backward_always(dst, src, n);
    return right(dst, src, n);
}

const struct broken broken_table[] = {
    {"last_missing", last_missing, false},
    {"first_missing", first_missing, false},
    {"one_before", one_before, false},
    {"one_after", one_after, false},
    {"end_returned", end_returned, false},
    {"hole", hole, false},
    {"aliased", aliased, false},
    {"large_cut", large_cut, false},
    {"nothing_written", nothing_written, false},
    {"pair", pair, false},
    {"forward_always", forward_always, true},
    {"backward_always", backward_always, true},
    {"one_distance", one_distance, true},
    {"far_distance", far_distance, true},
    {NULL, NULL, false},
};
