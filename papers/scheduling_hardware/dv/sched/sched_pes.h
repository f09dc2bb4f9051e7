// SPDX-License-Identifier: Apache-2.0
// PEs that do at random whatever a program and its PEs may do: commands with
// right and wrong operands, threads that run, stop, are preempted, spilled,
// recalled and evicted, each after a random while; and stores to shared words.
//
// They keep the protocol of doc/INTERFACES.md as SSH-s does: START before
// the thread's first command, one command at a time, a command's messages in
// one group, RELEASED before the answer to a RECALL. Thread 0 never blocks
// without a deadline, and no cycle of joins longer than two is made: so
// whatever blocks can be ended, which drain() does.
#ifndef OKOSU_SCHED_PES_H
#define OKOSU_SCHED_PES_H

#include "sched_model.h"

#include <optional>
#include <random>

namespace okosu
{

struct Store {
    uint32_t address, data;
    unsigned bytes;
};

// How the PEs behave in one run; drawn from its seed.
struct Manners {
    // Cycles, on average, between commands of a thread; before a loaded thread
    // starts; one of these many cycles has a store.
    unsigned think, load, store;
    unsigned words, barriers, banks;
    // The policies to choose among, as bits.
    unsigned policies;
    // Most threads wait at one condition, to which stores come in bursts.
    bool crowds;
    // Most threads wait, at as many words as there are.
    bool spreads;
};

class SchedPes
{
  public:
    SchedPes(const SchedModel &model, uint64_t seed);

    // A message of SSH-m; throws Difference where a PE cannot accept it.
    void hear(const Message &message, uint64_t now);
    void step(uint64_t now);
    // The message that a PE offers to the bus, if it has one; whether more of its
    // group follow.
    const Message *offer(unsigned pe) const;
    bool more(unsigned pe) const;
    void sent(unsigned pe);
    std::optional<Store> store();
    // Stores come as fast as the bus takes them.
    bool bursts() const
    {
        return burst_ > 0;
    }

    // From now on every thread but the first one ends as soon as it runs, and
    // that one wakes, joins and detaches all.
    void drain(bool on);
    bool drained() const;
    const Manners &manners() const
    {
        return manners_;
    }

  private:
    struct Offer {
        Message message;
        bool more;
    };
    struct Spill {
        unsigned tid;
        uint64_t done;
    };
    struct Pe {
        unsigned index = 0;
        std::deque<Offer> out;
        std::deque<unsigned> pool;
        int running = -1, slot = -1, recall = -1;
        bool whole = false, loaded = false, resident = false, waits = false, told = false;
        // Where it idles: the thread that waits at a barrier, and the barrier's number.
        int mark = -1;
        unsigned barrier = 0;
        // In SOFT mode, the thread that stopped and is still to be released.
        int owes = -1;
        // The threads whose contexts are in banks, the running thread's among them; the thread to
        // be evicted; the context that is being spilled.
        std::set<unsigned> banks, evict;
        std::optional<Spill> spill;
        uint64_t next = 0, loaded_at = 0, answer_at = 0;
    };

    void say(Pe &pe, Op op, unsigned tid, unsigned aux = 0, uint32_t data = 0, bool more = false);
    void release(unsigned barrier, uint64_t now);
    void answer(Pe &pe, uint64_t now);
    void keep_banks(Pe &pe, uint64_t now);
    void start(Pe &pe, uint64_t now);
    void stop(Pe &pe, uint64_t now);
    void act(Pe &pe, uint64_t now);
    void tidy(Pe &pe, uint64_t now);
    void create(Pe &pe);
    void exit(Pe &pe, uint64_t now);
    void yield(Pe &pe, uint64_t now);
    void join(Pe &pe);
    void detach(Pe &pe);
    void wait(Pe &pe, uint64_t now);
    void wake(Pe &pe);
    void barrier(Pe &pe);
    bool all_blocked() const;
    uint32_t any_handle(unsigned self);
    uint32_t wrong_handle();
    bool makes_long_cycle(unsigned self, unsigned target) const;
    uint32_t word();
    uint32_t barrier_word();
    unsigned below(unsigned bound);
    bool chance(unsigned one_in);
    uint64_t soon(unsigned mean);

    const SchedModel &model_;
    SchedMachine machine_;
    std::mt19937_64 random_;
    Manners manners_;
    std::vector<Pe> pes_;
    // The thread that a joining thread waits for, until it goes on.
    std::map<unsigned, unsigned> joins_;
    bool draining_ = false, fifo_asked_ = false;
    unsigned burst_ = 0;
};

} // namespace okosu

#endif
