// SPDX-License-Identifier: Apache-2.0
// peer CYCLES: simulates the cores of peer_top.sv for so many cycles, prints the processor seconds
// that took, and fails unless each core has computed numbers of its sequence.
#include "Vpeer_top.h"
#include "verilated.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace
{

// A core takes dozens of cycles for a number.
constexpr unsigned long kFewest = 10000;

bool in_sequence(uint32_t wanted, uint32_t seed, unsigned long most)
{
    uint32_t x = seed;

    for (unsigned long n = 0; n < most; n++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        if (x == wanted)
            return true;
    }
    return false;
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned long cycles = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
    VerilatedContext context;
    Vpeer_top top(&context);

    if (cycles < kFewest)
        return 2;
    const std::clock_t began = std::clock();

    for (unsigned long n = 0; n < cycles; n++) {
        top.rst_ni = n >= 2;
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    }
    const double seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;

    for (unsigned core = 0; core < OKOSU_CORES; core++)
        if (!in_sequence(top.stored_o[core], core + 1, cycles)) {
            std::fprintf(stderr, "core %u did not compute what it should\n", core);
            return 1;
        }
    std::printf("%.6f\n", seconds);
    return 0;
}
