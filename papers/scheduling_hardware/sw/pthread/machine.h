/* SPDX-License-Identifier: Apache-2.0 */
/* What both back ends use of the machine: SSH-s's registers, of COP2 or in custom-0, and the
 * exchange (doc/INTERFACES.md).
 *
 * A COP2 command must not stand in a delay slot. `noreorder` keeps the assembler from putting one
 * there (it moves nothing that stands in it), and the compiler never moves an asm. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* PUT and GET are the instructions that write a register of SSH-s and read one. As with them, the
 * last line of an ASM_COP2 text has its end. */
#ifdef __riscv
#define ASM_COP2(text) text
#define PUT(from, reg) ".insn r 0x0b, 0, " #reg ", zero, " from ", zero\n\t"
#define GET(to, reg) ".insn r 0x0b, 1, " #reg ", " to ", zero, zero\n\t"
#define NOP ""
#define ZERO "zero"
#else
#define ASM_COP2(text) ".set push\n\t.set noreorder\n\t" text ".set pop"
#define PUT(from, reg) "mtc2 " from ",$" #reg "\n\t"
#define GET(to, reg) "mfc2 " to ",$" #reg "\n\t"
/* For a delay slot. */
#define NOP "nop\n\t"
#define ZERO "$0"
#endif

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
        __asm__ volatile(ASM_COP2(GET("%0", reg)) : "=r"(cop2_value));                             \
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

    __asm__ volatile(ASM_COP2(GET("%0", 10) GET("%1", 11)) : "=&r"(low), "=r"(high));
    return (uint64_t)high << 32 | low;
}

/* Put `value` into memory and return what was there, indivisibly. */
ALWAYS_INLINE unsigned swap_word(volatile unsigned *word, unsigned value)
{
    unsigned old;

#ifdef __riscv
    __asm__ volatile("amoswap.w %0,%z2,%1" : "=r"(old), "+A"(*word) : "rJ"(value) : "memory");
#else
    __asm__ volatile(ASM_COP2(PUT("%z2", 4) "lwc2 $4,%1\n\t" GET("%0", 4))
                     : "=r"(old), "+R"(*word)
                     : "rJ"(value)
                     : "memory");
#endif
    return old;
}

#endif
