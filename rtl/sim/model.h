// SPDX-License-Identifier: Apache-2.0
// The machine as Verilator made it: one clock cycle at a time, and what can be seen of it in
// between.
#ifndef OKOSU_MODEL_H
#define OKOSU_MODEL_H

#include "elf.h"

#include <cstdint>
#include <memory>
#include <string>

namespace okosu
{

// What the program's text is divided into for the counters; `section 0`, user, is what is in none.
constexpr const char *kSections[] = {"user", "create",  "join",     "switch",
                                     "lock", "library", "idle loop"};
constexpr const char *kSectionSymbols[] = {"", "create", "join", "switch", "lock", "lib", "idle"};
constexpr unsigned kSectionsN = 7;

// The retirement port's fields that the simulator looks at (retire_t in rtl/pkg/okosu_pkg.sv).
struct Retired {
    unsigned thread;
    uint32_t pc, instruction;
    bool traps;
    unsigned cause;
    uint32_t address;
};

// A message of the scheduler bus (sched_msg_t).
struct Message {
    bool from_master;
    unsigned op, pe, tid, aux;
    uint32_t data;
};

class Model
{
  public:
    // With `random` what has no initial value gets one drawn with this seed, else 0. `fst` names a
    // file for waveforms, "" none.
    Model(bool random, unsigned seed, const std::string &fst);
    ~Model();

    static unsigned pes();
    static uint32_t text_bytes();
    static uint32_t data_bytes();

    // Puts the program into the memories and the bounds of its sections into the counters, and ends
    // the reset.
    void start(const Program &program);
    void step();

    // Of the cycle that step() made.
    bool prints(unsigned &stream, char &byte) const;
    bool ends(uint32_t &status) const;
    bool message(Message &out) const;
    bool retires(unsigned pe, Retired &out) const;
    bool memory_busy() const;
    // A word of shared memory; `address` is in it.
    uint32_t word(uint32_t address) const;
    // The threads that PEs run, a bit each; and which.
    uint64_t running() const;
    unsigned thread(unsigned pe) const;
    // Cycles of a PE: idle is number 3 * kSectionsN, else 3 * section + {0 execute, 1 memory, 2
    // scheduler}.
    uint64_t count(unsigned pe, unsigned number) const;
    // An assertion of the RTL failed; it said so on stderr.
    bool broken() const;

  private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

} // namespace okosu

#endif
