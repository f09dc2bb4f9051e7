// SPDX-License-Identifier: Apache-2.0
// A board, whole, from its pins: the clock in, the serial line and the lights out. Prints what comes over the line.
//
//   board [MOST-CLOCKS]
//
// Ends when led[7] says that the program has, and the line has been idle for two frames, with the low bits of its status; says when led[7]
// came on. 124 where that has not come after so many clocks of 25 MHz (default 100000000), 125 for a frame without a stop bit.
#include "Vulx3s_top.h"
#include "uart_receiver.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

constexpr double kClockHz = 25e6, kBaud = 115200;
enum { kNotEnded = 124, kFailed = 125 };

} // namespace

int main(int argc, char **argv)
{
    const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000000;
    VerilatedContext context;

    context.randReset(0);
    const auto top = std::make_unique<Vulx3s_top>(&context);
    UartReceiver uart(kClockHz / kBaud);
    uint64_t ended = 0;
    int status = kNotEnded;

    for (uint64_t clock = 0; clock < most && status == kNotEnded; clock++) {
        top->clk_25mhz = 1;
        top->eval();
        top->clk_25mhz = 0;
        top->eval();
        context.timeInc(1);
        if (ended == 0 && (top->led & 0x80) != 0)
            ended = clock;
        if (!uart.clock(top->ftdi_rxd)) {
            std::fprintf(stderr, "board: a frame without a stop bit\n");
            status = kFailed;
        } else if (ended != 0 && uart.is_idle()) {
            status = top->led & 0x7f;
            std::fprintf(stderr,
                         "board: the program ended with status %d, %.3f ms after power-on\n",
                         status, 1e3 * static_cast<double>(ended) / kClockHz);
        }
    }
    if (status == kNotEnded)
        std::fprintf(stderr, "board: not ended after %llu clocks\n",
                     static_cast<unsigned long long>(most));
    top->final();
    return status;
}
