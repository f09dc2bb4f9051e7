// SPDX-License-Identifier: Apache-2.0
// When an instruction has to retire: a cycle behind the one in front of it, one more if it needs
// what that one only knew at its end or is an access behind a setting of the stacks' guard,
// kBranchCycles more behind a branch that was taken, and as many as the core says that it waited, for
// memory or SSH-s. It also says where it is, for the counters. What waits for another instruction's
// product is left out.
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
        stood_ = false;
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
    bool set_guard_ = false;
    // Where the next one lies if the previous one did not branch; the previous one waited; what a
    // branch costs was spent while the one in front of it waited; nobody sees whether it branched.
    uint32_t next_pc_ = 0;
    bool stood_ = false, hidden_ = false, unseen_ = false;
    // Cycles since then, by what they were spent on, and where the last one was.
    unsigned on_memory_ = 0, on_scheduler_ = 0;
    uint32_t at_pc_ = 0;
    bool elsewhere_ = false;
};

} // namespace okosu

#endif
