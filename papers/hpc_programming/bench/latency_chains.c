/* SPDX-License-Identifier: Apache-2.0 */
/* latency_chains: the chains in assembly, so that no compiler changes them: 100 operations a pass
 * of a loop whose own work runs beside them. One chain for all calls of a batch: a new one would
 * begin while the last still runs, which was seen as 4 % less latency. */
#include "latency_chains.h"

#include <okosu/cpu.h>

static const double ones[8] __attribute__((aligned(64))) = {1, 1, 1, 1, 1, 1, 1, 1};
static const double zeros[8] __attribute__((aligned(64)));

_Static_assert(LATENCY_CHAIN == 16 * 100, "the text below has both numbers");

/* The value stays 1: 1 + 0, 1 * 1, 1 * 1 + 0. Registers: 0 the chain, 1 ones, 2 zeros. */
#if defined(__x86_64__)

#define LOOP(operation)                                                                            \
    ".p2align 6\n"                                                                                 \
    "1:\n\t"                                                                                       \
    ".rept 100\n\t" operation "\n\t"                                                               \
    ".endr\n\t"                                                                                    \
    "dec %[passes]\n\t"                                                                            \
    "jnz 1b\n\t"

#define CHAIN(name, load, r, operation, end)                                                       \
    static void name(void *arg, size_t calls)                                                      \
    {                                                                                              \
        size_t passes = 16 * calls;                                                                \
                                                                                                   \
        __asm__ volatile(load " %[ones], %%" r "0\n\t" load " %[ones], %%" r "1\n\t" load          \
                              " %[zeros], %%" r "2\n\t" LOOP(operation) end                        \
                         : [passes] "+r"(passes)                                                   \
                         : [ones] "m"(ones), [zeros] "m"(zeros)                                    \
                         : "xmm0", "xmm1", "xmm2", "cc");                                          \
    }

CHAIN(chain_add, "movapd", "xmm", "addsd %%xmm2, %%xmm0", "")
CHAIN(chain_mul, "movapd", "xmm", "mulsd %%xmm1, %%xmm0", "")
CHAIN(chain_fma, "vmovapd", "xmm", "vfmadd213sd %%xmm2, %%xmm1, %%xmm0", "vzeroupper")
CHAIN(chain_fma_addend, "vmovapd", "xmm", "vfmadd231sd %%xmm2, %%xmm1, %%xmm0", "vzeroupper")
CHAIN(chain_add_sse2, "movapd", "xmm", "addpd %%xmm2, %%xmm0", "")
CHAIN(chain_mul_sse2, "movapd", "xmm", "mulpd %%xmm1, %%xmm0", "")
CHAIN(chain_add_avx2, "vmovapd", "ymm", "vaddpd %%ymm2, %%ymm0, %%ymm0", "vzeroupper")
CHAIN(chain_mul_avx2, "vmovapd", "ymm", "vmulpd %%ymm1, %%ymm0, %%ymm0", "vzeroupper")
CHAIN(chain_fma_avx2, "vmovapd", "ymm", "vfmadd213pd %%ymm2, %%ymm1, %%ymm0", "vzeroupper")
CHAIN(chain_fma_addend_avx2, "vmovapd", "ymm", "vfmadd231pd %%ymm2, %%ymm1, %%ymm0", "vzeroupper")
CHAIN(chain_add_avx512, "vmovapd", "zmm", "vaddpd %%zmm2, %%zmm0, %%zmm0", "vzeroupper")
CHAIN(chain_mul_avx512, "vmovapd", "zmm", "vmulpd %%zmm1, %%zmm0, %%zmm0", "vzeroupper")
CHAIN(chain_fma_avx512, "vmovapd", "zmm", "vfmadd213pd %%zmm2, %%zmm1, %%zmm0", "vzeroupper")
CHAIN(chain_fma_addend_avx512, "vmovapd", "zmm", "vfmadd231pd %%zmm2, %%zmm1, %%zmm0", "vzeroupper")

