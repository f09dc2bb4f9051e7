/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of dependent multiplications: another measure of the core's speed than the library's
 * chain of additions, with which its own can be checked. */
#pragma once

#include <okosu/clock.h>

#include <stdint.h>

/* Ticks of the clock that 16384 of them take. */
static inline uint64_t bench_multiply_chain(void)
{
    uint64_t value = 3, factor = 5, passes = 16, begun = okosu_clock_start();

#if defined(__x86_64__)
    __asm__ volatile(".p2align 6\n1:\n\t.rept 1024\n\timul %[factor], %[value]\n\t.endr\n\t"
                     "dec %[passes]\n\tjnz 1b"
                     : [value] "+r"(value), [passes] "+r"(passes)
                     : [factor] "r"(factor)
                     : "cc");
#else
    __asm__ volatile(
        ".p2align 6\n1:\n\t.rept 1024\n\tmul %[value], %[value], %[factor]\n\t.endr\n\t"
        "subs %[passes], %[passes], #1\n\tb.ne 1b"
        : [value] "+r"(value), [passes] "+r"(passes)
        : [factor] "r"(factor)
        : "cc");
#endif
    return okosu_clock_stop() - begun;
}
