/* SPDX-License-Identifier: Apache-2.0 */
/* An unexpected exception: report it with its address, and end the simulation with a status that no
 * program can return. */
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "console.h"

enum {
    TRAP_STATUS = 0x100,
    CAUSE_DATA_BUS = 7,
#ifdef __riscv
    CAUSE_LOAD_BUS = 5,
#else
    CAUSE_LOAD_BUS = 7,
#endif
    GUARD_BYTES = 1024,
};

/* The text cannot be read as data, so the number in a break instruction is not known; the compiler
 * makes such instructions for divisions. */
static const char *const causes[] = {
#ifdef __riscv
    [0] = "jump into the middle of an instruction",
    [1] = "jump out of the program's text",
    [2] = "instruction that this processor does not have",
    [3] = "break instruction",
    [4] = "load from an address that is not aligned",
    [5] = "access to memory that is not there",
    [6] = "store to an address that is not aligned",
    [7] = "access to memory that is not there",
    [11] = "system call, and there is no system",
#else
    [0] = "unexpected interrupt",
    [4] = "load or fetch from an address that is none",
    [5] = "store to an address that is none",
    [6] = "jump out of the program's text",
    [7] = "access to memory that is not there",
    [8] = "system call, and there is no system",
    [9] = "division by zero",
    [10] = "instruction that this processor does not have, or a command in a delay slot",
    [11] = "coprocessor that is not there",
    [12] = "integer overflow",
#endif
};

extern char __stack_top[], __stack_log2[], __threads_max[];

static void say(const char *text)
{
    while (*text != '\0')
        console_put(CONSOLE_ERROR, *text++);
}

static void say_number(unsigned number)
{
    if (number >= 10)
        say_number(number / 10);
    console_put(CONSOLE_ERROR, (char)('0' + number % 10));
}

static void say_address(uintptr_t address)
{
    say("0x");
    for (int shift = 28; shift >= 0; shift -= 4)
        console_put(CONSOLE_ERROR, "0123456789abcdef"[address >> shift & 15]);
}

/* Whether the address lies in the lowest bytes of a stack, which are guarded. */
static int in_guard(uintptr_t address)
{
    uintptr_t below = (uintptr_t)__stack_top - address, slot = 1u << (uintptr_t)__stack_log2;

    return below - 1 < (uintptr_t)__threads_max * slot && (address & (slot - 1)) < GUARD_BYTES;
}

_Noreturn void okosu_trap(unsigned sp, unsigned ra)
{
    unsigned cause, pc, bad, number;
    const char *what = NULL;

#ifdef __riscv
    __asm__ volatile("csrr %0,mcause\n\tcsrr %1,mepc\n\tcsrr %2,mtval"
                     : "=r"(cause), "=r"(pc), "=r"(bad));
    number = cause;
#else
    __asm__ volatile("mfc0 %0,$13\n\tmfc0 %1,$14\n\tmfc0 %2,$8\n\tnop"
                     : "=r"(cause), "=r"(pc), "=r"(bad));
    number = cause >> 2 & 31;
#endif
    if (number < sizeof(causes) / sizeof(causes[0]))
        what = causes[number];
    if ((number == CAUSE_DATA_BUS || number == CAUSE_LOAD_BUS) && in_guard(bad))
        what = "stack overrun";
#ifndef __riscv
    if (cause >> 31)
        pc += 4;
#endif
    say("\nokosu: trap on PE ");
    say_number(pe_number());
    say(", thread ");
    say_number(thread_self() & 255);
    say(": ");
    say(what != NULL ? what : "unknown cause");
    say(" (cause ");
    say_number(number);
    say(")\n  pc ");
    say_address(pc);
    say(", bad address ");
    say_address(bad);
    say(", sp ");
    say_address(sp);
    say(", ra ");
    say_address(ra);
    say("\n");
    console_end(TRAP_STATUS + number);
}
