/* SPDX-License-Identifier: Apache-2.0 */
/* copy_broken: copies that are wrong, each in one way, which the checks must refuse. */
#include "routine_check.h"

static void *right(void *dst, const void *src, size_t n)
{
    const struct subject copy = {.copy = right};

    call_bytes(&copy, dst, src, 0, n);
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

/* Those that follow are right where the ranges do not overlap. */
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

const struct subject broken[] = {
    {.name = "last_missing", .copy = last_missing},
    {.name = "first_missing", .copy = first_missing},
    {.name = "one_before", .copy = one_before},
    {.name = "one_after", .copy = one_after},
    {.name = "end_returned", .copy = end_returned},
    {.name = "hole", .copy = hole},
    {.name = "aliased", .copy = aliased},
    {.name = "large_cut", .copy = large_cut},
    {.name = "nothing_written", .copy = nothing_written},
    {.name = "pair", .copy = pair},
    {.name = "forward_always", .copy = forward_always, .overlaps = true},
    {.name = "backward_always", .copy = backward_always, .overlaps = true},
    {.name = "one_distance", .copy = one_distance, .overlaps = true},
    {.name = "far_distance", .copy = far_distance, .overlaps = true},
    {.name = NULL},
};
