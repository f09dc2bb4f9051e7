// SPDX-License-Identifier: Apache-2.0
#include "sched_pes.h"

namespace okosu
{

namespace
{

constexpr unsigned kOutDepth = 4;

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

// ---- The bus ----

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

// A barrier is complete: whoever idles at it goes on with its thread.
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

// ---- Threads come and go ----

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

// ---- The end ----

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

} // namespace okosu
