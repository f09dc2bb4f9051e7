// SPDX-License-Identifier: Apache-2.0
// The machine as Verilator made it: one clock cycle at a time, and what can be seen of it in
// between.
#ifndef OKOSU_MODEL_H
#define OKOSU_MODEL_H

#include "effect.h"
#include "elf.h"
#include "isa.h"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

namespace okosu
{

// The sections of the program's text by which the counters book cycles. Section 0, user, is all
// text outside the others. The last one is the loop in which a PE without a thread looks for one;
// its cycles count as idle.
constexpr const char *kSections[] = {"user", "create", "join", "switch", "lock", "library"};
constexpr const char *kSectionSymbols[] = {"", "create", "join", "switch", "lock", "lib", "idle"};
constexpr unsigned kSectionsN = 7;

// The cause that a trap of the simulator itself has, beyond the core's (cpu_pkg.sv).
constexpr unsigned kCauseStack = 13;
// What fills the instruction memory behind the program: a break with a number that no compiler uses;
// on RISC-V the word that is illegal for this purpose.
constexpr uint32_t kBreakNoText = 1023;
constexpr uint32_t kNoText = OKOSU_RV32 ? 0 : 0x000d | kBreakNoText << 16;

// The retirement port's fields that the simulator looks at (retire_t in rtl/pkg/okosu_pkg.sv).
struct Retired {
    unsigned thread;
    uint32_t pc, instruction;
    bool traps;
    // The address of the instruction that traps.
    unsigned cause;
    uint32_t address;
};

// A message of the scheduler bus (sched_msg_t).
struct Message {
    bool from_master;
    unsigned op, pe, tid, aux;
    uint32_t data;
};

// The RTL cannot be simulated any further; Verilator's code said why on stderr.
struct ModelError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A transaction of the memory bus in its last phase, bursts left out (mem_snoop_t); master pes() is
// SSH-m. An exchange stores.
struct Transaction {
    bool stores;
    uint32_t address, data;
    unsigned bytes, master;
};

class Model
{
  public:
    // With `random`, registers without an initial value get one drawn with this seed, otherwise 0.
    // `fst` names a file for waveforms, "" none.
    Model(bool random, unsigned seed, const std::string &fst);
    ~Model();

    // Writes how often each bit of each signal has changed, as Verilator writes coverage; throws
    // std::runtime_error where this build does not count that, or the file cannot be written.
    void write_toggles(const std::string &path) const;

    static unsigned pes();
    static uint32_t text_bytes();
    static uint32_t data_bytes();
    // The library keeps the registers of threads that do not run (context mode SOFT).
    static bool soft();
    // Each PE has a data cache.
    static bool cached();

    // Puts the program into the memories and the bounds of its sections into the counters, and ends
    // the reset.
    void start(const Program &program);
    // ModelError where there is no next state.
    void step();

    // The events of the cycle that step() simulated.
    bool prints(unsigned &stream, char &byte) const;
    bool ends(uint32_t &status) const;
    bool message(Message &out) const;
    bool retires(unsigned pe, Retired &out) const;
    // The value that the instruction retired by `pe` writes to its register.
    uint32_t written(unsigned pe) const;
    // The whole effect of an instruction of `pe`; the thread that it belongs to.
    bool effect(unsigned pe, unsigned &thread, Effect &out) const;
    bool transaction(Transaction &out) const;
    bool memory_busy() const;
    // A word of shared memory; `address` is in it.
    uint32_t word(uint32_t address) const;
    // All of shared memory, and of a PE's instruction memory.
    const uint32_t *data() const;
    const uint32_t *text(unsigned pe) const;
    // Which PEs run a thread, a bit each; and which thread.
    uint64_t running() const;
    unsigned thread(unsigned pe) const;
    // Cycles of a PE: those without a thread, and those in a section by {0 execute, 1 memory, 2
    // scheduler}. They add up to all cycles.
    uint64_t idle(unsigned pe) const;
    uint64_t count(unsigned pe, unsigned section, unsigned kind) const;
    // An assertion of the RTL failed; it said so on stderr.
    bool broken() const;

  private:
    uint64_t counter(unsigned pe, unsigned number) const;

    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace okosu

#endif
