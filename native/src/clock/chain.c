/* SPDX-License-Identifier: Apache-2.0 */
/* clock: core cycles, by a chain of dependent additions. */
#include "clock/frequency.h"

#include <okosu/clock.h>

#include <stdatomic.h>

#define PASSES 16

_Static_assert(PASSES * 1024 == OKOSU_CLOCK_CHAIN, "the .rept below counts 1024 links");

/* Register to register: some cores compute an addition of a constant while renaming, in no cycle.
 * 1024 links a pass, since a loop that ends after 16 passes is predicted and its 3 KiB fit every
 * first-level instruction cache; a mispredicted end would cost 0.1 %. */
static void run_chains(uint64_t count)
{
    uint64_t value = 1, one = 1, passes = count * PASSES;

#if defined(__x86_64__)
    __asm__ volatile(".p2align 6\n"
                     "1:\n\t"
                     ".rept 1024\n\t"
                     "add %[one], %[value]\n\t"
                     ".endr\n\t"
                     "dec %[passes]\n\t"
                     "jnz 1b"
                     : [value] "+r"(value), [passes] "+r"(passes)
                     : [one] "r"(one)
                     : "cc");
#else
    __asm__ volatile(".p2align 6\n"
                     "1:\n\t"
                     ".rept 1024\n\t"
                     "add %[value], %[value], %[one]\n\t"
                     ".endr\n\t"
                     "subs %[passes], %[passes], #1\n\t"
                     "b.ne 1b"
                     : [value] "+r"(value), [passes] "+r"(passes)
                     : [one] "r"(one)
                     : "cc");
#endif
}

/* The time of the two reads is a property of the processor, so it is measured once. */
static uint64_t overhead(void)
{
    static _Atomic uint64_t known; /* plus one, because a coarse counter's cost is 0 */
    uint64_t found = atomic_load_explicit(&known, memory_order_relaxed);

    if (!found) {
        found = okosu_clock_empty() + 1;
        atomic_store_explicit(&known, found, memory_order_relaxed);
    }
    return found - 1;
}

static uint64_t chains_ticks(uint64_t count)
{
    uint64_t nothing = overhead(), start = okosu_clock_start(), ticks;

    run_chains(count);
    ticks = okosu_clock_stop() - start;
    return ticks > nothing ? ticks - nothing : 1;
}

uint64_t okosu_clock_chain(void)
{
    return chains_ticks(1);
}

/* The first run loads the code into the cache, and shows how coarse the counter is. */
double okosu_clock_cycles_per_tick(void)
{
    uint64_t samples[5], first = chains_ticks(1), chains;

    chains = first < 1000 ? 1000 / first + 1 : 1;
    for (int i = 0; i < 5; i++)
        samples[i] = chains_ticks(chains);
    return (double)(OKOSU_CLOCK_CHAIN * chains) / (double)okosu_clock_median(samples, 5);
}
