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

#define ALU(times) ".rept " #times "\n\taddiu %0,%0,1\n\t.endr\n\t"
#define LOAD "lw $8,0(%2)\n\t"
#define STORE "sw %0,0(%2)\n\t"

/* With the loop's own three (one of which adds, too) a step is 4 instructions, or 20. */
#if MEMORY == 0
#define BODY ALU(1)
enum { STEP_INSTRUCTIONS = 4 };
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
        __asm__ volatile(".set push\n\t.set noreorder\n"
                         "1:\n\t" BODY "addiu %1,%1,-1\n\tbnez %1,1b\n\taddiu %0,%0,1\n\t"
                         ".set pop"
                         : "+r"(value), "+r"(steps)
                         : "r"(&word)
                         : "$8", "memory");
    return value;
}

#endif

#endif
