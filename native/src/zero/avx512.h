/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avx512: what vector.h needs for 64-byte stores. Included by the row and by the entries.
 *
 * The vector is kept in zmm16, which no SSE or AVX instruction can name: then the upper halves of
 * the first sixteen registers stay as they were, and nothing has to be cleaned with vzeroupper.
 * Compilers promise a register to asm operands alone, hence the stores in asm. It is volatile, so
 * that nothing of it is moved before the test that says whether this CPU has these instructions.
 */
#ifndef OKOSU_ZERO_AVX512_H
#define OKOSU_ZERO_AVX512_H

#include "small.h"

#include <immintrin.h>

struct okosu_zero_line {
    unsigned char bytes[64];
};
struct okosu_zero_half {
    unsigned char bytes[32];
};
struct okosu_zero_quarter {
    unsigned char bytes[16];
};

#define WIDTH 64
#define SPLAT(v, byte)                                                                             \
    register __m512i v __asm__("zmm16");                                                           \
    if (__builtin_constant_p(byte) && (byte) == 0)                                                 \
        __asm__ volatile("vpxord %0, %0, %0" : "=v"(v));                                           \
    else                                                                                           \
        __asm__ volatile("vpbroadcastb %1, %0" : "=v"(v) : "r"(byte))
#define PUT(p, v)                                                                                  \
    __asm__ volatile("vmovdqu64 %1, %0" : "=m"(*(struct okosu_zero_line *)(p)) : "v"(v))
#define STREAM(p, v)                                                                               \
    __asm__ volatile("vmovntdq %1, %0" : "=m"(*(struct okosu_zero_line *)(p)) : "v"(v))

/* Half and a quarter of a vector. */
#define PUT32(p, v)                                                                                \
    __asm__ volatile("vmovdqu64 %t1, %0" : "=m"(*(struct okosu_zero_half *)(p)) : "v"(v))
#define PUT16(p, v)                                                                                \
    __asm__ volatile("vmovdqu64 %x1, %0" : "=m"(*(struct okosu_zero_quarter *)(p)) : "v"(v))

/* A load of what a 64-byte store wrote over the end of a line waits until that is in the cache, 40
 * cycles on Zen 5; after stores of half the width it takes 12. */
#define PAIR_OF_HALVES(p, end, v)                                                                  \
    do {                                                                                           \
        PUT32(p, v);                                                                               \
        PUT32((p) + 32, v);                                                                        \
        PUT32((end)-64, v);                                                                        \
        PUT32((end)-32, v);                                                                        \
    } while (0)

/*
 * n < 64. A masked store that reaches over into a page that is not there does not fault, but takes
 * hundreds of cycles to find that out: hence two stores near the end of a page.
 */
#define SMALL(p, byte, n, v)                                                                       \
    do {                                                                                           \
        if (__builtin_expect(((uintptr_t)(p)&4095) <= 4096 - 64, 1)) {                             \
            __asm__ volatile("kmovq %2, %%k1\n\tvmovdqu8 %1, %0%{%%k1%}"                           \
                             : "+m"(*(struct okosu_zero_line *)(p))                                \
                             : "v"(v), "r"((UINT64_C(1) << (n)) - 1)                               \
                             : "k1");                                                              \
        } else if ((n) >= 32) {                                                                    \
            PUT32(p, v);                                                                           \
            PUT32((p) + (n)-32, v);                                                                \
        } else if ((n) >= 16) {                                                                    \
            PUT16(p, v);                                                                           \
            PUT16((p) + (n)-16, v);                                                                \
        } else {                                                                                   \
            okosu_zero_upto16(p, byte, n);                                                         \
        }                                                                                          \
    } while (0)

#endif
