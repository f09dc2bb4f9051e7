/* SPDX-License-Identifier: Apache-2.0 */
/* loop8: 8-byte stores in a loop, as the Linux kernel's memset falls back to; no vectors. */
#include "zero/rows.h"

#include <stdint.h>

typedef uint64_t __attribute__((may_alias, aligned(1))) word;

static void *set(void *p, int byte, size_t n)
{
    unsigned char *at = p, *end = at + n;
    uint64_t eight = UINT64_C(0x0101010101010101) * (unsigned char)byte;

    for (; end - at >= 64; at += 64)
        for (size_t i = 0; i < 64; i += 8)
            *(word *)(at + i) = eight;
    for (; end - at >= 8; at += 8)
        *(word *)at = eight;
    while (at < end)
        *at++ = (unsigned char)byte;
    return p;
}

OKOSU_ROUTINE(zero, 10, loop8) = {
    .about = {"loop8", 0, "8-byte stores in a loop"},
    .set = set,
};
