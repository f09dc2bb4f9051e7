// SPDX-License-Identifier: Apache-2.0
// The random PEs: what their threads do.
#include "sched_pes.h"

#include <algorithm>

namespace okosu
{

namespace
{

// The word of a crowd is one that is used for a condition.
constexpr uint32_t kWords = 0x90000100, kBarriers = 0x90000800, kCrowd = kWords + 4;

} // namespace

// ---- Commands ----

void SchedPes::act(Pe &pe, uint64_t now)
{
    unsigned self = static_cast<unsigned>(pe.running);
    unsigned choice = below(100);

    if ((manners_.crowds || manners_.spreads) && self && chance(2))
        choice = chance(3) ? 0 : 60;
    if (choice < 22)
        return create(pe);
    if (choice < 32)
        return self ? exit(pe, now) : join(pe);
    if (choice < 44)
        return join(pe);
    if (choice < 50)
        return detach(pe);
    if (choice < 60)
        return yield(pe, now);
    if (choice < 80)
        return wait(pe, now);
    if (choice < 86)
        return wake(pe);
    if (choice < 92)
        return self ? barrier(pe) : wake(pe);
    if (choice < 95) {
        say(pe, Op::SetPrio, self, below(16), any_handle(self));
        pe.waits = true;
        return;
    }
    if (choice < 98) {
        uint64_t deadline = now + below(4000);

        say(pe, Op::Deadline0, self, 0, any_handle(self), true);
        say(pe, Op::Deadline1, self, deadline >> 32 & 0xfff, static_cast<uint32_t>(deadline));
        pe.waits = true;
        return;
    }

    unsigned policy = below(8);

    if (manners_.policies >> policy & 1)
        say(pe, Op::Policy, self, policy);
}

void SchedPes::tidy(Pe &pe, uint64_t now)
{
    unsigned self = static_cast<unsigned>(pe.running);

    if (!fifo_asked_) {
        fifo_asked_ = true;
        return say(pe, Op::Policy, self, kFifo);
    }
    if (self) {
        // A barrier that some wait at has to be completed: only so do they go on.
        for (const auto &[address, watch] : model_.watches()) {
            if (watch.kind != kBarrier || watch.waiters.empty())
                continue;
            say(pe, Op::Barrier, self, 2, address);
            pe.waits = true;
            return;
        }
        return exit(pe, now);
    }
    if (chance(2))
        yield(pe, now);
    if (pe.running < 0)
        return;
    for (const auto &[address, watch] : model_.watches()) {
        if (watch.waiters.empty())
            continue;
        if (watch.kind == kBarrier) {
            if (!all_blocked() || !chance(8))
                continue;
            if (watch.missing > 1)
                return create(pe);
            say(pe, Op::Barrier, self, 2, address);
            pe.waits = true;
            return;
        } else if (chance(2)) {
            say(pe, Op::Wake, self, 0xfff, address);
            pe.waits = true;
            return;
        }
    }
    for (unsigned tid = 1; tid < machine_.threads; tid++) {
        const Thread &thread = model_.thread(tid);

        if (thread.state == State::Zombie) {
            say(pe, chance(2) ? Op::Join : Op::Detach, self, 0, thread.generation << 8 | tid);
            pe.waits = true;
            return;
        }
    }
}

void SchedPes::create(Pe &pe)
{
    unsigned self = static_cast<unsigned>(pe.running),
             attributes = below(16) | (chance(3) ? 16 : 0);
    bool asks = pe.pool.empty();
    unsigned tid = asks ? self : pe.pool.front();

    if (!asks)
        pe.pool.pop_front();
    say(pe, Op::Create0, tid, attributes | (asks ? 0x800 : 0), static_cast<uint32_t>(random_()),
        true);
    say(pe, Op::Create1, tid, 0, static_cast<uint32_t>(random_()));
    pe.waits = asks;
}

void SchedPes::exit(Pe &pe, uint64_t now)
{
    say(pe, Op::Exit, static_cast<unsigned>(pe.running), 0, static_cast<uint32_t>(random_()));
    pe.banks.erase(static_cast<unsigned>(pe.running));
    pe.running = -1;
    pe.told = false;
    pe.next = now;
}

// By command or because it is preempted: only where another one is ready to
// run.
void SchedPes::yield(Pe &pe, uint64_t now)
{
    // With one bank the next thread is loaded when this one has stopped.
    bool at_hand = manners_.banks == 1 ? pe.slot >= 0 && pe.whole : pe.loaded;

    if (!at_hand || pe.recall >= 0)
        return;
    say(pe, Op::Yield, static_cast<unsigned>(pe.running), below(256),
        static_cast<uint32_t>(random_()));
    stop(pe, now);
}

void SchedPes::join(Pe &pe)
{
    unsigned self = static_cast<unsigned>(pe.running);
    uint32_t handle = any_handle(self);
    unsigned target = handle & 0xff;

    // Cycles of two are SSH-m's to find.
    if (chance(8) && model_.thread(self).joiner >= 0) {
        target = static_cast<unsigned>(model_.thread(self).joiner);
        handle = model_.thread(target).generation << 8 | target;
    }
    if (target < machine_.threads && target != self) {
        bool dead = model_.thread(target).state == State::Zombie;

        // Thread 0 neither blocks nor ends.
        if (makes_long_cycle(self, target) || target == 0 || (self == 0 && !dead))
            return;
    }
    say(pe, Op::Join, self, 0, handle);
    if (target < machine_.threads && target != self)
        joins_[self] = target;
    pe.waits = true;
}

void SchedPes::detach(Pe &pe)
{
    say(pe, Op::Detach, static_cast<unsigned>(pe.running), 0,
        any_handle(static_cast<unsigned>(pe.running)));
    pe.waits = true;
}

void SchedPes::wait(Pe &pe, uint64_t now)
{
    unsigned self = static_cast<unsigned>(pe.running);
    uint32_t address = word();
    // A word has one use, but for programs that are wrong.
    unsigned kind = chance(40) ? below(3) : (address >> 2) % 3;
    bool timed = self == 0 || chance(2);
    uint32_t expected = chance(4) ? below(3) : model_.word(address);
    uint64_t deadline = chance(5) ? now - std::min<uint64_t>(now, below(100)) : now + below(1500);

    if (manners_.crowds && self && !chance(6)) {
        address = kCrowd;
        kind = kCond;
        timed = false;
        expected = model_.word(address);
    }
    if (manners_.spreads && self) {
        timed = chance(6);
        expected = model_.word(address);
    }
    if (chance(20))
        address += below(4);
    say(pe, Op::Wait0, self, kind | (timed ? 0x100 : 0), address, true);
    say(pe, Op::Wait1, self, 0, expected, timed);
    if (timed)
        say(pe, Op::Wait2, self, deadline >> 32 & 0xfff, static_cast<uint32_t>(deadline));
    pe.waits = true;
}

void SchedPes::wake(Pe &pe)
{
    static const unsigned kCounts[] = {0, 1, 1, 2, 3, 0xfff};
    bool at_barrier = chance(20);

    say(pe, Op::Wake, static_cast<unsigned>(pe.running), at_barrier ? 0xfff : kCounts[below(6)],
        at_barrier ? barrier_word() : word());
    pe.waits = true;
}

void SchedPes::barrier(Pe &pe)
{
    // Where all ids can be in the pools of PEs that are idle, a barrier of more than two could
    // remain incomplete.
    bool roomy = machine_.threads > machine_.pes * machine_.pool + 12;

    say(pe, Op::Barrier, static_cast<unsigned>(pe.running), below(roomy ? 5 : 3), barrier_word());
    pe.waits = true;
}

// ---- Operands ----

uint32_t SchedPes::word()
{
    // A program that is wrong takes a barrier's for it, and the other way round.
    return chance(100) ? kBarriers : kWords + 4 * below(manners_.words);
}

uint32_t SchedPes::barrier_word()
{
    return chance(100) ? kWords : kBarriers + 4 * below(manners_.barriers);
}

// Mostly of a thread that there is.
uint32_t SchedPes::any_handle(unsigned self)
{
    if (chance(8))
        return wrong_handle();
    for (unsigned tries = 0; tries < 8; tries++) {
        unsigned tid = chance(12) ? self : below(machine_.threads);
        const Thread &thread = model_.thread(tid);

        if (thread.state != State::Free && thread.state != State::Granted)
            return thread.generation << 8 | tid;
    }
    return wrong_handle();
}

uint32_t SchedPes::wrong_handle()
{
    unsigned tid = below(machine_.threads), generation = model_.thread(tid).generation;

    switch (below(6)) {
    case 0: // one that was, or will be
        return ((generation + (chance(2) ? 1 : 255)) & 0xff) << 8 | tid;
    case 1: // no id
        return generation << 8 | ((machine_.threads + tid) & 0xff);
    case 2: // no handle
        return (1u << (16 + below(16))) | generation << 8 | tid;
    case 3: // anything
        return below(256) << 8 | below(256);
    case 4: // of an id that nobody has
        if (!model_.freed().empty())
            tid = model_.freed()[below(static_cast<unsigned>(model_.freed().size()))];
        return model_.thread(tid).generation << 8 | tid;
    default: // right, or of an id that waits to be used
        return generation << 8 | tid;
    }
}

bool SchedPes::makes_long_cycle(unsigned self, unsigned target) const
{
    unsigned length = 1;

    for (auto at = joins_.find(target); at != joins_.end(); at = joins_.find(at->second)) {
        if (at->second == self)
            return length > 1;
        if (++length > machine_.threads)
            return true;
    }
    return false;
}

// Nobody but thread 0 runs, or soon will.
bool SchedPes::all_blocked() const
{
    for (unsigned tid = 1; tid < machine_.threads; tid++) {
        State state = model_.thread(tid).state;

        if (state == State::Ready || state == State::Held || state == State::Dispatched ||
            state == State::Running)
            return false;
    }
    return true;
}

std::optional<Store> SchedPes::store()
{
    if (draining_)
        return std::nullopt;
    if (burst_ > 0) {
        burst_--;
        return Store{kCrowd, below(3), 15};
    }
    if (manners_.crowds && chance(1500))
        burst_ = 10 + below(40);
    if (!chance(manners_.store))
        return std::nullopt;

    Store store = {word(), below(3), 15};

    if (manners_.crowds && store.address == kCrowd)
        return std::nullopt;

    if (chance(10))
        store.address = barrier_word();
    if (chance(8)) {
        store.bytes = 1 + below(15);
        store.address += below(4);
    }
    return store;
}

} // namespace okosu
