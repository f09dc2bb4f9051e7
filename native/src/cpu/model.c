/* SPDX-License-Identifier: Apache-2.0 */
/* cpu: who made the processor, and which one it is. */
#include <okosu/cpu.h>

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

/* The displayed family and model: AMD's APM volume 3, appendix E.3.2; Intel's SDM volume 2, CPUID. */
int okosu_cpu_model(char *text, size_t size)
{
    unsigned a, b, c, d, family, model;
    char vendor[13] = "";

    if (!__get_cpuid(0, &a, &b, &c, &d))
        return snprintf(text, size, "unknown");
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &d, 4);
    memcpy(vendor + 8, &c, 4);
    for (char *at = vendor; *at; at++)
        if (*at == '/' || *at == ' ')
            *at = '_';
    __get_cpuid(1, &a, &b, &c, &d);
    family = a >> 8 & 0xf;
    model = a >> 4 & 0xf;
    if (family == 6 || family == 15)
        model |= (a >> 16 & 0xf) << 4;
    if (family == 15)
        family += a >> 20 & 0xff;
    return snprintf(text, size, "%s-%u-%u-%u", vendor, family, model, a & 0xf);
}

#elif defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

/* Where the kernel offers HWCAP_CPUID it answers this read for EL0. */
int okosu_cpu_model(char *text, size_t size)
{
    uint64_t midr;

    if (!(getauxval(AT_HWCAP) & HWCAP_CPUID))
        return snprintf(text, size, "unknown");
    __asm__("mrs %0, midr_el1" : "=r"(midr));
    return snprintf(text, size, "midr-%08llx", (unsigned long long)midr);
}

#else

int okosu_cpu_model(char *text, size_t size)
{
    return snprintf(text, size, "unknown");
}

#endif
