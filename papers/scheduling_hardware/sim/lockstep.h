// SPDX-License-Identifier: Apache-2.0
// The golden simulator in lockstep with every PE of the machine while it runs a program.
//
// Registers belong to threads: each has its own state, which goes with it from PE to PE and begins
// as INTERFACES.md says when the thread does (in SOFT mode the library moves registers, and the
// state is the PE's). Memory is one: it changes with each transaction on the bus, in the bus's
// order, and answers what each core loaded; a store must come out of its core's buffer as the
// golden simulator made it, before anything else of that core. What the scheduler answers a core is
// compared with what SSH-m said on its bus.
#ifndef OKOSU_LOCKSTEP_H
#define OKOSU_LOCKSTEP_H

#include "lockstep_pe.h"
#include "model.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace okosu
{

class Lockstep
{
  public:
    // `model` stands at the end of its reset, with the program in its memories.
    explicit Lockstep(const Model &model);

    // Compares the cycle that the model has just simulated; false at the first difference.
    bool observe(const Model &model);
    // Compares, at the end, all of memory except the contexts that the hardware keeps there.
    bool finish(const Model &model);
    // The difference, in lines for a person.
    const std::string &difference() const
    {
        return difference_;
    }
    uint64_t instructions() const
    {
        return instructions_;
    }

  private:
    bool retire(const Model &model, unsigned pe, unsigned thread, const Effect &core);
    bool switch_to(const Model &model, unsigned pe, unsigned thread);
    bool commit(const Transaction &seen);
    bool commit_of_core(LockstepPe &pe, const Transaction &seen);
    void hear(const Message &message);
    void take_results(const LockstepPe &pe);
    bool may_hold(uint32_t address, uint32_t word);
    bool wrong(unsigned pe, const std::string &what);
    uint32_t *word(uint32_t address);

    std::vector<uint32_t> memory_;
    // By thread; a PE that has not had one yet has a state of its own.
    std::vector<LockstepThread> threads_;
    std::vector<std::unique_ptr<LockstepPe>> pes_;
    uint64_t instructions_ = 0, cycle_ = 0;
    // The store that the bus made last: where, which bytes, the word before it, and when.
    uint32_t last_store_ = 0, last_old_ = 0;
    unsigned last_bytes_ = 0;
    uint64_t last_cycle_ = 0;
    std::string difference_;
};

} // namespace okosu

#endif
