/* SPDX-License-Identifier: Apache-2.0 */
/* narrow: whether the data paths are narrower than the vectors of AVX2. */
#pragma once

#include <cpuid.h>
#include <stdbool.h>

/* FP128 and FP256, bits 0 and 2 of EAX in leaf 8000_001Ah: AMD's APM volume 3, appendix E.4.15. Where a
 * hypervisor hides the leaf, the processor's model says it. Like all that an IFUNC's resolver asks
 * (choose/isa.h), this calls nothing. */
static inline __attribute__((always_inline)) bool okosu_cpu_narrow(void)
{
    unsigned a, b, c, d;

    if (__get_cpuid(0x8000001a, &a, &b, &c, &d) && (a & 5))
        return !(a & 4);
    __builtin_cpu_init();
    return __builtin_cpu_is("znver1") || __builtin_cpu_is("bdver4");
}
