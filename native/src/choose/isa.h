/* SPDX-License-Identifier: Apache-2.0 */
/* isa: which vectors an entry may use, as the resolver of an IFUNC can ask. */
#ifndef OKOSU_CHOOSE_ISA_H
#define OKOSU_CHOOSE_ISA_H

#if defined(__x86_64__)

enum okosu_isa { OKOSU_ISA_SSE2, OKOSU_ISA_AVX2, OKOSU_ISA_AVX512 };

/* A resolver runs while the dynamic linker still binds this library, so it may call nothing that is
 * bound, okosu_cpu_features() among it, and use no pointer that is relocated. The compiler's
 * built-in tests ask the same bits of the processor and of the kernel. */
static inline __attribute__((always_inline)) enum okosu_isa okosu_isa_here(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return OKOSU_ISA_SSE2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
        return OKOSU_ISA_AVX512;
    return OKOSU_ISA_AVX2;
}

#endif

#endif
