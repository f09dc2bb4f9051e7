// SPDX-License-Identifier: Apache-2.0
#include "core_switch.h"

#include "Vcore_top.h"

#include <cstdio>

namespace okosu
{

namespace
{

// The port's indices (doc/INTERFACES.md, switching).
constexpr unsigned kHi = 32, kLo = 33, kPc = 34, kWritten = 37;
// The last instruction's result is in its register two cycles after the core has parked.
constexpr unsigned kSettle = 2;
// Cycles that parking may take: a thread is not taken away during a division, and one division may
// follow another.
constexpr unsigned kLongest = 1000;

} // namespace

CoreSwitch::CoreSwitch(Vcore_top &top, uint64_t seed, std::function<void()> tick)
    : top_(top), on_(seed != 0), random_(seed + 1), tick_(std::move(tick))
{
    top_.preempt_i = top_.park_i = top_.run_i = top_.run_bank_i = 0;
    top_.port_bank_i = top_.port_index_i = top_.port_we_i = 0;
    top_.port_wdata_i = 0;
}

void CoreSwitch::ask()
{
    if (!on_ || left_-- != 0)
        return;
    const bool now = !top_.preempt_i;

    top_.preempt_i = now;
    top_.park_i = random_() % 3 == 0;
    // Now and then the core is asked to stop at once.
    left_ = static_cast<unsigned>(!now ? random_() % 600 : random_() % 4 ? random_() % 20 : 2000);
}

std::string CoreSwitch::look(const CoreGolden &golden, const ThreadState &thread)
{
    moved_ = false;
    if (top_.preempted_o && !golden.may_stop(thread))
        return "  the thread was taken away where it must not be\n";
    asked_ = top_.preempt_i ? asked_ + golden.may_stop(thread) : 0;
    if (asked_ > kLongest)
        return "  the thread is not taken away\n";
    if (!top_.parked_o)
        return "";
    if (!on_)
        return "  the core has parked\n";
    moved_ = true;
    return move(thread);
}

uint32_t CoreSwitch::read(unsigned bank, unsigned index)
{
    top_.port_bank_i = bank;
    top_.port_index_i = index;
    tick_();
    return top_.port_rdata_o;
}

void CoreSwitch::write(unsigned bank, unsigned index, uint32_t value)
{
    top_.port_bank_i = bank;
    top_.port_index_i = index;
    top_.port_wdata_i = value;
    top_.port_we_i = 1;
    tick_();
    top_.port_we_i = 0;
}

std::string CoreSwitch::move(const ThreadState &thread)
{
    const unsigned from = top_.bank_o, to = 1 - from;
    const unsigned indices[] = {kHi, kLo, kPc};
    const uint32_t values[] = {thread.hi, thread.lo, thread.pc};
    const bool cold = random_() % 2 != 0;
    uint32_t written = 0;
    char text[96] = "";
    auto alike = [&](unsigned index, uint32_t want) {
        const uint32_t is = read(from, index);

        if (is != want)
            std::snprintf(text, sizeof(text),
                          "  register %u of the parked thread is %08x, not %08x\n", index, is,
                          want);
        // A value that was left here must not be taken for the next one.
        write(from, index, ~is);
        // The registers are set as for a new thread; those that it has not written keep their
        // values.
        if (!cold || index >= 32 || (written >> index & 1))
            write(to, index, want);
    };

    top_.preempt_i = top_.park_i = 0;
    for (unsigned n = 0; n < kSettle; n++)
        tick_();
    written = read(from, kWritten);
    if (cold)
        write(to, kWritten, 0);
    // HI and LO first: they have to be there at once. On RISC-V they are no state of the thread.
    for (unsigned n = OKOSU_RV32 ? 2 : 0; n < 3; n++)
        alike(indices[n], values[n]);
    for (unsigned reg = 1; reg < 32; reg++) {
        if (!(written >> reg & 1) && thread.regs[reg])
            return "  a register that was written is not marked\n";
        alike(reg, thread.regs[reg]);
    }
    if (!cold)
        write(to, kWritten, written);
    if (read(to, kWritten) != written || (written & 1))
        return "  the marks are not as they were written\n";
    top_.run_i = 1;
    top_.run_bank_i = to;
    tick_();
    top_.run_i = 0;
    return text;
}

} // namespace okosu
