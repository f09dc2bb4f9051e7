// SPDX-License-Identifier: Apache-2.0
// One PE's part of the lockstep: what its golden simulator is told, and what is still on its way.
#ifndef OKOSU_LOCKSTEP_PE_H
#define OKOSU_LOCKSTEP_PE_H

#include "core_golden.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace okosu
{

// A thread, with those results of its last command that are known.
struct LockstepThread {
    ThreadState state;
    unsigned id = 0, generation = 1;
    std::optional<uint32_t> result, error;
};

// An access of a core: a store's or exchange's word and bytes, a load's or exchange's old word.
struct BusWord {
    uint32_t addr, data;
    unsigned bytes;
    uint32_t old;
};

// A thread that SSH-m sent to a PE, and what DISPATCH0 and DISPATCH1 said.
struct Dispatched {
    unsigned thread = 0, generation = 0, error = 0;
    bool cold = false;
    uint32_t word0 = 0, word1 = 0;
};

class LockstepPe : public Outside
{
  public:
    LockstepPe(unsigned number, const uint32_t *text, uint32_t text_words, uint32_t data_words,
               bool soft, unsigned pes);

    // Compares one instruction of `thread`. Returns the difference, or "".
    std::string step(const Effect &core, uint64_t cycle);
    // Takes the last message of SSH-m about a thread that begins to run here; nothing if there was
    // none.
    std::optional<Dispatched> take(unsigned thread);
    // The state of a new thread according to the settings of SSH-s.
    LockstepThread begin(const Dispatched &as) const;
    // A word was stored to, not by the instruction that retires next; another thread runs here.
    void note_store(uint32_t addr)
    {
        stored(golden_, addr);
    }
    void note_switch()
    {
        moved(golden_);
    }
    // Where the hardware keeps contexts; 0: nowhere.
    uint32_t contexts() const
    {
        return settings_[4];
    }

    uint32_t load(uint32_t addr) override;
    uint32_t cop2_read(unsigned index) override;
    void cop2_write(bool control, unsigned index, uint32_t value) override;
    Room cop2_room() override
    {
        return Room::kUnknown;
    }
    bool irq() override;
    uint64_t cycle() override
    {
        return cycle_ - 1;
    }

    // The thread that runs, or the state in which the PE came out of reset.
    LockstepThread boot;
    LockstepThread *current = &boot;
    // The PE's thread has ended, and the PE runs nothing until another one comes.
    bool ended = false;
    // The store that is not on the bus yet, and the load, or the exchange or other store that leaves
    // no buffer, that is not retired yet.
    std::optional<BusWord> posted, loaded, exchanged;
    // Whether a data cache may hold the word for the address; none: there is no cache.
    std::function<bool(uint32_t addr, uint32_t word)> may_hold;
    // Messages of SSH-m to this PE: ids for new threads, threads to run, the answer to a command.
    std::deque<uint32_t> pool;
    std::deque<Dispatched> dispatched;
    std::optional<Dispatched> reply;

  private:
    void command(unsigned number);
    std::optional<uint32_t> expected(unsigned index) const;
    void next();

    unsigned number_;
    bool soft_;
    unsigned pes_;
    Limits limits_;
    CoreGolden golden_;
    std::array<uint32_t, 8> settings_{};
    std::optional<uint32_t> next_pc_, next_arg_;
    uint32_t cycle_high_ = 0;
    std::string wrong_;
    // State of the step under way.
    const Effect *core_ = nullptr;
    uint64_t cycle_ = 0;
};

} // namespace okosu

#endif
