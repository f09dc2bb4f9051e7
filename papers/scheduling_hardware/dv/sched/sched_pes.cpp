// SPDX-License-Identifier: Apache-2.0
#include "sched_pes.h"

#include <algorithm>

namespace okosu
{

namespace
{

constexpr unsigned kOutDepth = 4;

// In a crowd all threads wait at one word, which is used for a condition.
constexpr uint32_t kWords = 0x90000100, kBarriers = 0x90000800, kCrowd = kWords + 4;

} // namespace

SchedPes::SchedPes(const SchedModel &model, uint64_t seed)
    : model_(model), machine_(model.machine()), random_(seed), pes_(machine_.pes)
{
    static const unsigned kThinks[] = {2, 8, 30, 100};
    static const unsigned kLoads[] = {1, 6, 25};
    static const unsigned kStores[] = {3, 8, 40, 200};

    manners_.think = kThinks[below(4)];
    manners_.load = kLoads[below(3)];
    manners_.store = kStores[below(4)];
    manners_.words = chance(3) ? machine_.watches + 4 : 1 + below(machine_.watches + 3);
    manners_.barriers = 1 + below(3);
    manners_.crowds = chance(3);
    manners_.spreads = !manners_.crowds && chance(3);
    if (manners_.spreads) {
        manners_.store = 400;
        manners_.words = machine_.watches + 4;
    }
    manners_.banks = machine_.soft || chance(4) ? 1 : chance(3) ? 8 : 4;
    // One policy for all the run, or any in turn.
    manners_.policies = chance(2) ? 0xff : 1u << below(6);
    for (unsigned n = 0; n < machine_.pes; n++)
        pes_[n].index = n;
    pes_[0].running = 0;
    pes_[0].banks.insert(0);
}

unsigned SchedPes::below(unsigned bound)
{
    return static_cast<unsigned>((random_() >> 32) * bound >> 32);
}

bool SchedPes::chance(unsigned one_in)
{
    return below(one_in) == 0;
}

uint64_t SchedPes::soon(unsigned mean)
{
    return chance(50) ? below(10 * mean + 1) : below(2 * mean + 1);
}

// The bus.

const Message *SchedPes::offer(unsigned pe) const
{
    return pes_[pe].out.empty() ? nullptr : &pes_[pe].out.front().message;
}

bool SchedPes::more(unsigned pe) const
{
    return !pes_[pe].out.empty() && pes_[pe].out.front().more;
}

void SchedPes::sent(unsigned pe)
{
    pes_[pe].out.pop_front();
}

void SchedPes::say(Pe &pe, Op op, unsigned tid, unsigned aux, uint32_t data, bool more)
{
    pe.out.push_back({{op, pe.index, tid, aux, data}, more});
}

void SchedPes::hear(const Message &message, uint64_t now)
{
    Pe &pe = pes_[message.pe];

    switch (message.op) {
    case Op::Release:
        return release(message.data, now);
    case Op::Preempt:
        pe.told = pe.running == static_cast<int>(message.tid);
        return;
    case Op::Grant:
        if (pe.pool.size() == machine_.pool)
            throw Difference("a PE is granted more ids than it has room for");
        pe.pool.push_back(message.tid);
        return;
    case Op::Dispatch0:
        if (pe.slot >= 0)
            throw Difference("a PE is given a second thread to hold");
        pe.slot = static_cast<int>(message.tid);
        pe.mark = -1;
        pe.whole = message.aux >> 9 & 1;
        pe.loaded = false;
        pe.loaded_at = now + soon(manners_.load);
        return;
    case Op::Dispatch1:
        pe.whole = true;
        return;
    case Op::Recall:
        if (pe.recall >= 0)
            throw Difference("a PE is recalled a second thread from before it answered");
        pe.recall = static_cast<int>(message.tid);
        pe.answer_at = now + 1 + soon(manners_.load);
        return;
    case Op::Evict:
        if (!pe.banks.count(message.tid) && !(pe.spill && pe.spill->tid == message.tid))
            return;
        pe.evict.insert(message.tid);
        return;
    case Op::Reply:
        if (!pe.waits || pe.running != static_cast<int>(message.tid))
            throw Difference("a PE is told what it has not asked for");
        pe.waits = false;
        pe.next = now + soon(manners_.think);
        if (message.aux == kBlocked && message.data >> 31) {
            pe.mark = pe.running;
            pe.barrier = message.data & 0x3f;
        }
        if (message.aux == kBlocked)
            stop(pe, now);
        else
            joins_.erase(message.tid);
        return;
    default:
        return;
    }
}

// A barrier is complete: a PE that idles at it goes on with its thread.
void SchedPes::release(unsigned barrier, uint64_t now)
{
    for (Pe &pe : pes_) {
        if (pe.mark < 0 || pe.barrier != barrier)
            continue;
        if (pe.slot >= 0 || pe.running >= 0)
            throw Difference("a PE is released that is not idle");
        pe.slot = pe.mark;
        pe.mark = -1;
        pe.whole = true;
        pe.loaded = false;
        pe.loaded_at = now + soon(manners_.load);
    }
}

// Starting and stopping of threads.

void SchedPes::step(uint64_t now)
{
    for (Pe &pe : pes_) {
        answer(pe, now);
        keep_banks(pe, now);
        start(pe, now);
        if (pe.told && pe.running >= 0 && !pe.waits && pe.out.size() < kOutDepth)
            yield(pe, now);
        if (pe.running >= 0 && !pe.waits && now >= pe.next && pe.out.size() + 3 <= kOutDepth) {
            pe.next = now + soon(manners_.think);
            draining_ ? tidy(pe, now) : act(pe, now);
        }
    }
}

void SchedPes::answer(Pe &pe, uint64_t now)
{
    if (pe.out.size() == kOutDepth)
        return;
    if (pe.owes >= 0 && now >= pe.answer_at) {
        say(pe, Op::Released, static_cast<unsigned>(pe.owes));
        pe.owes = -1;
        return;
    }
    if (pe.recall < 0 || now < pe.answer_at || (pe.slot == pe.recall && !pe.whole))
        return;
    if (pe.slot == pe.recall) {
        if (pe.loaded && !pe.resident)
            pe.banks.erase(static_cast<unsigned>(pe.slot));
        pe.slot = -1;
        say(pe, Op::Recalled, static_cast<unsigned>(pe.recall));
    } else {
        say(pe, Op::Kept, static_cast<unsigned>(pe.recall));
    }
    pe.recall = -1;
}

// The thread in the slot gets a bank, for which another may have to go; whoever
// is to be evicted goes, too.
void SchedPes::keep_banks(Pe &pe, uint64_t now)
{
    if (pe.spill) {
        if (now < pe.spill->done || pe.out.size() == kOutDepth)
            return;
        say(pe, Op::Released, pe.spill->tid);
        pe.spill.reset();
        return;
    }

    unsigned held = static_cast<unsigned>(pe.slot);
    bool wants = pe.slot >= 0 && pe.whole && !pe.loaded && now >= pe.loaded_at;

    if (machine_.soft) {
        pe.loaded = pe.loaded || wants;
        return;
    }
    if (wants && pe.banks.count(held)) {
        pe.loaded = pe.resident = true;
        pe.evict.erase(held);
        return;
    }
    if (wants && pe.banks.size() < manners_.banks) {
        pe.loaded = true;
        pe.resident = false;
        pe.banks.insert(held);
        return;
    }

    std::vector<unsigned> parked, evicted;

    for (unsigned tid : pe.banks) {
        if (static_cast<int>(tid) == pe.running || static_cast<int>(tid) == pe.slot)
            continue;
        parked.push_back(tid);
        if (pe.evict.count(tid))
            evicted.push_back(tid);
    }

    const std::vector<unsigned> &from = evicted.empty() ? parked : evicted;

    if (from.empty() ||
        (evicted.empty() && !wants && pe.banks.size() < manners_.banks && !chance(300)))
        return;
    pe.spill = Spill{from[below(static_cast<unsigned>(from.size()))], now + soon(manners_.load)};
    pe.banks.erase(pe.spill->tid);
    pe.evict.erase(pe.spill->tid);
}

void SchedPes::start(Pe &pe, uint64_t now)
{
    if (pe.running >= 0 || pe.owes >= 0 || pe.slot < 0 || !pe.loaded || pe.recall >= 0 ||
        pe.out.size() == kOutDepth)
        return;
    pe.running = pe.slot;
    pe.slot = -1;
    pe.loaded = false;
    pe.next = now + soon(manners_.think);
    joins_.erase(static_cast<unsigned>(pe.running));
    pe.evict.erase(static_cast<unsigned>(pe.running));
    say(pe, Op::Start, static_cast<unsigned>(pe.running));
}

// Its context stays in its bank; SOFT saves it at once.
void SchedPes::stop(Pe &pe, uint64_t now)
{
    if (machine_.soft) {
        pe.banks.erase(static_cast<unsigned>(pe.running));
        pe.owes = pe.running;
        pe.answer_at = now + 1 + soon(manners_.load);
    }
    pe.running = -1;
    pe.told = false;
}

// The end of threads.

void SchedPes::drain(bool on)
{
    draining_ = on;
    fifo_asked_ = false;
}

bool SchedPes::drained() const
{
    for (const Pe &pe : pes_) {
        if (!pe.out.empty() || pe.waits || pe.slot >= 0 || pe.recall >= 0 || pe.owes >= 0 ||
            pe.spill || pe.running > 0)
            return false;
    }
    for (unsigned tid = 1; tid < machine_.threads; tid++) {
        State state = model_.thread(tid).state;

        if (state != State::Free && state != State::Granted)
            return false;
    }
    return model_.watches().empty() && model_.thread(0).state == State::Running;
}

// Commands.

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
        // A barrier at which threads wait has to be completed, or they would never go on.
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

    // SSH-m must refuse a join by which two threads would wait for each other.
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
    // A correct program uses a word for one purpose only.
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

// Operands.

uint32_t SchedPes::word()
{
    // A wrong program takes a barrier's word for a word of WAIT, and the other way round.
    return chance(100) ? kBarriers : kWords + 4 * below(manners_.words);
}

uint32_t SchedPes::barrier_word()
{
    return chance(100) ? kWords : kBarriers + 4 * below(manners_.barriers);
}

// Mostly the handle of a thread that exists.
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
