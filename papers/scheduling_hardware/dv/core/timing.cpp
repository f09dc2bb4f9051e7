// SPDX-License-Identifier: Apache-2.0
#include "timing.h"

#include "instruction.h"

namespace okosu
{

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
    const bool memory = effect.accesses || may_access(kind.name) || commands(kind.name);

    return at_pc_ != effect.pc || elsewhere_ || (on_memory_ && !memory) ||
           (on_scheduler_ && !asks_ssh(effect.instr));
}

std::string Timing::note(const Effect &effect, uint64_t cycle)
{
    const Kind *const kind = effect.traps ? nullptr : kind_of(effect.instr);
    const uint64_t passed = cycle - cycle_, waited = on_memory_ + on_scheduler_;
    const unsigned late = late_;
    const bool set_guard = set_guard_;
    const bool known = kind && !behind_trap_ && !waits_for_muldiv(kind->name) &&
                       !(unseen_ && effect.pc == next_pc_);
    const bool wrong_place = kind && elsewhere(effect, *kind);
    const unsigned own = kind ? own_cycles(kind->name) : 0;
    const unsigned bubble = effect.pc != next_pc_ && !hidden_ ? kBranchCycles : 0;

    cycle_ = cycle;
    next_pc_ = effect.pc + 4;
    unseen_ = branches_to_next(effect.instr);
    behind_trap_ = !kind || refetches(kind->name);
    late_ = kind && kind->result && !is(kind->result, {"alu", "link"}) ? effect.rd : 0;
    set_guard_ = kind && sets_guard(effect.instr);
    on_memory_ = on_scheduler_ = 0;
    elsewhere_ = false;
    const bool reads = late && kind &&
                       ((use_of_rs(kind->name, effect.instr) && rs_of(effect.instr) == late) ||
                        (use_of_rt(kind->name, effect.instr) && rt_of(effect.instr) == late));
    const bool needs = reads || (set_guard && kind && (effect.accesses || may_access(kind->name)));

    // Where the instruction in front of a branch waited, the branch had gone ahead, unless it needed
    // that one's result: its target was fetched meanwhile.
    hidden_ = stood_ && !needs;
    stood_ = !behind_trap_ && waited + own != 0;
    if (wrong_place)
        return "  the core says that it is elsewhere, or waits for something else\n  " +
               in_words(effect) + "\n";
    if (!known)
        return "";
    if (passed == waited + own + bubble + (needs ? 2 : 1))
        return "";
    return std::string("  ") + kind->name + " retires " + std::to_string(passed) +
           " cycles behind the instruction in front of it, and waited " + std::to_string(waited) +
           "\n  " + in_words(effect) + "\n";
}

} // namespace okosu
