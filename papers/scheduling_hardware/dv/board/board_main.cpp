// SPDX-License-Identifier: Apache-2.0
// A board, whole, from its pins: the clock in, the serial line and the lights out. Prints what comes over the line.
//
//   board [MOST-CLOCKS]
//
// Ends when led[7] says that the program has, and the line has been idle for two frames, with the low bits of its status; 124 where that has
// not come after so many clocks of 25 MHz (default 100000000), 125 for a frame without a stop bit.
#include "Vulx3s_top.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

constexpr double kClockHz = 25e6, kBaud = 115200;
constexpr double kBit = kClockHz / kBaud;
constexpr unsigned kFrameBits = 10;
enum { kNotEnded = 124, kFailed = 125 };

// Receives 8N1 by its own clock: each bit is looked at in its middle, counted from the edge of the start bit.
class Uart
{
  public:
    // The line in the next clock; false where a frame has no stop bit.
    bool clock(bool line)
    {
        // Registers have their reset's values from the first edge of the PLL's clock on; before it the line says nothing.
        begun_ = begun_ || line;
        idle_++;
        if (at_ < 0) {
            if (begun_ && !line)
                at_ = bits_ = 0;
            return true;
        }
        idle_ = 0;
        at_++;
        if (at_ < (bits_ + 0.5) * kBit)
            return true;
        byte_ = byte_ >> 1 | (line ? 1u << (kFrameBits - 1) : 0);
        if (++bits_ < kFrameBits)
            return true;
        at_ = -1;
        if (!line)
            return false;
        std::putchar(static_cast<int>(byte_ >> 1 & 0xff));
        std::fflush(stdout);
        return true;
    }

    // Clocks since the last frame.
    uint64_t idle() const
    {
        return idle_;
    }

  private:
    bool begun_ = false;
    int64_t at_ = -1;
    unsigned bits_ = 0, byte_ = 0;
    uint64_t idle_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    const uint64_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000000;
    VerilatedContext context;

    context.randReset(0);
    const auto top = std::make_unique<Vulx3s_top>(&context);
    Uart uart;
    int status = kNotEnded;

    for (uint64_t clock = 0; clock < most && status == kNotEnded; clock++) {
        top->clk_25mhz = 1;
        top->eval();
        top->clk_25mhz = 0;
        top->eval();
        context.timeInc(1);
        if (!uart.clock(top->ftdi_rxd)) {
            std::fprintf(stderr, "board: a frame without a stop bit\n");
            status = kFailed;
        } else if ((top->led & 0x80) != 0 && uart.idle() > 2 * kFrameBits * kBit) {
            status = top->led & 0x7f;
            std::fprintf(stderr,
                         "board: the program ended with status %d, %.1f ms after power-on\n",
                         status, 1e3 * static_cast<double>(clock) / kClockHz);
        }
    }
    if (status == kNotEnded)
        std::fprintf(stderr, "board: not ended after %llu clocks\n",
                     static_cast<unsigned long long>(most));
    top->final();
    return status;
}
