/* SPDX-License-Identifier: Apache-2.0 */
/* copy_fixed: the inline copies of fixed size, compiled once for each instruction set. */
#include "copy_fixed.h"
#include "harness.h"

#include <okosu/copy_inline.h>
#include <okosu/cpu.h>

#define SIZES(X) X(16) X(32) X(64) X(128) X(256) X(512) X(1024) X(2048) X(4096)

/* The addresses are hidden from the compiler before each copy, and what was copied is used after
 * it, so that none is moved out of the loop; nothing else of a caller's costs is left. */
#define RUN(bytes)                                                                                 \
    static void run_##bytes(char *dst, const char *src, size_t calls)                              \
    {                                                                                              \
        for (size_t i = 0; i < calls; i++) {                                                       \
            __asm__ volatile("" : "+r"(dst), "+r"(src));                                           \
            okosu_copy_##bytes(dst, src);                                                          \
            bench_keep_memory(dst);                                                                \
        }                                                                                          \
    }
#define ROW(bytes) run_##bytes,

SIZES(RUN)

#define NAME_OF(isa) copy_fixed_##isa
#define NAME(isa) NAME_OF(isa)
#define TEXT_OF(isa) "inline-" #isa
#define TEXT(isa) TEXT_OF(isa)

const struct copy_fixed NAME(COPY_ISA) = {
    .variant = TEXT(COPY_ISA),
#if defined(__AVX512F__)
    .needs = OKOSU_CPU_AVX512,
#elif defined(__AVX2__)
    .needs = OKOSU_CPU_AVX2,
#endif
    .width = OKOSU_COPY_INLINE_WIDTH,
    .run = {SIZES(ROW)},
};
