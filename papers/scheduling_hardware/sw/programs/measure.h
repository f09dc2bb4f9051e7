/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of calls, for programs that measure the machine: the smallest and the largest of several,
 * what one reading of the cycle counter costs taken off. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdio.h>

#include "machine.h"

enum { MOST_PES = 64 };

struct range {
    unsigned least, most;
};

ALWAYS_INLINE unsigned cycle_low(void)
{
    return COP2_READ(10);
}

ALWAYS_INLINE unsigned measure_overhead(void)
{
    unsigned start = cycle_low();

    return cycle_low() - start;
}

static inline void note(struct range *range, unsigned cycles)
{
    cycles -= measure_overhead();
    if (range->most == 0 || cycles < range->least)
        range->least = cycles;
    if (cycles > range->most)
        range->most = cycles;
}

/* A line: name, smallest, largest. */
static inline void print(const char *name, const struct range *range)
{
    printf("%s %u %u\n", name, range->least, range->most);
}

static inline void pause_until(unsigned cycle)
{
    while ((int)(cycle_low() - cycle) < 0)
        ;
}

static inline void pause_for(unsigned cycles)
{
    pause_until(cycle_low() + cycles);
}

#endif
