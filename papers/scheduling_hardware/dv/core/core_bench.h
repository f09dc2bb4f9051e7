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

// How a run ended: after the instructions that were asked for, by the program itself, or at a
// difference from the golden simulator, which `difference` describes.
struct CoreRun {
    uint64_t instructions = 0, cycles = 0, traps = 0;
    bool ended = false;
    uint32_t status = 0;
    std::string difference;
};

// The disturbances of a core: a full outgoing buffer, and interrupts and stores of another
// processor at times that are drawn with `seed` (0: there are none).
struct CoreWorld {
    bool room = true;
    uint64_t seed = 0;
};

// It is called with each instruction and the cycle of its retirement.
using CoreTold = std::function<void(const Effect &, uint64_t cycle)>;

class CoreBench
{
  public:
    CoreBench();
    ~CoreBench();
    // A failed assertion of the RTL is printed on stderr and ends the run as a difference.
    CoreRun run(const std::vector<uint32_t> &text, const std::vector<uint32_t> &data,
                const CoreWorld &world, uint64_t instructions, const CoreTold &told);

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace okosu

#endif
