// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include "bits.h"
#include "instruction.h"

#include <cstring>

namespace okosu
{

namespace
{

// The instruction may wait for a product or a quotient, which the core does not report.
bool waits_for_muldiv(const Kind &kind)
{
    return is(kind.name, {"mfhi", "mflo", "mthi", "mtlo", "mult", "multu", "div", "divu"});
}

} // namespace

void Timing::spent(uint32_t at_pc, bool on_memory, bool on_scheduler)
{
    elsewhere_ = elsewhere_ || (at_pc != at_pc_ && (on_memory_ || on_scheduler_));
    at_pc_ = at_pc;
    on_memory_ += on_memory;
    on_scheduler_ += on_scheduler;
}

// The instruction that the core reported, and what it reported to wait for. A command waits for the
// stores and divisions before it, any other request of coprocessor 2 for SSH-s only.
bool Timing::elsewhere(const Effect &effect, const Kind &kind) const
{
    const bool cop2 = effect.instr >> 26 == 0x12;
    const bool memory = effect.accesses || is(kind.name, {"mtc2 of a command"});

    return at_pc_ != effect.pc || elsewhere_ || (on_memory_ && !memory) || (on_scheduler_ && !cop2);
}

std::string Timing::note(const Effect &effect, uint64_t cycle)
{
    const Kind *const kind = effect.traps ? nullptr : kind_of(effect.instr);
    const uint64_t passed = cycle - cycle_, waited = on_memory_ + on_scheduler_;
    const unsigned late = late_;
    const bool known = kind && !behind_trap_ && !waits_for_muldiv(*kind);
    const bool wrong_place = kind && elsewhere(effect, *kind);

    cycle_ = cycle;
    behind_trap_ = !kind;
    late_ = kind && kind->result && !is(kind->result, {"alu", "link"}) ? effect.rd : 0;
    on_memory_ = on_scheduler_ = 0;
    elsewhere_ = false;
    if (wrong_place)
        return "  the core says that it is elsewhere, or waits for something else\n  " +
               in_words(effect) + "\n";
    if (!known)
        return "";
    const bool needs =
        late && ((use_of_rs(kind->name, effect.instr) && bits(effect.instr, 25, 21) == late) ||
                 (use_of_rt(kind->name, effect.instr) && bits(effect.instr, 20, 16) == late));

    if (passed == waited + (needs ? 2 : 1))
        return "";
    return std::string("  ") + kind->name + " retires " + std::to_string(passed) +
           " cycles behind the instruction in front of it, and waited " + std::to_string(waited) +
           "\n  " + in_words(effect) + "\n";
}

} // namespace okosu
