// SPDX-License-Identifier: Apache-2.0
// A LiteX system with the machine in it, whole, from its pins. Prints what comes over the UART's line.
//
//   litex [MOST-CLOCKS]
//
// Its memories begin with files of the folder where it is run. Ends when the program has, and the line is idle, with the program's status; 124
// where that has not come after so many clocks (default 100000000), 125 for a frame without a stop bit.
#include "../board/uart_receiver.h"
#include "Vokosu_soc.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

constexpr uint64_t kResetClocks = 4;
enum { kNotEnded = 124, kFailed = 125 };

} // namespace

int main(int argc, char **argv)
{
    const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000000;
    VerilatedContext context;

    context.randReset(0);
    const auto top = std::make_unique<Vokosu_soc>(&context);
    UartReceiver uart(static_cast<double>(OKOSU_CLOCK_HZ) / OKOSU_BAUD);
    int status = kNotEnded;

    top->serial_rx = 1;
    for (uint64_t clock = 0; clock < most && status == kNotEnded; clock++) {
        top->rst = clock < kResetClocks;
        top->clk = 0;
        top->eval();
        top->clk = 1;
        top->eval();
        context.timeInc(1);
        if (!uart.clock(top->serial_tx)) {
            std::fprintf(stderr, "litex: a frame without a stop bit\n");
            status = kFailed;
        } else if (top->ended && uart.is_idle()) {
            status = static_cast<int>(top->status & 0xff);
            std::fprintf(stderr, "litex: the program ended with status %d after %llu clocks\n",
                         status, static_cast<unsigned long long>(clock));
        }
    }
    if (status == kNotEnded)
        std::fprintf(stderr, "litex: not ended after %llu clocks\n",
                     static_cast<unsigned long long>(most));
    top->final();
    return status;
}
