/* SPDX-License-Identifier: Apache-2.0 */
/* clzero: an instruction that makes a line zero in memory without reading it. Part lines at both
 * ends, and every byte but 0, are set as nt-sse2 does. */
#include "zero/rows.h"

#include <immintrin.h>
#include <stdint.h>

enum { LEAST_LINES = 512 };

static void *set(void *start, int byte, size_t n)
{
    unsigned char *p = start, *end = p + n;

    if ((unsigned char)byte || n < LEAST_LINES)
        return okosu_zero_row_nt_sse2.set(start, byte, n);
    for (size_t i = 0; i < 64; i += 16) {
        _mm_storeu_si128((__m128i_u *)(p + i), _mm_setzero_si128());
        _mm_storeu_si128((__m128i_u *)(end - 64 + i), _mm_setzero_si128());
    }
    p = (unsigned char *)(((uintptr_t)p + 63) & -(uintptr_t)64);
    end = (unsigned char *)((uintptr_t)end & -(uintptr_t)64);
    for (; p < end; p += 64)
        __asm__ volatile("clzero" : : "a"(p) : "memory");
    _mm_sfence();
    return start;
}

OKOSU_ROUTINE(zero, 90, clzero) = {
    .about = {"clzero", OKOSU_CPU_CLZERO | OKOSU_CPU_SSE2,
              "whole lines by clzero; bytes other than 0 as nt-sse2"},
    .set = set,
    .streams = true,
};