const struct latency_chain latency_chains[] = {
    {{"add", OKOSU_CPU_SSE2, "addsd"}, chain_add},
    {{"mul", OKOSU_CPU_SSE2, "mulsd"}, chain_mul},
    {{"fma", OKOSU_CPU_AVX2, "vfmadd213sd, through a factor"}, chain_fma},
    {{"fma-addend", OKOSU_CPU_AVX2, "vfmadd231sd, through the addend"}, chain_fma_addend},
    {{"add-sse2", OKOSU_CPU_SSE2, "addpd xmm"}, chain_add_sse2},
    {{"mul-sse2", OKOSU_CPU_SSE2, "mulpd xmm"}, chain_mul_sse2},
    {{"add-avx2", OKOSU_CPU_AVX2, "vaddpd ymm"}, chain_add_avx2},
    {{"mul-avx2", OKOSU_CPU_AVX2, "vmulpd ymm"}, chain_mul_avx2},
    {{"fma-avx2", OKOSU_CPU_AVX2, "vfmadd213pd ymm, through a factor"}, chain_fma_avx2},
    {{"fma-addend-avx2", OKOSU_CPU_AVX2, "vfmadd231pd ymm, through the addend"},
     chain_fma_addend_avx2},
    {{"add-avx512", OKOSU_CPU_AVX512, "vaddpd zmm"}, chain_add_avx512},
    {{"mul-avx512", OKOSU_CPU_AVX512, "vmulpd zmm"}, chain_mul_avx512},
    {{"fma-avx512", OKOSU_CPU_AVX512, "vfmadd213pd zmm, through a factor"}, chain_fma_avx512},
    {{"fma-addend-avx512", OKOSU_CPU_AVX512, "vfmadd231pd zmm, through the addend"},
     chain_fma_addend_avx512},
    {{NULL, 0, NULL}, NULL},
};

#else

#define CHAIN(name, operation)                                                                     \
    static void name(void *arg, size_t calls)                                                      \
    {                                                                                              \
        size_t passes = 16 * calls;                                                                \
                                                                                                   \
        __asm__ volatile("ldr q0, %[ones]\n\t"                                                     \
                         "ldr q1, %[ones]\n\t"                                                     \
                         "ldr q2, %[zeros]\n\t"                                                    \
                         ".p2align 6\n"                                                            \
                         "1:\n\t"                                                                  \
                         ".rept 100\n\t" operation "\n\t"                                          \
                         ".endr\n\t"                                                               \
                         "subs %[passes], %[passes], #1\n\t"                                       \
                         "b.ne 1b"                                                                 \
                         : [passes] "+r"(passes)                                                   \
                         : [ones] "Q"(ones), [zeros] "Q"(zeros)                                    \
                         : "v0", "v1", "v2", "cc");                                                \
    }

CHAIN(chain_add, "fadd d0, d0, d2")
CHAIN(chain_mul, "fmul d0, d0, d1")
CHAIN(chain_fma, "fmadd d0, d0, d1, d2")
CHAIN(chain_fma_addend, "fmadd d0, d1, d2, d0")
CHAIN(chain_add_neon, "fadd v0.2d, v0.2d, v2.2d")
CHAIN(chain_mul_neon, "fmul v0.2d, v0.2d, v1.2d")
CHAIN(chain_fma_addend_neon, "fmla v0.2d, v1.2d, v2.2d")

const struct latency_chain latency_chains[] = {
    {{"add", OKOSU_CPU_NEON, "fadd d"}, chain_add},
    {{"mul", OKOSU_CPU_NEON, "fmul d"}, chain_mul},
    {{"fma", OKOSU_CPU_NEON, "fmadd d, through a factor"}, chain_fma},
    {{"fma-addend", OKOSU_CPU_NEON, "fmadd d, through the addend"}, chain_fma_addend},
    {{"add-neon", OKOSU_CPU_NEON, "fadd v.2d"}, chain_add_neon},
    {{"mul-neon", OKOSU_CPU_NEON, "fmul v.2d"}, chain_mul_neon},
    {{"fma-addend-neon", OKOSU_CPU_NEON, "fmla v.2d, through the addend"}, chain_fma_addend_neon},
    {{NULL, 0, NULL}, NULL},
};

#endif
