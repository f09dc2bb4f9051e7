/* SPDX-License-Identifier: Apache-2.0 */
/* avx512, avx512-once, avx512-intel, nt-avx512: 64-byte stores. The first three are in entry_x86.S. */
#include "zero/rows.h"

#include <immintrin.h>

/* The vector is in zmm16, as in entry_x86.S. Compilers promise a register to operands of asm alone,
 * so the stores are asm too. */
struct line {
    unsigned char bytes[64];
};

#define WIDTH 64
#define SPLAT(v, byte)                                                                             \
    register __m512i v __asm__("zmm16");                                                           \
    __asm__ volatile("vpbroadcastb %1, %0" : "=v"(v) : "r"(byte))
#define PUT(p, v) __asm__ volatile("vmovdqu64 %1, %0" : "=m"(*(struct line *)(p)) : "v"(v))
#define STREAM(p, v) __asm__ volatile("vmovntdq %1, %0" : "=m"(*(struct line *)(p)) : "v"(v))
#define SET okosu_zero_set_avx512
#include "zero/vector.h"

OKOSU_ROUTINE(zero, 50, avx512) = {
    .about = {"avx512", OKOSU_CPU_AVX512, "64-byte stores"},
    .set = okosu_zero_set_avx512,
};

OKOSU_ROUTINE(zero, 53, avx512_once) = {
    .about = {"avx512-once", OKOSU_CPU_AVX512,
              "64-byte stores, no more than lines: for memory in no cache"},
    .set = okosu_zero_set_avx512_once,
};

OKOSU_ROUTINE(zero, 55, avx512_intel) = {
    .about = {"avx512-intel", OKOSU_CPU_AVX512, "64-byte stores, in the order of their addresses"},
    .set = okosu_zero_set_avx512_intel,
};

OKOSU_ROUTINE(zero, 80, nt_avx512) = {
    .about = {"nt-avx512", OKOSU_CPU_AVX512, "64-byte stores past the caches"},
    .set = set_past_caches,
    .streams = true,
};
