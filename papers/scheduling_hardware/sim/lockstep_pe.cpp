// SPDX-License-Identifier: Apache-2.0
#include "lockstep_pe.h"

#include <cstdio>

namespace okosu
{

namespace
{

// COP2 (doc/INTERFACES.md).
enum : unsigned {
    kErr = 5,
    kRes = 6,
    kSelf = 7,
    kPe = 8,
    kPes = 9,
    kCycleLow = 10,
    kCycleHigh = 11,
    kNextPc = 13,
    kNextArg = 14,
    kFirstCommand = 16,
    kCreate = 16,
    kExitThread = 17,
    kYield = 20,
    kPolicy = 25,
    kNext = 26,
};
enum : unsigned { kStackBase = 0, kStackLog2 = 1, kExitStub = 2, kGp = 3, kGuardOn = 6 };
#if OKOSU_RV32
enum : unsigned { kA0 = 10, kGpRegister = 3, kSp = 2, kRa = 1 };
#else
enum : unsigned { kA0 = 4, kGpRegister = 28, kSp = 29, kRa = 31 };
#endif
constexpr uint32_t kArgumentArea = 16;
constexpr unsigned kBlocked = 255;

// The instruction's store, if it makes one, is on the bus when it retires.
bool stores_at_once(uint32_t instr)
{
    return OKOSU_RV32 ? (instr & 0x7f) == 0x2f : instr >> 26 == 0x32;
}

std::string hex(uint32_t value)
{
    char text[16];

    std::snprintf(text, sizeof(text), "%08x", value);
    return text;
}

} // namespace

LockstepPe::LockstepPe(unsigned number, const uint32_t *text, uint32_t text_words,
                       uint32_t data_words, bool soft, unsigned pes)
    : number_(number), soft_(soft), pes_(pes), golden_(text, limits_)
{
    limits_.text_words = text_words;
    limits_.data_words = data_words;
    limits_.hart = number;
}

std::string LockstepPe::step(const Effect &core, uint64_t cycle)
{
    core_ = &core;
    cycle_ = cycle;
    wrong_.clear();

    const Effect want = golden_.step(current->state, *this, core);

    if (differs(core, want))
        wrong_ += "  core   " + in_words(core) + "\n  golden " + in_words(want) + "\n";
    if (want.stores && !want.traps && !stores_at_once(want.instr)) {
        if (posted)
            wrong_ += "  a store retired while one was in the buffer\n";
        posted = BusWord{want.addr & ~3u, want.data, want.bytes, 0};
    } else if (want.stores && !want.traps) {
        if (!exchanged || exchanged->addr != want.addr || exchanged->data != want.data)
            wrong_ += "  the exchange was not on the bus like that\n";
        exchanged.reset();
        stored(golden_, want.addr);
    }
    if (loaded || exchanged)
        wrong_ += "  the bus made an access that no instruction made\n";
    return wrong_;
}

std::optional<Dispatched> LockstepPe::take(unsigned thread)
{
    // An older dispatch belongs to a thread that ran here already.
    for (size_t n = dispatched.size(); n-- > 0;) {
        const Dispatched found = dispatched[n];

        if (found.thread != thread)
            continue;
        dispatched.erase(dispatched.begin(), dispatched.begin() + static_cast<long>(n) + 1);
        return found;
    }
    return std::nullopt;
}

LockstepThread LockstepPe::begin(const Dispatched &as) const
{
    LockstepThread thread;

    thread.state = ThreadState(as.word0);
    thread.id = as.thread;
    thread.generation = as.generation;
    thread.state.regs[kA0] = as.word1;
    thread.state.regs[kGpRegister] = settings_[kGp];
    thread.state.regs[kSp] = limits_.stack_top - (as.thread << limits_.stack_log2) - kArgumentArea;
    thread.state.regs[kRa] = settings_[kExitStub];
    return thread;
}

// The interrupt line is SSH-s's, which is not simulated here: whether it is high is taken from what
// the core did.
bool LockstepPe::irq()
{
    constexpr uint32_t kLine = OKOSU_RV32 ? 0x800 : 0x400;

    return core_->traps || (core_->value & kLine);
}

uint32_t LockstepPe::load(uint32_t addr)
{
    if (!loaded && !exchanged && may_hold && may_hold(addr, core_->data))
        return core_->data;
    std::optional<BusWord> &made = loaded ? loaded : exchanged;
    const uint32_t word = made ? made->old : 0;

    if (!made || made->addr != addr)
        wrong_ += "  the load of " + hex(addr) + " was not on the bus\n";
    loaded.reset();
    return word;
}

uint32_t LockstepPe::cop2_read(unsigned index)
{
    const std::optional<uint32_t> want = expected(index);

    if (want && *want != core_->value)
        wrong_ += "  coprocessor 2's register " + std::to_string(index) + " should be " +
                  hex(*want) + ", not " + hex(core_->value) + "\n";
    if (index == kCycleLow)
        cycle_high_ = static_cast<uint32_t>((cycle_ - 1) >> 32);
    return core_->value;
}

// The value that a register of SSH-s must hold, where it is known.
std::optional<uint32_t> LockstepPe::expected(unsigned index) const
{
    switch (index) {
    case kErr:
        return current->error;
    case kRes:
        return current->result;
    case kSelf:
        return current->generation << 8 | current->id;
    case kPe:
        return number_;
    case kPes:
        return pes_;
    case kCycleLow:
        // An instruction that retires now read its operands a cycle ago.
        return static_cast<uint32_t>(cycle_ - 1);
    case kCycleHigh:
        return cycle_high_;
    case kNextPc:
        return next_pc_;
    case kNextArg:
        return next_arg_;
    default:
        return std::nullopt;
    }
}

void LockstepPe::cop2_write(bool control, unsigned index, uint32_t value)
{
    if (control && index < settings_.size()) {
        settings_[index] = value;
        limits_.stack_top = settings_[kStackBase];
        limits_.stack_log2 = settings_[kStackLog2] & 31;
        limits_.guard = settings_[kGuardOn] & 1;
    } else if (!control && index == kErr) {
        current->error = value & 255;
    } else if (!control && index == kRes) {
        current->result = value;
    } else if (!control && index >= kFirstCommand) {
        if (posted)
            wrong_ += "  a command left before the store in front of it\n";
        command(index);
    }
}

// The results that a command leaves when the thread goes on at once; those of a waking come with
// its dispatch.
void LockstepPe::command(unsigned number)
{
    if (reply) {
        const bool stops = !soft_ && reply->error == kBlocked;

        current->result = stops ? std::optional<uint32_t>() : reply->word0;
        current->error = stops ? std::optional<uint32_t>() : reply->error;
        reply.reset();
        return;
    }
    switch (number) {
    case kCreate:
        current->result = pool.empty() ? std::optional<uint32_t>() : pool.front();
        current->error = 0;
        if (pool.empty())
            wrong_ += "  a thread was created and no id was there for it\n";
        else
            pool.pop_front();
        break;
    case kYield:
        current->result = soft_ ? std::optional<uint32_t>() : 0;
        current->error = soft_ ? std::optional<uint32_t>() : 0;
        break;
    case kExitThread:
        ended = !soft_;
        break;
    case kNext:
        ended = !soft_;
        if (soft_)
            next();
        break;
    case kPolicy:
        break;
    default:
        // Every other command has an answer.
        wrong_ += "  a command ended without SSH-m's answer\n";
    }
}

// In mode SOFT the thread in the slot runs on this PE from here on.
void LockstepPe::next()
{
    if (dispatched.empty()) {
        wrong_ += "  NEXT gave a thread that was not sent to this PE\n";
        return;
    }
    const Dispatched got = dispatched.front();

    dispatched.pop_front();
    current->id = got.thread;
    current->generation = got.generation;
    current->result = got.generation << 8 | got.thread;
    current->error = got.error;
    next_pc_ = got.cold ? got.word0 : 0;
    next_arg_ = got.cold ? got.word1 : got.word0;
}

} // namespace okosu
