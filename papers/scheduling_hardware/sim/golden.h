// SPDX-License-Identifier: Apache-2.0
// Golden simulator of the core: MIPS I as in doc/INTERFACES.md, one instruction a step, no
// timing.
//
// Whatever comes from outside (loaded words, coprocessor 2, interrupts) is asked for through
// Outside, so that the checker can answer from the reference memory in the order in which the bus
// served the real machine.
#pragma once

#include "effect.h"
#include "elf.h"

#include <array>
#include <cstdint>

namespace okosu
{

constexpr uint32_t kConsole = 0xbf000000u;
constexpr uint32_t kExit = 0xbf000004u;
constexpr uint32_t kExceptionVector = 0x80000080u;
// The size of the lowest part of a stack's slot, which nobody may touch once the guard is on.
constexpr uint32_t kGuardBytes = 1024;

enum Cause : uint8_t {
    kInterrupt = 0,
    kAddressLoad = 4,
    kAddressStore = 5,
    kFetchBus = 6,
    kDataBus = 7,
    kSyscall = 8,
    kBreak = 9,
    kReserved = 10,
    kCoprocessor = 11,
    kOverflow = 12,
};

// Whether SSH-s's outgoing buffer had room when bc2t or bc2f looked at it.
enum class Room : uint8_t { kNo, kYes, kUnknown };

class Outside
{
  public:
    virtual ~Outside() = default;
    // The aligned word at a valid data address, as the bus delivered it.
    virtual uint32_t load(uint32_t addr) = 0;
    // mfc2 of register `index` (4, SWAP, is the simulator's own).
    virtual uint32_t cop2_read(unsigned index) = 0;
    virtual void cop2_write(bool control, unsigned index, uint32_t value) = 0;
    virtual Room cop2_room() = 0;
    // The level of the interrupt line.
    virtual bool irq() = 0;
    // Cycles since reset when the instruction read its operands.
    virtual uint64_t cycle() = 0;
};

struct Limits {
    uint32_t text_words = 0;
    uint32_t data_words = 0;
    uint32_t threads = 256;
    bool guard = false;
    uint32_t stack_top = 0;
    unsigned stack_log2 = 0;
    // The number of the processor, which RISC-V calls a hart.
    uint32_t hart = 0;
};

// What a thread takes along from PE to PE. A new one has 0 in every register.
struct ThreadState {
    explicit ThreadState(uint32_t at = kTextBase) : pc(at), next_pc(at + 4)
    {
    }
    std::array<uint32_t, 32> regs{};
    uint32_t hi = 0, lo = 0;
    // Delay slots: next_pc follows pc.
    uint32_t pc, next_pc;
    bool in_slot = false;
    // The branch target to go on at after the instruction at pc, if a branch whose condition is not
    // known to this simulator was taken; 0: the condition was known.
    uint32_t other_after_slot = 0, other_pc = 0;
};

class Golden
{
  public:
    Golden(const uint32_t *text, const Limits &limits) : text_(text), limits_(&limits)
    {
    }

    // Executes the thread's instruction at its pc. `core` is what the core did: of it only the pc
    // after a branch of unknown condition is taken, and an interrupt, if one may come here. An
    // interrupt that must come and did not is in the effect.
    Effect step(ThreadState &thread, Outside &outside, const Effect &core);

    // The thread may be taken from the core in front of the instruction at its pc.
    bool may_stop(const ThreadState &thread) const
    {
        return !thread.in_slot && !held_ && !in_handler_;
    }

  private:
    void trap(Effect &effect, Cause cause, uint32_t bad, bool has_bad);
    void execute(uint32_t instr, Effect &effect, Outside &outside);
    void special(uint32_t instr, Effect &effect);
    void access(uint32_t instr, Effect &effect, Outside &outside);
    void load(uint32_t instr, uint32_t word, Effect &effect);
    void store(uint32_t instr, Effect &effect);
    void coprocessor0(uint32_t instr, Effect &effect, Outside &outside);
    void coprocessor2(uint32_t instr, Effect &effect, Outside &outside);
    void branch_on_room(Room room, bool wanted, uint32_t target);
    void branch(bool taken, uint32_t target);
    void write(Effect &effect, unsigned rd, uint32_t value);
    bool outside_memory(uint32_t addr, bool store) const;
    // Interrupt bits of `pending` that are let through.
    bool enabled(uint32_t pending) const
    {
        return (status_ & 1) && !held_ && (pending & status_ & 0xff00);
    }

    const uint32_t *text_;
    const Limits *limits_;
    // The state of the processor, as opposed to that of the thread that runs on it.
    uint32_t swap_ = 0;
    // An operand or SWAP was written: no interrupt before the command, or the read of SWAP, behind
    // it.
    bool held_ = false;
    bool in_handler_ = false;
    uint32_t status_ = 0, cause_ = 0, epc_ = 0, bad_ = 0;
    // State of the step under way.
    ThreadState *thread_ = nullptr;
    uint32_t after_ = 0;
    bool next_in_slot_ = false;
};

} // namespace okosu
