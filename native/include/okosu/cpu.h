/* SPDX-License-Identifier: Apache-2.0 */
/* cpu: which instructions this processor and this kernel let a program use. Variants are chosen by
 * these, and by a processor's model only where no bit says what its vectors cost (choose/isa.h). */
#ifndef OKOSU_CPU_H
#define OKOSU_CPU_H

#include <okosu/api.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each bit says that the instructions exist *and* that the kernel saves the registers they need. */
#define OKOSU_CPU_SSE2 (UINT64_C(1) << 0)
#define OKOSU_CPU_SSE3 (UINT64_C(1) << 1)
#define OKOSU_CPU_AVX2 (UINT64_C(1) << 2)   /* AVX2 and FMA3, ymm state enabled */
#define OKOSU_CPU_AVX512 (UINT64_C(1) << 3) /* F, VL, BW and DQ, zmm and mask state enabled */
#define OKOSU_CPU_ERMS (UINT64_C(1) << 4)   /* rep movsb/stosb are meant to be fast */
#define OKOSU_CPU_FSRM (UINT64_C(1) << 5)   /* the same for short copies */
#define OKOSU_CPU_CLZERO (UINT64_C(1) << 6)
#define OKOSU_CPU_FP128 (UINT64_C(1) << 7) /* AVX2, but each half of a vector is moved by itself */
#define OKOSU_CPU_INTEL (UINT64_C(1) << 8) /* made by Intel */
#define OKOSU_CPU_NEON (UINT64_C(1) << 16)
#define OKOSU_CPU_DCZVA (UINT64_C(1) << 17)  /* DC ZVA is allowed at EL0 */
#define OKOSU_CPU_SVE256 (UINT64_C(1) << 18) /* SVE, its vectors being of 256 bits */
#define OKOSU_CPU_SVE512 (UINT64_C(1) << 19) /* SVE, its vectors being of 512 bits */

/* The features of this machine; read once. Calls nothing, so that it may be used before main and
 * inside an ifunc resolver. */
OKOSU_API uint64_t okosu_cpu_features(void);
/* Names of the bits in `features`, separated by spaces, as snprintf writes and returns. Bits
 * without a name are left out. */
OKOSU_API int okosu_cpu_names(uint64_t features, char *text, size_t size);
/* The make of the processor, as snprintf writes and returns: on x86-64 its vendor, family, model
 * and stepping ("AuthenticAMD-26-2-1"), on AArch64 its MIDR ("midr-413fd0c1"); "unknown" where it
 * cannot be read. For the names of files; no routine is chosen by it. */
OKOSU_API int okosu_cpu_model(char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
