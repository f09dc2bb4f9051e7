// SPDX-License-Identifier: Apache-2.0
#include "elf.h"

#include "isa.h"

#include <cctype>
#include <cstdio>
#include <cstring>

namespace okosu
{

namespace
{

constexpr uint16_t kMachine = OKOSU_RV32 ? 243 : 8, kTypeExecutable = 2;
const char *const kMachineName = OKOSU_RV32 ? "RISC-V (243)" : "MIPS (8)";
// RISC-V's flags: compressed instructions, the ABI's floating point (none), and its 16 registers.
constexpr uint32_t kRvMask = 0x1 | 0x6 | 0x8;
constexpr uint32_t kLoad = 1, kSymbols = 2, kMipsOneMask = 0xf0000000;
constexpr uint32_t kHeaderBytes = 52, kSegmentBytes = 32, kSectionBytes = 40, kSymbolBytes = 16;
constexpr unsigned kObject = 1, kFunction = 2, kLongestName = 255;

std::string hex(uint32_t value)
{
    char text[16];

    std::snprintf(text, sizeof(text), "0x%08x", value);
    return text;
}

// The file, read by offset; reading outside of it is an error.
class Reader
{
  public:
    explicit Reader(const std::vector<uint8_t> &file) : file_(file)
    {
    }

    uint64_t size() const
    {
        return file_.size();
    }

    uint8_t byte(uint64_t at) const
    {
        need(at, 1);
        return file_[at];
    }

    uint16_t half(uint64_t at) const
    {
        need(at, 2);
        return static_cast<uint16_t>(file_[at] | file_[at + 1] << 8);
    }

    uint32_t word(uint64_t at) const
    {
        return half(at) | static_cast<uint32_t>(half(at + 2)) << 16;
    }

    const uint8_t *bytes(uint64_t at, uint64_t count) const
    {
        need(at, count);
        return file_.data() + at;
    }

    // The 0-terminated string at `at`, which ends before `end`; cut where it is too long for a
    // name, with ? for what is no C name.
    std::string text(uint64_t at, uint64_t end) const
    {
        std::string found;

        for (; at < end && found.size() < kLongestName && byte(at) != 0; at++)
            found += std::isalnum(byte(at)) || std::strchr("_.$", byte(at))
                         ? static_cast<char>(byte(at))
                         : '?';
        return found;
    }

  private:
    void need(uint64_t at, uint64_t count) const
    {
        if (at > file_.size() || count > file_.size() - at)
            throw BadElf("the file is cut off: it ends before byte " + std::to_string(at + count));
    }

    const std::vector<uint8_t> &file_;
};

void check_header(const Reader &file)
{
    if (file.size() < 4 || std::memcmp(file.bytes(0, 4), "\177ELF", 4) != 0)
        throw BadElf("this is no ELF file");
    if (file.byte(4) != 1)
        throw BadElf("this is an ELF file of 64 bits; the machine has 32");
    if (file.byte(5) != 1)
        throw BadElf("this is a big-endian ELF file; the machine is little-endian");
    file.bytes(0, kHeaderBytes);
    if (file.half(18) != kMachine)
        throw BadElf("this is an ELF file for machine " + std::to_string(file.half(18)) +
                     "; the machine is a " + kMachineName);
    if (file.half(16) != kTypeExecutable)
        throw BadElf("this ELF file is no linked program");
    if (OKOSU_RV32 && (file.word(36) & kRvMask) != 0)
        throw BadElf("this program is compiled for compressed instructions, a floating-point unit "
                     "or 16 registers; the machine is an RV32IMA (-march=rv32ima -mabi=ilp32)");
    if (!OKOSU_RV32 && (file.word(36) & kMipsOneMask) != 0)
        throw BadElf("this program is compiled for a later MIPS than MIPS I");
    if (file.word(24) != kTextBase)
        throw BadElf("this program begins at " + hex(file.word(24)) + "; the machine begins at " +
                     hex(kTextBase));
}

void read_segments(const Reader &file, uint32_t text_bytes, uint32_t data_bytes, Program &program)
{
    const uint64_t table = file.word(28);
    const unsigned count = file.half(44);
    uint64_t total = 0;

    if (count != 0 && file.half(42) != kSegmentBytes)
        throw BadElf("the file's table of segments is broken");
    for (unsigned n = 0; n < count; n++) {
        const uint64_t entry = table + uint64_t{n} * kSegmentBytes;
        const uint32_t offset = file.word(entry + 4), address = file.word(entry + 8);
        const uint32_t in_file = file.word(entry + 16), in_memory = file.word(entry + 20);
        Segment segment{address, {}};

        if (file.word(entry) != kLoad || in_memory == 0)
            continue;
        const bool is_text = address < kDataBase;
        const uint32_t from = address - (is_text ? kTextBase : kDataBase);
        const uint32_t size = is_text ? text_bytes : data_bytes;

        if (from > size || in_memory > size - from)
            throw BadElf("the program's segment at " + hex(address) + ", " +
                         std::to_string(in_memory) + " bytes, lies outside the machine's memories");
        total += in_memory;
        // Overlapping segments are refused: many of them could fill the host's memory.
        if (in_file > in_memory || total > uint64_t{text_bytes} + data_bytes)
            throw BadElf("the file's table of segments is broken");
        const uint8_t *bytes = file.bytes(offset, in_file);

        segment.bytes.assign(bytes, bytes + in_file);
        segment.bytes.resize(in_memory, 0);
        program.segments.push_back(std::move(segment));
    }
    if (program.segments.empty())
        throw BadElf("the file has nothing to load");
}

void read_symbols(const Reader &file, Program &program)
{
    const uint64_t table = file.word(32);
    const unsigned count = file.half(48);

    for (unsigned n = 0; n < count; n++) {
        const uint64_t entry = table + uint64_t{n} * kSectionBytes;

        if (file.word(entry + 4) != kSymbols)
            continue;
        if (file.word(entry + 24) >= count)
            throw BadElf("the file's table of sections is broken");
        const uint64_t strings = table + uint64_t{file.word(entry + 24)} * kSectionBytes;
        const uint64_t text = file.word(strings + 16), text_end = text + file.word(strings + 20);
        const uint64_t first = file.word(entry + 16), bytes = file.word(entry + 20);

        file.bytes(first, bytes);
        for (uint64_t at = first; at + kSymbolBytes <= first + bytes; at += kSymbolBytes) {
            const std::string name = file.text(text + file.word(at), text_end);
            const unsigned kind = file.byte(at + 12) & 15;

            if (name.empty())
                continue;
            program.symbols[name] = file.word(at + 4);
            if (kind == kFunction || kind == kObject)
                program.names.emplace(file.word(at + 4), name);
        }
    }
}

} // namespace

std::optional<uint32_t> Program::symbol(const std::string &name) const
{
    const auto found = symbols.find(name);

    return found == symbols.end() ? std::nullopt : std::optional(found->second);
}

std::string Program::name_of(uint32_t address) const
{
    auto above = names.upper_bound(address);
    char offset[16];

    if (above == names.begin())
        return "";
    --above;
    if ((above->first < kDataBase) != (address < kDataBase))
        return "";
    std::snprintf(offset, sizeof(offset), "+0x%x", address - above->first);
    return address == above->first ? above->second : above->second + offset;
}

Program parse_elf(const std::vector<uint8_t> &file, uint32_t text_bytes, uint32_t data_bytes)
{
    const Reader reader(file);
    Program program;

    check_header(reader);
    read_segments(reader, text_bytes, data_bytes, program);
    read_symbols(reader, program);
    return program;
}

} // namespace okosu
