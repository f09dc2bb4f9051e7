/* SPDX-License-Identifier: Apache-2.0 */
/* libc: the C library's memcpy and memmove, for the sizes at which a profile finds none faster. */
#include "choose/libc.h"
#include "copy/rows.h"

static void *copy_libc(void *dst, const void *src, size_t n)
{
    return okosu_libc.copy(dst, src, n);
}

static void *move_libc(void *dst, const void *src, size_t n)
{
    return okosu_libc.move(dst, src, n);
}

OKOSU_ROUTINE(copy, 25, libc) = {
    .about = {.name = "libc", .doc = "the C library's own"},
    .copy = copy_libc,
    .move = move_libc,
};
