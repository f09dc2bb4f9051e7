// SPDX-License-Identifier: Apache-2.0
// Golden simulator of the RISC-V core: RV32IM_Zicsr_Zifencei_Zaamo_Zalrsc and machine mode as in
// doc/INTERFACES.md, one instruction a step, no timing.
#ifndef OKOSU_GOLDEN_RV32_H
#define OKOSU_GOLDEN_RV32_H

#include "golden.h"

#include <optional>

namespace okosu
{

// mcause; an interrupt, whose mcause has the uppermost bit, is told by a number that no trap has.
enum RvCause : uint8_t {
    kRvFetchMisaligned = 0,
    kRvFetch = 1,
    kRvIllegal = 2,
    kRvBreak = 3,
    kRvLoadMisaligned = 4,
    kRvLoad = 5,
    kRvStoreMisaligned = 6,
    kRvStore = 7,
    kRvCall = 11,
    kRvInterrupt = 31,
};

class GoldenRv32
{
  public:
    GoldenRv32(const uint32_t *text, const Limits &limits) : text_(text), limits_(&limits)
    {
    }

    // Executes the thread's instruction at its pc. Of what the core did only an interrupt is taken,
    // if one may come here.
    Effect step(ThreadState &thread, Outside &outside, const Effect &core);
    // The thread may be taken from the core in front of the instruction at its pc.
    bool may_stop(const ThreadState &) const
    {
        return !held_ && !in_handler_;
    }
    // A word was stored to, by whichever processor.
    void stored(uint32_t addr)
    {
        if (reserved_ && *reserved_ == (addr & ~3u))
            reserved_.reset();
    }
    // Another thread runs here from now on.
    void moved()
    {
        reserved_.reset();
    }

  private:
    void trap(RvCause cause, uint32_t value);
    void execute(uint32_t instr, Outside &outside);
    void immediate(uint32_t instr);
    void registers(uint32_t instr);
    void branch(uint32_t instr);
    void jump(uint32_t target, unsigned rd);
    void load(uint32_t instr, Outside &outside);
    void store(uint32_t instr);
    void atomic(uint32_t instr, Outside &outside);
    void system(uint32_t instr, Outside &outside);
    void ssh(uint32_t instr, Outside &outside);
    bool wrong_address(uint32_t addr, unsigned bytes, bool stores, bool device);
    void write(unsigned rd, uint32_t value);
    std::optional<uint32_t> csr(unsigned number, Outside &outside) const;
    void set_csr(unsigned number, uint32_t value, Outside &outside);

    const uint32_t *text_;
    const Limits *limits_;
    // The state of the processor, as opposed to that of the thread that runs on it.
    bool enabled_ = false, enabled_before_ = false, external_ = false;
    bool held_ = false, in_handler_ = false;
    uint32_t vector_ = kExceptionVector, scratch_ = 0, epc_ = 0, cause_ = 0, value_ = 0;
    // What mcycle is ahead of the cycles since reset, and how many instructions have retired.
    uint64_t cycles_ahead_ = 0, retired_ = 0;
    std::optional<uint32_t> reserved_;
    // State of the step under way.
    ThreadState *thread_ = nullptr;
    Effect *effect_ = nullptr;
    uint32_t next_pc_ = 0;
    std::optional<uint64_t> retired_set_;
};

} // namespace okosu

#endif
