/* SPDX-License-Identifier: Apache-2.0 */
/* What both back ends use of the machine: its COP2 registers and the exchange
 * (doc/INTERFACES.md).
 *
 * A COP2 command must not stand in a delay slot. `noreorder` keeps the assembler from putting one
 * there (it moves nothing that stands in it), and the compiler never moves an asm. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#define ASM_COP2(text) ".set push\n\t.set noreorder\n\t" text "\n\t.set pop"

/* The sections of text by which the cycle counters book (link.ld). */
#define IN_CREATE __attribute__((section(".text.create")))
#define IN_JOIN __attribute__((section(".text.join")))
#define IN_SWITCH __attribute__((section(".text.switch")))
#define IN_LOCK __attribute__((section(".text.lock")))
#define IN_LIB __attribute__((section(".text.lib")))
#define IN_IDLE __attribute__((section(".text.idle")))

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define COP2_READ(reg)                                                                             \
    ({                                                                                             \
        unsigned cop2_value;                                                                       \
        __asm__ volatile(ASM_COP2("mfc2 %0,$" #reg) : "=r"(cop2_value));                           \
        cop2_value;                                                                                \
    })

ALWAYS_INLINE unsigned pe_number(void)
{
    return COP2_READ(8);
}

ALWAYS_INLINE unsigned pe_count(void)
{
    return COP2_READ(9);
}

/* Cycles since reset. Reading the low word latches the high one. */
ALWAYS_INLINE uint64_t cycle_now(void)
{
    unsigned low, high;

    __asm__ volatile(ASM_COP2("mfc2 %0,$10\n\tmfc2 %1,$11") : "=&r"(low), "=r"(high));
    return (uint64_t)high << 32 | low;
}

/* Put `value` into memory and return what was there, indivisibly. */
ALWAYS_INLINE unsigned swap_word(volatile unsigned *word, unsigned value)
{
    unsigned old;

    __asm__ volatile(ASM_COP2("mtc2 %z2,$4\n\tlwc2 $4,%1\n\tmfc2 %0,$4")
                     : "=r"(old), "+R"(*word)
                     : "rJ"(value)
                     : "memory");
    return old;
}

#endif
