/* SPDX-License-Identifier: Apache-2.0 */
/* cpu: the features, from CPUID and XGETBV or from the system registers that EL0 may read. */
#include <okosu/cpu.h>

#include "widest.h"

#include <stdatomic.h>

/* Set in the cached word, so that also a machine without any feature is asked only once. */
#define KNOWN (UINT64_C(1) << 63)

#if defined(__x86_64__)

#include "narrow.h"

/* XCR0: which registers the kernel saves. Bits from Intel's SDM volume 1, section 13.3. */
#define XCR0_YMM 0x06u
#define XCR0_ZMM 0xe6u

static uint64_t read_xcr0(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Bits of leaf 7: Intel's SDM volume 2, CPUID; of 8000_0008h: AMD's APM volume 3, appendix E. */
static uint64_t read_features(void)
{
    unsigned a, b, c, d, b1, c1, b7 = 0, d7 = 0;
    const unsigned avx512 = bit_AVX512F | bit_AVX512VL | bit_AVX512BW | bit_AVX512DQ;
    uint64_t found = 0, xcr0 = 0;

    if (!__get_cpuid(1, &a, &b1, &c1, &d))
        return 0;
    if (d & bit_SSE2)
        found |= OKOSU_CPU_SSE2;
    if (c1 & bit_SSE3)
        found |= OKOSU_CPU_SSE3;
    if (c1 & bit_OSXSAVE)
        xcr0 = read_xcr0();
    if (__get_cpuid_count(7, 0, &a, &b7, &c, &d7)) {
        if (OKOSU_WIDEST >= 256 && (xcr0 & XCR0_YMM) == XCR0_YMM && (c1 & bit_AVX) &&
            (c1 & bit_FMA) && (b7 & bit_AVX2)) {
            found |= OKOSU_CPU_AVX2;
            if (okosu_cpu_narrow())
                found |= OKOSU_CPU_FP128;
            if (OKOSU_WIDEST >= 512 && (xcr0 & XCR0_ZMM) == XCR0_ZMM && (b7 & avx512) == avx512)
                found |= OKOSU_CPU_AVX512;
        }
        if (b7 & 1u << 9)
            found |= OKOSU_CPU_ERMS;
        if (d7 & 1u << 4)
            found |= OKOSU_CPU_FSRM;
    }
    __builtin_cpu_init();
    if (__builtin_cpu_is("intel"))
        found |= OKOSU_CPU_INTEL;
    if (__get_cpuid(0x80000008, &a, &b, &c, &d) && (b & 1))
        found |= OKOSU_CPU_CLZERO;
    return found;
}

#elif defined(__aarch64__)

#include <asm/unistd.h>
#include <linux/prctl.h>

/* Bytes of this thread's vectors of SVE; 0: it has none. The kernel is asked without a function of
 * the C library, which may not be ready to be called yet. */
static long sve_bytes(void)
{
    register long number __asm__("x8") = __NR_prctl;
    register long result __asm__("x0") = PR_SVE_GET_VL;

    __asm__ volatile("svc 0" : "+r"(result) : "r"(number) : "memory");
    return result < 0 ? 0 : result & PR_SVE_VL_LEN_MASK;
}

/* DCZID_EL0.DZP, bit 4: DC ZVA is prohibited (Arm ARM, D19.2). Advanced SIMD is part of the Linux
 * ABI of AArch64. */
static uint64_t read_features(void)
{
    uint64_t dczid, found = OKOSU_CPU_NEON;
    long bytes = sve_bytes();

    __asm__("mrs %0, dczid_el0" : "=r"(dczid));
    if (!(dczid & 16))
        found |= OKOSU_CPU_DCZVA;
    if (OKOSU_WIDEST >= 256 && bytes == 32)
        found |= OKOSU_CPU_SVE256;
    if (OKOSU_WIDEST >= 512 && bytes == 64)
        found |= OKOSU_CPU_SVE512;
    return found;
}

#else

static uint64_t read_features(void)
{
    return 0;
}

#endif

/* Two threads may both be the first; they find the same bits. */
uint64_t okosu_cpu_features(void)
{
    static _Atomic uint64_t known;
    uint64_t found = atomic_load_explicit(&known, memory_order_relaxed);

    if (!found) {
        found = read_features() | KNOWN;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found & ~KNOWN;
}

int okosu_cpu_names(uint64_t features, char *text, size_t size)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {
        {OKOSU_CPU_SSE2, "sse2"},     {OKOSU_CPU_SSE3, "sse3"},   {OKOSU_CPU_AVX2, "avx2"},
        {OKOSU_CPU_AVX512, "avx512"}, {OKOSU_CPU_ERMS, "erms"},   {OKOSU_CPU_FSRM, "fsrm"},
        {OKOSU_CPU_CLZERO, "clzero"}, {OKOSU_CPU_FP128, "fp128"}, {OKOSU_CPU_INTEL, "intel"},
        {OKOSU_CPU_NEON, "neon"},     {OKOSU_CPU_DCZVA, "dczva"}, {OKOSU_CPU_SVE256, "sve256"},
        {OKOSU_CPU_SVE512, "sve512"},
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(features & names[i].bit))
            continue;
        for (const char *c = length ? " " : ""; *c; c++, length++) {
            if (length + 1 < size)
                text[length] = *c;
        }
        for (const char *c = names[i].name; *c; c++, length++) {
            if (length + 1 < size)
                text[length] = *c;
        }
    }
    if (size)
        text[length < size ? length : size - 1] = '\0';
    return (int)length;
}
