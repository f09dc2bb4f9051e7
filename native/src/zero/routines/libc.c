/* SPDX-License-Identifier: Apache-2.0 */
/* libc: the C library's memset, for the sizes at which a profile finds none faster. */
#include "choose/libc.h"
#include "zero/rows.h"

static void *set(void *p, int byte, size_t n)
{
    return okosu_libc.set(p, byte, n);
}

OKOSU_ROUTINE(zero, 15, libc) = {
    .about = {"libc", 0, "the C library's own"},
    .set = set,
};
