// SPDX-License-Identifier: Apache-2.0
// Fields of instructions and addresses.
#pragma once

#include <cstdint>

namespace okosu
{

inline uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}

inline uint32_t sign_extend(uint32_t value, unsigned width)
{
    const uint32_t sign = 1u << (width - 1);

    return (value ^ sign) - sign;
}

// In kseg0 or kseg1; everything else is an address error.
inline bool in_segments(uint32_t addr)
{
    return (addr >> 30) == 2;
}

} // namespace okosu
