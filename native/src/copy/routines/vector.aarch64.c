/* SPDX-License-Identifier: Apache-2.0 */
/* neon: AArch64's baseline: vectors of 16 bytes. */
#define OKOSU_COPY_WIDTH 16
#define OKOSU_COPY_NAME(x) x##_neon
#include "copy/ends.h"

void *okosu_copy_neon(void *to, const void *from, size_t n)
{
    char *dst = to;
    const char *src = from;
    if (n <= OKOSU_COPY_SMALL) {
        okosu_copy_small(dst, src, n);
        return to;
    }
    if (n <= 8 * W)
        return ends4(dst, src, n);
    return okosu_copy_large_neon(to, from, n);
}

OKOSU_ROUTINE(copy, 60, neon) = {
    .about = {.name = "neon", .needs = OKOSU_CPU_NEON, .doc = "16-byte moves, 64 bytes a turn"},
    .copy = okosu_copy_neon,
    .move = okosu_copy_neon,
};
