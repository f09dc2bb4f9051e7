// SPDX-License-Identifier: Apache-2.0
// What random programs have reached: every instruction, every exception, every way a result takes
// to the instruction that needs it, and what meets while something is still under way. coverage.cpp
// is MIPS I, coverage_rv32.cpp is RV32.
#ifndef OKOSU_COVERAGE_H
#define OKOSU_COVERAGE_H

#include "effect.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace okosu
{

class Coverage
{
  public:
    Coverage();
    // The next instruction that retired, and when. A new program begins with begin().
    void note(const Effect &effect, uint64_t cycle);
    void begin();
    // Names of what was not reached, and how many there are in all.
    std::vector<std::string> missing() const;
    size_t points() const
    {
        return hits_.size();
    }

  private:
    // One of the most recent instructions: the register that it wrote, and the unit that its result
    // comes from.
    struct Past {
        const char *kind = nullptr;
        unsigned rd = 0;
        bool slot_follows = false;
    };

    void hit(const std::string &name);
    void note_dependences(uint32_t instr, const char *op);
    void note_meetings(const Effect &effect, const char *op, uint64_t cycle);

    std::map<std::string, uint64_t> hits_;
    Past past_[3];
    uint64_t product_until_ = 0, quotient_until_ = 0;
    bool stored_ = false;
    uint32_t stored_addr_ = 0;
    // The branch whose delay slot has retired, or is the next to, and that slot.
    const char *branched_ = nullptr;
    uint32_t slot_pc_ = 0;
};

} // namespace okosu

#endif
