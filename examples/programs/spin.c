/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of multiplications in registers: no memory, no system calls, so no lever can change its
 * time. */
#include "args.h"
#include "random.h"

static const char usage[] =
    "usage: spin [-v] [MILLIONS]\n"
    "Takes MILLIONS million steps of a congruential generator (default 400).\n"
    "  MILLIONS  1 to 1G; K, M, G = 10^3, 10^6, 10^9\n"
    "  -v        million steps per second on stderr\n";

__attribute__((noinline)) static uint64_t spin(uint64_t x, uint64_t steps)
{
    for (uint64_t step = 0; step < steps; step++)
        x = lcg_step(x);
    return x;
}

int main(int argc, char **argv)
{
    struct args args = args_parse(argc, argv, "spin", usage, 0, 1);
    uint64_t millions = args_number(&args, 0, "MILLIONS", ARGS_COUNT, 1, UINT64_C(1000000000), 400);
    uint64_t steps = millions * 1000000;
    double start = args_seconds();
    uint64_t last = spin(0, steps);

    args_rate(&args, 1e-6 * (double)steps, "Msteps", start);
    printf("spin: %" PRIu64 " million steps, last %016" PRIx64 "\n", millions, last);
    return args_finish(&args, last == lcg_jump(0, steps));
}
