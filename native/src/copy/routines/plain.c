/* SPDX-License-Identifier: Apache-2.0 */
/* plain: the variants that any processor can run: the byte loop that is the reference, and the
 * 8-byte loop that a kernel falls back to (Linux's memcpy_orig). */
#include "copy/rows.h"
#include "copy/small.h"

static void *copy_ref(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    for (size_t i = 0; i < n; i++)
        dst[i] = src[i];
    return to;
}

static void *move_ref(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    if ((uintptr_t)dst - (uintptr_t)src >= n)
        return copy_ref(to, from, n);
    while (n--)
        dst[n] = src[n];
    return to;
}

static void *copy_loop8(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    size_t i = 0;
    for (; n - i >= 8; i += 8)
        *(okosu_u64 *)(dst + i) = *(const okosu_u64 *)(src + i);
    for (; i < n; i++)
        dst[i] = src[i];
    return to;
}

static void *move_loop8(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    if ((uintptr_t)dst - (uintptr_t)src >= n)
        return copy_loop8(to, from, n);
    for (; n >= 8; n -= 8)
        *(okosu_u64 *)(dst + n - 8) = *(const okosu_u64 *)(src + n - 8);
    while (n--)
        dst[n] = src[n];
    return to;
}

OKOSU_ROUTINE(copy, 10, ref) = {
    .about = {.name = "ref", .doc = "a loop over bytes"},
    .copy = copy_ref,
    .move = move_ref,
};

OKOSU_ROUTINE(copy, 20, loop8) = {
    .about = {.name = "loop8",
              .doc = "a loop over 8-byte words, as a kernel without string copies has it"},
    .copy = copy_loop8,
    .move = move_loop8,
};
