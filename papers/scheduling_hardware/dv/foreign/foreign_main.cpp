// SPDX-License-Identifier: Apache-2.0
// A machine of foreign cores: prints what its program prints.
//
//   foreign [MOST-CYCLES]
//
// Its memories begin with text.hex and data.hex of the folder where it is run. Ends with the program's status; 124 where that has not ended
// after so many cycles (default 1000000), 125 where a core has stopped at an instruction that there is not.
#include "Vpicorv32_machine.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

constexpr uint64_t kResetCycles = 4;
// A cycle is a nanosecond, so that an assertion that fails says in which one: the core's unit of time is that.
constexpr uint64_t kPicoseconds = 1000;
enum { kNotEnded = 124, kStopped = 125 };

} // namespace

int main(int argc, char **argv)
{
    const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000000;
    VerilatedContext context;

    context.randReset(0);
    const auto top = std::make_unique<Vpicorv32_machine>(&context);
    int status = kNotEnded;

    for (uint64_t cycle = 0; cycle < most && status == kNotEnded; cycle++) {
        top->rst_ni = cycle >= kResetCycles;
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        context.timeInc(kPicoseconds);
        if (top->print_o)
            std::putchar(top->char_o);
        if (top->exit_o)
            status = static_cast<int>(top->status_o & 0xff);
        else if (top->trap_o)
            status = kStopped;
        if (status != kNotEnded)
            std::fprintf(stderr, "foreign: status %d after %llu cycles\n", status,
                         static_cast<unsigned long long>(cycle));
    }
    top->final();
    return status;
}
