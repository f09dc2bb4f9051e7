// SPDX-License-Identifier: Apache-2.0
// Stacks that are overrun by more than the hardware's guard catches: a function takes a frame that
// ends below its thread's stack, and may touch only what lies beyond the guard.
#ifndef OKOSU_STACKS_H
#define OKOSU_STACKS_H

#include "model.h"

#include <cstdint>
#include <vector>

namespace okosu
{

// Whether `address` lies in the lowest bytes of a stack's slot, which the hardware guards
// (sw/link.ld).
bool in_guard(uint32_t address, const Program &program);

class Stacks
{
  public:
    explicit Stacks(const Program &program);

    // Takes in an instruction that a PE retired; true where it moves the stack pointer from a
    // thread's slot to below it. Then `sp` is where it points.
    bool overrun(const Model &model, unsigned pe, const Retired &retired, uint32_t &sp);

  private:
    uint32_t bottom_of(uint32_t sp) const;

    uint32_t start_ = 0, top_ = 0, main_top_ = 0, log2_ = 0;
    // The last stack pointer of each PE (0: unknown), and the thread that it belongs to.
    struct Pointer {
        uint32_t value;
        unsigned thread;
    };
    std::vector<Pointer> pointers_;
};

} // namespace okosu

#endif
