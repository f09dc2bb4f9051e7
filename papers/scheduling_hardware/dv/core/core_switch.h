// SPDX-License-Identifier: Apache-2.0
// What SSH-s does to a core: takes its thread away at random times, moves the registers to the
// other bank and lets it go on there.
#ifndef OKOSU_CORE_SWITCH_H
#define OKOSU_CORE_SWITCH_H

#include "core_golden.h"

#include <functional>
#include <random>
#include <string>

class Vcore_top;

namespace okosu
{

class CoreSwitch
{
  public:
    // seed 0: it leaves the core alone. `tick` makes a cycle.
    CoreSwitch(Vcore_top &top, uint64_t seed, std::function<void()> tick);

    // To be called before a cycle: whether the thread is to stop at once, or after its next
    // command.
    void ask();
    // To be called after a cycle, when its retirement has been compared. If the core has parked,
    // this compares each register with the golden thread's, moves the thread and starts the core
    // again. Returns the difference, or "".
    std::string look(const CoreGolden &golden, const ThreadState &thread);
    // The thread was moved in the last look().
    bool moved() const
    {
        return moved_;
    }

  private:
    uint32_t read(unsigned bank, unsigned index);
    void write(unsigned bank, unsigned index, uint32_t value);
    std::string move(const ThreadState &thread);

    Vcore_top &top_;
    bool on_, moved_ = false;
    std::mt19937_64 random_;
    std::function<void()> tick_;
    unsigned left_ = 0, asked_ = 0;
};

} // namespace okosu

#endif
