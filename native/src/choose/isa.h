/* SPDX-License-Identifier: Apache-2.0 */
/* isa: the widest vectors to use unasked, as the resolver of an IFUNC can ask. */
#pragma once

#include "cpu/widest.h"

#if defined(__x86_64__)
#include "cpu/narrow.h"

/* ..._INTEL: the moves in the order that suits Intel's cores. */
enum okosu_isa {
    OKOSU_ISA_SSE2,
    OKOSU_ISA_AVX2,
    OKOSU_ISA_AVX512,
    OKOSU_ISA_AVX2_INTEL,
    OKOSU_ISA_AVX512_INTEL,
};

/* The cores of Skylake-SP, Cascade Lake and Cooper Lake lower their clock for a while after
 * instructions on 512 bits, which costs the rest of the program more than a copy gains (Intel's
 * optimization manual, "Skylake Server Power Management"); glibc's memcpy avoids them there, too.
 * Not measured here: routines of AVX-512 can still be forced, or be named by a profile.
 *
 * A resolver runs while the dynamic linker still binds this library, so it may call nothing that is
 * bound, okosu_cpu_features() among it, and use no pointer that is relocated. The compiler's
 * built-in tests ask the same bits of the processor and of the kernel. */
static inline __attribute__((always_inline)) enum okosu_isa okosu_isa_here(void)
{
    __builtin_cpu_init();
    if (OKOSU_WIDEST < 256 || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return OKOSU_ISA_SSE2;
    if (OKOSU_WIDEST < 512 || __builtin_cpu_is("skylake-avx512") ||
        __builtin_cpu_is("cascadelake") || __builtin_cpu_is("cooperlake"))
        return OKOSU_ISA_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return OKOSU_ISA_AVX512;
    return OKOSU_ISA_AVX2;
}

/* The same for sets. On Intel's cores each branch that is taken costs a cycle, and lines that are in no
 * cache come sooner if they are stored in the order of their addresses. */
static inline __attribute__((always_inline)) enum okosu_isa okosu_isa_sets(void)
{
    enum okosu_isa isa = okosu_isa_here();

    if (isa == OKOSU_ISA_SSE2 || !__builtin_cpu_is("intel"))
        return isa;
    return isa == OKOSU_ISA_AVX512 ? OKOSU_ISA_AVX512_INTEL : OKOSU_ISA_AVX2_INTEL;
}

/* The same for copies. Zen 1 and Zen+ move each half of a vector of 256 bits by itself, and are slow to
 * store one that does not lie on 16 bytes. Vectors of 128 bits copy 192 to 512 bytes in the first-level
 * cache 1.1 to 1.8 times as fast there, and mixtures of sizes 1.1 times (Zen 1). To set memory is
 * another matter: there they win alone, and lose up to a tenth in mixtures. */
static inline __attribute__((always_inline)) enum okosu_isa okosu_isa_copies(void)
{
    enum okosu_isa isa = okosu_isa_sets();

    return isa == OKOSU_ISA_AVX2 && okosu_cpu_narrow() ? OKOSU_ISA_SSE2 : isa;
}

/* What of either serves memory that is in no cache. On Intel's cores up to 512 bytes (of copies, 1024) go by
 * 16: 176 bytes and more are copied 1.05 to 1.3 times as fast so, and 65 and more set up to twice (Granite Rapids,
 * Emerald Rapids; what is shorter has wide vectors in those entries, too). */
static inline __attribute__((always_inline)) enum okosu_isa okosu_isa_far(enum okosu_isa isa)
{
    return isa < OKOSU_ISA_AVX2_INTEL ? isa : OKOSU_ISA_SSE2;
}

#endif
