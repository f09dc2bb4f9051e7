// SPDX-License-Identifier: Apache-2.0
// core-lockstep SEED INSTRUCTIONS: a random program on the core and on the golden simulator,
// compared instruction by instruction. Prints what was run; exit status 1 at the first difference,
// with both sides.
#include "golden.h"
#include "random_program.h"

#include "Vcore_top.h"
#include "Vcore_top___024root.h"
#include "verilated.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace
{

using okosu::Effect;

constexpr unsigned kTextWords = 16384, kDataWords = 65536;

// retire_t's fields, from its packed bits (rtl/pkg/okosu_pkg.sv), highest first.
struct Retired {
    bool valid;
    uint32_t pc, instr;
    bool writes;
    unsigned rd;
    uint32_t value;
    bool traps;
    unsigned cause;
    bool accesses, stores;
    uint32_t addr, data;
    unsigned bytes;
};

template <typename Wide> uint32_t field(const Wide &wide, unsigned low, unsigned width)
{
    uint64_t pair = wide[low / 32];

    if (low / 32 + 1 < 7)
        pair |= static_cast<uint64_t>(wide[low / 32 + 1]) << 32;
    return static_cast<uint32_t>(pair >> low % 32 & ((uint64_t{1} << width) - 1));
}

template <typename Wide> Retired unpack(const Wide &wide)
{
    Retired out;
    unsigned at = 0;
    auto take = [&](unsigned width) {
        uint32_t value = field(wide, at, width);

        at += width;
        return value;
    };

    out.bytes = take(4);
    out.data = take(32);
    out.addr = take(32);
    out.stores = take(1);
    out.accesses = take(1);
    out.cause = take(5);
    out.traps = take(1);
    out.value = take(32);
    out.rd = take(5);
    out.writes = take(1);
    out.instr = take(32);
    out.pc = take(32);
    take(8);
    out.valid = take(1);
    return out;
}

class Memory : public okosu::Outside
{
  public:
    explicit Memory(std::vector<uint32_t> words) : words_(std::move(words))
    {
    }
    uint32_t load(uint32_t addr) override
    {
        return words_[(addr - okosu::kDataBase) / 4];
    }
    void store(uint32_t addr, uint32_t data, unsigned bytes)
    {
        if (addr - okosu::kDataBase >= words_.size() * 4)
            return;
        uint32_t &word = words_[(addr - okosu::kDataBase) / 4];

        for (unsigned b = 0; b < 4; b++) {
            if (bytes >> b & 1)
                word = (word & ~(0xffu << 8 * b)) | (data & (0xffu << 8 * b));
        }
    }
    uint32_t cop2_read(unsigned) override
    {
        return 0;
    }
    void cop2_write(bool, unsigned, uint32_t) override
    {
    }
    bool cop2_room() override
    {
        return true;
    }

  private:
    std::vector<uint32_t> words_;
};

bool differs(const Retired &real, const Effect &want)
{
    if (real.pc != want.pc || real.traps != want.traps)
        return true;
    if (want.traps)
        return real.cause != want.cause;
    if (real.writes != want.writes || real.accesses != want.accesses)
        return true;
    if (want.writes && (real.rd != want.rd || (want.rd && real.value != want.value)))
        return true;
    if (want.accesses && (real.addr != want.addr ||
                          (want.stores && (real.data != want.data || real.bytes != want.bytes))))
        return true;
    return false;
}

void show(const char *who, uint32_t pc, uint32_t instr, bool writes, unsigned rd, uint32_t value,
          bool traps, unsigned cause, bool accesses, uint32_t addr, uint32_t data, unsigned bytes)
{
    std::fprintf(stderr, "  %-6s pc %08x instr %08x", who, pc, instr);
    if (traps)
        std::fprintf(stderr, " trap %u", cause);
    if (writes)
        std::fprintf(stderr, " $%u = %08x", rd, value);
    if (accesses)
        std::fprintf(stderr, " at %08x %08x/%x", addr, data, bytes);
    std::fprintf(stderr, "\n");
}

int lockstep(uint64_t seed, uint64_t instructions)
{
    auto context = std::make_unique<VerilatedContext>();
    auto top = std::make_unique<Vcore_top>(context.get());
    okosu::RandomProgram program = okosu::random_program(seed, 4096, kDataWords);
    okosu::Limits limits;
    uint64_t done = 0, cycles = 0, idle = 0, traps = 0;

    program.text.resize(kTextWords);
    limits.text_words = kTextWords;
    limits.data_words = kDataWords;
    for (unsigned n = 0; n < kTextWords; n++)
        top->rootp->core_top__DOT__u_imem__DOT__mem_q[n] = program.text[n];
    for (unsigned n = 0; n < kDataWords; n++)
        top->rootp->core_top__DOT__u_memory__DOT__mem_q[n] = program.data[n];

    Memory memory(program.data);
    okosu::Golden golden(program.text.data(), limits);
    auto tick = [&] {
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
    };

    top->rst_ni = 0;
    tick();
    tick();
    top->rst_ni = 1;
    while (done < instructions) {
        tick();
        cycles++;
        Retired real = unpack(top->retire_o);

        if (!real.valid) {
            if (++idle > 200) {
                std::fprintf(stderr,
                             "core-lockstep: seed %" PRIu64
                             ": nothing retired for 200 cycles after pc %08x\n",
                             seed, golden.pc());
                return 1;
            }
            continue;
        }
        idle = 0;
        Effect want = golden.step(memory, real.traps && real.cause == okosu::kInterrupt);

        if (want.stores && !want.traps)
            memory.store(want.addr & ~3u, want.data, want.bytes);
        if (differs(real, want)) {
            std::fprintf(stderr,
                         "core-lockstep: seed %" PRIu64 ": instruction %" PRIu64 " differs\n", seed,
                         done);
            show("core", real.pc, real.instr, real.writes, real.rd, real.value, real.traps,
                 real.cause, real.accesses, real.addr, real.data, real.bytes);
            show("golden", want.pc, want.instr, want.writes, want.rd, want.value, want.traps,
                 want.cause, want.accesses, want.addr, want.data, want.bytes);
            return 1;
        }
        traps += want.traps;
        done++;
    }
    std::printf("seed %" PRIu64 ": %" PRIu64 " instructions alike, %" PRIu64
                " traps, %.2f cycles an instruction\n",
                seed, done, traps, static_cast<double>(cycles) / static_cast<double>(done));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: core-lockstep SEED INSTRUCTIONS\n");
        return 2;
    }
    return lockstep(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
}
