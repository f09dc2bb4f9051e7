/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread of model.c works: `steps` times a few instructions, of which so many in a hundred
 * are loads and stores (-DMEMORY=0, 5, 10 or 25), or the task of examples/programs/grain.c (-DGRAIN). */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

#ifdef GRAIN

enum { STEP_INSTRUCTIONS = 0 };

typedef uint64_t work_t;

static inline work_t work(work_t value, unsigned steps)
{
    for (unsigned step = 0; step < steps; step++)
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return value;
}

#else

#ifndef MEMORY
#define MEMORY 0
#endif

#ifdef __riscv
#define ADD "addi"
#define TEMPORARY "t0"
#define LOOP(body) "1:\n\t" body "addi %1,%1,-1\n\taddi %0,%0,1\n\tbnez %1,1b"
#else
#define ADD "addiu"
#define TEMPORARY "$8"
#define LOOP(body)                                                                                 \
    ".set push\n\t.set noreorder\n1:\n\t" body "addiu %1,%1,-1\n\tbnez %1,1b\n\t"                  \
    "addiu %0,%0,1\n\t.set pop"
#endif
#define ALU(times) ".rept " #times "\n\t" ADD " %0,%0,1\n\t.endr\n\t"
#define LOAD "lw " TEMPORARY ",0(%2)\n\t"
#define STORE "sw %0,0(%2)\n\t"

/* With the loop's own three (one of which adds, too) a step is 4 cycles, or 20 instructions. On
 * RISC-V a branch that is taken costs a cycle more. */
#if MEMORY == 0
#ifdef __riscv
#define BODY
enum { STEP_INSTRUCTIONS = 3 };
#else
#define BODY ALU(1)
enum { STEP_INSTRUCTIONS = 4 };
#endif
#else
enum { STEP_INSTRUCTIONS = 20 };
#if MEMORY == 5
#define BODY LOAD ALU(16)
#elif MEMORY == 10
#define BODY LOAD ALU(7) STORE ALU(8)
#elif MEMORY == 25
#define BODY LOAD ALU(2) STORE ALU(2) LOAD ALU(3) STORE ALU(2) LOAD ALU(3)
#else
#error "MEMORY is 0, 5, 10 or 25"
#endif
#endif

typedef unsigned work_t;

static inline work_t work(work_t value, unsigned steps)
{
    volatile unsigned word = 0;

    if (steps != 0)
        __asm__ volatile(LOOP(BODY) : "+r"(value), "+r"(steps) : "r"(&word) : TEMPORARY, "memory");
    return value;
}

#endif

#endif
