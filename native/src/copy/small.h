/* SPDX-License-Identifier: Apache-2.0 */
/* small: copies of at most 64 bytes, by moves that overlap in the middle. Each reads all before it
 * writes any, so the ranges may overlap. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Integers at any address, which may alias any other type. */
typedef uint16_t okosu_u16 __attribute__((aligned(1), may_alias));
typedef uint32_t okosu_u32 __attribute__((aligned(1), may_alias));
typedef uint64_t okosu_u64 __attribute__((aligned(1), may_alias));
typedef uint64_t okosu_u128 __attribute__((vector_size(16), aligned(1), may_alias));

#define OKOSU_COPY_SMALL 64

/* Copies n bytes, between once and twice the size of `type`, by two moves that may overlap. */
#define OKOSU_COPY_TWO(type, dst, src, n)                                                          \
    do {                                                                                           \
        type first_ = *(const type *)(src);                                                        \
        type last_ = *(const type *)((src) + (n) - sizeof(type));                                  \
        *(type *)(dst) = first_;                                                                   \
        *(type *)((dst) + (n) - sizeof(type)) = last_;                                             \
    } while (0)

/* n is at most OKOSU_COPY_SMALL. Masked moves would need no branch, but a load of bytes that a
 * masked store wrote waits until that store has left the core, and what has just been copied is
 * often read at once. */
static inline __attribute__((always_inline)) void okosu_copy_small(char *dst, const char *src,
                                                                   size_t n)
{
    if (n >= 16) {
        if (n > 32) {
            okosu_u128 a = *(const okosu_u128 *)src, b = *(const okosu_u128 *)(src + 16);
            okosu_u128 c = *(const okosu_u128 *)(src + n - 32);
            okosu_u128 d = *(const okosu_u128 *)(src + n - 16);
            *(okosu_u128 *)dst = a;
            *(okosu_u128 *)(dst + 16) = b;
            *(okosu_u128 *)(dst + n - 32) = c;
            *(okosu_u128 *)(dst + n - 16) = d;
        } else {
            OKOSU_COPY_TWO(okosu_u128, dst, src, n);
        }
    } else if (n >= 8) {
        OKOSU_COPY_TWO(okosu_u64, dst, src, n);
    } else if (n >= 4) {
        OKOSU_COPY_TWO(okosu_u32, dst, src, n);
    } else if (n >= 2) {
        OKOSU_COPY_TWO(okosu_u16, dst, src, n);
    } else if (n) {
        *dst = *src;
    }
}
