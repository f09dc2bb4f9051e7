// SPDX-License-Identifier: Apache-2.0
// A receiver of a serial line, 8N1, which prints what it hears.
#ifndef OKOSU_UART_RECEIVER_H
#define OKOSU_UART_RECEIVER_H

#include <cstdint>
#include <cstdio>

// Receives 8N1 by its own clock: each bit is looked at in its middle, counted from the edge of the start bit.
class UartReceiver
{
  public:
    // Clocks that a bit takes.
    explicit UartReceiver(double bit) : bit_(bit)
    {
    }

    // The line in the next clock; false where a frame has no stop bit.
    bool clock(bool line)
    {
        // Registers have their reset's values from the first edge of their clock on; before it the line says nothing.
        begun_ = begun_ || line;
        idle_++;
        if (at_ < 0) {
            if (begun_ && !line)
                at_ = bits_ = 0;
            return true;
        }
        idle_ = 0;
        at_++;
        if (at_ < (bits_ + 0.5) * bit_)
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

    // Whether the line has been idle for two frames.
    bool is_idle() const
    {
        return idle_ > 2 * kFrameBits * bit_;
    }

  private:
    static constexpr unsigned kFrameBits = 10;

    double bit_;
    bool begun_ = false;
    int64_t at_ = -1;
    unsigned bits_ = 0, byte_ = 0;
    uint64_t idle_ = 0;
};

#endif
