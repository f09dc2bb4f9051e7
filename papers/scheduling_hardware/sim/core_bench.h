// SPDX-License-Identifier: Apache-2.0
// One core of the RTL (core_top.sv) and the golden simulator, in lockstep.
#ifndef OKOSU_CORE_BENCH_H
#define OKOSU_CORE_BENCH_H

#include "effect.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace okosu
{

constexpr unsigned kCoreTextWords = 16384, kCoreDataWords = 65536;

// How a run ended: after as many instructions as were asked for, or the program ended itself, or
// `difference` says what was not alike.
struct CoreRun {
    uint64_t instructions = 0, cycles = 0, traps = 0;
    bool ended = false;
    uint32_t status = 0;
    std::string difference;
};

// What else happens to a core: whether the buffer behind it has room, and interrupts, whose times
// are drawn with `seed` (0: there are none).
struct CoreWorld {
    bool room = true;
    uint64_t seed = 0;
};

// Hears of each instruction and the cycle of its retirement.
using CoreTold = std::function<void(const Effect &, uint64_t cycle)>;

class CoreBench
{
  public:
    CoreBench();
    ~CoreBench();
    // What an assertion of the RTL says goes to stderr and ends the run as a difference.
    CoreRun run(const std::vector<uint32_t> &text, const std::vector<uint32_t> &data,
                const CoreWorld &world, uint64_t instructions, const CoreTold &told);

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace okosu

#endif
