/* SPDX-License-Identifier: Apache-2.0 */
/* small: up to 16 bytes in general registers: two stores that may overlap cover every size between
 * their width and twice that. */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef uint16_t __attribute__((may_alias, aligned(1))) okosu_any16;
typedef uint32_t __attribute__((may_alias, aligned(1))) okosu_any32;
typedef uint64_t __attribute__((may_alias, aligned(1))) okosu_any64;

/* n <= 16 */
static inline void okosu_zero_upto16(unsigned char *p, int byte, size_t n)
{
    uint64_t eight = UINT64_C(0x0101010101010101) * (unsigned char)byte;

    if (n >= 8) {
        *(okosu_any64 *)p = eight;
        *(okosu_any64 *)(p + n - 8) = eight;
    } else if (n >= 4) {
        *(okosu_any32 *)p = (uint32_t)eight;
        *(okosu_any32 *)(p + n - 4) = (uint32_t)eight;
    } else if (n >= 2) {
        *(okosu_any16 *)p = (uint16_t)eight;
        *(okosu_any16 *)(p + n - 2) = (uint16_t)eight;
    } else if (n) {
        *p = (unsigned char)byte;
    }
}
