// SPDX-License-Identifier: Apache-2.0
// Programs for the machine: ELF, 32 bits, little-endian, MIPS I, linked to the machine's addresses
// (doc/INTERFACES.md).
#ifndef OKOSU_ELF_H
#define OKOSU_ELF_H

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace okosu
{

constexpr uint32_t kTextBase = 0x80000000, kDataBase = 0x90000000;

// A file that is no program for this machine; what() is one sentence for a person.
struct BadElf : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Segment {
    uint32_t address;
    std::vector<uint8_t> bytes;
};

// A program in memory's order, as the file's segments say; `bytes` holds the zeros of bss, too.
struct Program {
    std::vector<Segment> segments;
    std::map<std::string, uint32_t> symbols;
    // The names of functions and data by address, for messages.
    std::map<uint32_t, std::string> names;

    std::optional<uint32_t> symbol(const std::string &name) const;
    // "name" or "name+0x10", the nearest name at or below `address` in the same memory; "" if there
    // is none.
    std::string name_of(uint32_t address) const;
};

// The program in `file`; BadElf says why it is none that runs in memories of these sizes in bytes.
Program parse_elf(const std::vector<uint8_t> &file, uint32_t text_bytes, uint32_t data_bytes);

} // namespace okosu

#endif
