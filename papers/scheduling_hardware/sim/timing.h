// SPDX-License-Identifier: Apache-2.0
// When an instruction has to retire: a cycle behind the one in front of it, one more if it needs
// what that one only knew at its end, and as many as the core says that it waited, for memory or
// SSH-s. It also says where it is, for the counters. What waits for a product is left out.
#ifndef OKOSU_TIMING_H
#define OKOSU_TIMING_H

#include "effect.h"
#include "instruction.h"

#include <cstdint>
#include <string>

namespace okosu
{

class Timing
{
  public:
    // The instruction behind this point was fetched anew.
    void begin()
    {
        behind_trap_ = true;
    }
    // What the core reported for the previous cycle.
    void spent(uint32_t at_pc, bool on_memory, bool on_scheduler);
    // Checks the next instruction that retired, and its cycle. Returns what is wrong, or "".
    std::string note(const Effect &effect, uint64_t cycle);

  private:
    bool elsewhere(const Effect &effect, const Kind &kind) const;

    bool behind_trap_ = true;
    uint64_t cycle_ = 0;
    // The register that the previous instruction wrote with a late result; 0: none.
    unsigned late_ = 0;
    // Cycles since then, by what they were spent on, and where the last one was.
    unsigned on_memory_ = 0, on_scheduler_ = 0;
    uint32_t at_pc_ = 0;
    bool elsewhere_ = false;
};

} // namespace okosu

#endif
