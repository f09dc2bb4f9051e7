// SPDX-License-Identifier: Apache-2.0
// What one instruction did, as the core retires it and as the golden simulator says.
#ifndef OKOSU_EFFECT_H
#define OKOSU_EFFECT_H

#include <cstdint>
#include <string>
#include <type_traits>

namespace okosu
{

struct Effect {
    uint32_t pc = 0;
    uint32_t instr = 0;
    bool writes = false;
    uint8_t rd = 0;
    uint32_t value = 0;
    bool traps = false;
    uint8_t cause = 0;
    bool accesses = false;
    bool stores = false;
    uint32_t addr = 0;
    uint32_t data = 0;
    uint8_t bytes = 0;
};

// At most 57 bits of a port, which is a number or, if it is wider than 64 bits, an array of words.
template <typename Port> uint64_t port_bits(const Port &port, unsigned low, unsigned width)
{
    const uint64_t mask = (uint64_t{1} << width) - 1;

    if constexpr (std::is_integral_v<Port>) {
        return port >> low & mask;
    } else {
        const unsigned word = low / 32, shift = low % 32;
        uint64_t found = port[word] >> shift;

        for (unsigned have = 32 - shift, next = word + 1; have < width; have += 32, next++)
            found |= uint64_t{port[next]} << have;
        return found & mask;
    }
}

// Where the fields of retire_t (rtl/pkg/okosu_pkg.sv) begin, counted from its lowest bit.
enum RetireBit : unsigned {
    kRetireBytesAt = 0,
    kRetireDataAt = 4,
    kRetireAddressAt = 36,
    kRetireStoresAt = 68,
    kRetireAccessesAt = 69,
    kRetireCauseAt = 70,
    kRetireTrapAt = 75,
    kRetireValueAt = 76,
    kRetireRdAt = 108,
    kRetireWritesAt = 113,
    kRetireInstructionAt = 114,
    kRetirePcAt = 146,
    kRetireThreadAt = 178,
    kRetireValidAt = 186,
    kRetireBits = 187,
};

// The effect in a retirement port whose lowest bit is `base`.
template <typename Port> Effect retired_effect(const Port &port, unsigned base)
{
    auto take = [&](unsigned at, unsigned width) {
        return static_cast<uint32_t>(port_bits(port, base + at, width));
    };
    Effect out;

    out.pc = take(kRetirePcAt, 32);
    out.instr = take(kRetireInstructionAt, 32);
    out.writes = take(kRetireWritesAt, 1);
    out.rd = static_cast<uint8_t>(take(kRetireRdAt, 5));
    out.value = take(kRetireValueAt, 32);
    out.traps = take(kRetireTrapAt, 1);
    out.cause = static_cast<uint8_t>(take(kRetireCauseAt, 5));
    out.accesses = take(kRetireAccessesAt, 1);
    out.stores = take(kRetireStoresAt, 1);
    out.addr = take(kRetireAddressAt, 32);
    out.data = take(kRetireDataAt, 32);
    out.bytes = static_cast<uint8_t>(take(kRetireBytesAt, 4));
    return out;
}

// Whether the core's instruction had another effect than the golden simulator's.
bool differs(const Effect &core, const Effect &golden);

// The effect in a line for a person.
std::string in_words(const Effect &effect);

} // namespace okosu

#endif
