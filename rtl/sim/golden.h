// SPDX-License-Identifier: Apache-2.0
// Golden simulator of the core: MIPS I as in rtl/doc/INTERFACES.md, one instruction a step, no
// timing.
//
// Whatever comes from outside (loaded words, coprocessor 2, interrupts) is asked for through
// Outside, so that the checker can answer from the reference memory in the order in which the bus
// served the real machine.
#pragma once

#include <array>
#include <cstdint>

namespace okosu
{

constexpr uint32_t kTextBase = 0x80000000u;
constexpr uint32_t kDataBase = 0x90000000u;
constexpr uint32_t kConsole = 0xbf000000u;
constexpr uint32_t kExit = 0xbf000004u;
constexpr uint32_t kExceptionVector = 0x80000080u;

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

// What one instruction did; the checker compares it with what the core retired.
struct Effect {
    uint32_t pc = 0;
    uint32_t instr = 0;
    bool writes = false;
    uint8_t rd = 0;
    uint32_t value = 0;
    bool traps = false;
    uint8_t cause = 0;
    bool accesses = false;
    bool stores = false;
    uint32_t addr = 0;
    uint32_t data = 0;
    uint8_t bytes = 0;
};

class Outside
{
  public:
    virtual ~Outside() = default;
    // The aligned word at a valid data address, as the bus delivered it.
    virtual uint32_t load(uint32_t addr) = 0;
    // mfc2 of register `index` (4, SWAP, is the simulator's own).
    virtual uint32_t cop2_read(unsigned index) = 0;
    virtual void cop2_write(bool control, unsigned index, uint32_t value) = 0;
    virtual bool cop2_room() = 0;
};

struct Limits {
    uint32_t text_words = 0;
    uint32_t data_words = 0;
    uint32_t threads = 256;
    bool guard = false;
    uint32_t stack_top = 0;
    unsigned stack_log2 = 0;
};

class Golden
{
  public:
    Golden(const uint32_t *text, const Limits &limits) : text_(text), limits_(&limits)
    {
    }

    // Executes the instruction at pc(), or takes an interrupt before it.
    Effect step(Outside &outside, bool interrupt);

    uint32_t pc() const
    {
        return pc_;
    }
    // A thread that begins: every register 0 but those given by set().
    void start(uint32_t pc);
    void set(unsigned index, uint32_t value)
    {
        regs_[index] = index ? value : 0;
    }
    // The thread goes on behind the command at which it stopped, or where it was preempted.
    bool in_slot() const
    {
        return in_slot_;
    }

  private:
    void trap(Effect &effect, Cause cause, uint32_t bad, bool has_bad);
    void execute(uint32_t instr, Effect &effect, Outside &outside);
    void special(uint32_t instr, Effect &effect);
    void access(uint32_t instr, Effect &effect, Outside &outside);
    void coprocessor0(uint32_t instr, Effect &effect);
    void coprocessor2(uint32_t instr, Effect &effect, Outside &outside);
    void branch(bool taken, uint32_t target);
    void write(Effect &effect, unsigned rd, uint32_t value);
    bool outside_memory(uint32_t addr, bool store) const;

    const uint32_t *text_;
    const Limits *limits_;
    std::array<uint32_t, 32> regs_{};
    uint32_t hi_ = 0, lo_ = 0;
    // Delay slots: next_pc_ follows pc_, after_ follows that.
    uint32_t pc_ = kTextBase, next_pc_ = kTextBase + 4, after_ = kTextBase + 8;
    bool in_slot_ = false, next_in_slot_ = false;
    uint32_t swap_ = 0;
    uint32_t status_ = 0, cause_ = 0, epc_ = 0, bad_ = 0;
};

} // namespace okosu
