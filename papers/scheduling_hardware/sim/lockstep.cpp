// SPDX-License-Identifier: Apache-2.0
#include "lockstep.h"

#include <cstdio>

namespace okosu
{

namespace
{

// msg_op_e (rtl/pkg/okosu_pkg.sv).
enum : unsigned {
    kMsgRecalled = 17,
    kMsgGrant = 32,
    kMsgDispatch0 = 33,
    kMsgDispatch1 = 34,
    kMsgReply = 35,
};
constexpr unsigned kThreads = 256;
constexpr uint32_t kContextBytes = 256;

} // namespace

Lockstep::Lockstep(const Model &model)
    : memory_(model.data(), model.data() + Model::data_bytes() / 4), threads_(kThreads)
{
    for (unsigned n = 0; n < kThreads; n++)
        threads_[n].id = n;
    for (unsigned n = 0; n < Model::pes(); n++)
        pes_.push_back(std::make_unique<LockstepPe>(n, model.text(n), Model::text_bytes() / 4,
                                                    Model::data_bytes() / 4, Model::soft(),
                                                    Model::pes()));
    for (const auto &pe : pes_) {
        if (Model::cached())
            pe->may_hold = [this](uint32_t at, uint32_t held) { return may_hold(at, held); };
    }
    // PE 0 comes out of reset as thread 0.
    if (!Model::soft())
        pes_[0]->current = threads_.data();
}

bool Lockstep::observe(const Model &model)
{
    Transaction transaction;
    Message message;
    Effect core;
    unsigned thread = 0;

    cycle_++;
    // An instruction that retires now was executed a cycle ago, while the buses show this cycle.
    for (unsigned pe = 0; pe < pes_.size(); pe++) {
        if (model.effect(pe, thread, core) && !retire(model, pe, thread, core))
            return false;
    }
    if (model.message(message))
        hear(message);
    return !model.transaction(transaction) || commit(transaction);
}

bool Lockstep::retire(const Model &model, unsigned number, unsigned thread, const Effect &core)
{
    LockstepPe &pe = *pes_[number];

    if (thread != pe.current->id || pe.ended) {
        if (Model::soft())
            return wrong(number, "  it says that it runs thread " + std::to_string(thread) + "\n");
        if (!switch_to(model, number, thread))
            return false;
    }
    const std::string what = pe.step(core, cycle_);

    if (!what.empty())
        return wrong(number, what);
    // It ends a reservation that is made in its cycle, too, by a hit that reads the old word.
    if (last_cycle_ + 1 == cycle_ && last_bytes_)
        pe.note_store(last_store_);
    instructions_++;
    return true;
}

// A PE begins another thread, which may be a new one with the number of a thread that has ended.
bool Lockstep::switch_to(const Model &model, unsigned number, unsigned thread)
{
    LockstepPe &pe = *pes_[number];
    const std::optional<Dispatched> as = pe.take(thread);

    if (!as)
        return wrong(number,
                     "  it runs thread " + std::to_string(thread) + ", which was not sent to it\n");
    for (unsigned other = 0; other < pes_.size(); other++) {
        if (other != number && (model.running() >> other & 1) && model.thread(other) == thread)
            return wrong(number, "  PE " + std::to_string(other) + " runs the same thread\n");
    }
    if (as->cold)
        threads_[thread] = pe.begin(*as);
    else if (threads_[thread].generation != as->generation)
        return wrong(number, "  the thread was sent with another generation\n");
    pe.current = &threads_[thread];
    pe.ended = false;
    pe.note_switch();
    return true;
}

void Lockstep::hear(const Message &message)
{
    if (message.pe >= pes_.size())
        return;
    LockstepPe &pe = *pes_[message.pe];

    switch (message.op) {
    case kMsgGrant:
        pe.pool.push_back((message.aux & 255) << 8 | message.tid);
        break;
    case kMsgReply:
        pe.reply = Dispatched{message.tid, 0, message.aux & 255, false, message.data, 0};
        break;
    case kMsgDispatch0:
        pe.dispatched.push_back(
            {message.tid, message.aux & 255, 0, (message.aux >> 8 & 1) != 0, message.data, 0});
        take_results(pe);
        break;
    case kMsgDispatch1: {
        if (pe.dispatched.empty())
            break;
        Dispatched &last = pe.dispatched.back();

        last.error = message.aux & 255;
        last.word1 = message.data;
        take_results(pe);
        break;
    }
    case kMsgRecalled:
        if (!pe.dispatched.empty() && pe.dispatched.back().thread == message.tid)
            pe.dispatched.pop_back();
        break;
    }
}

// A thread that is woken finds its results as the dispatch said them: RES in DISPATCH0, ERR in
// DISPATCH1. Without a DISPATCH1, ERR is 0.
void Lockstep::take_results(const LockstepPe &pe)
{
    const Dispatched &last = pe.dispatched.back();

    if (last.cold || Model::soft())
        return;
    threads_[last.thread].result = last.word0;
    threads_[last.thread].error = last.error;
}

bool Lockstep::commit(const Transaction &seen)
{
    uint32_t *const at = word(seen.address);

    if (!seen.stores && at && *at != seen.data)
        return wrong(seen.master, "  memory gave another word than was stored there\n");
    if (seen.master < pes_.size() && !commit_of_core(*pes_[seen.master], seen))
        return false;
    for (unsigned pe = 0; seen.stores && seen.bytes && pe < pes_.size(); pe++) {
        if (pe != seen.master)
            pes_[pe]->note_store(seen.address);
    }
    if (seen.stores) {
        last_store_ = seen.address;
        last_old_ = at ? *at : 0;
        last_bytes_ = seen.bytes;
        last_cycle_ = cycle_;
    }
    for (unsigned b = 0; seen.stores && at && b < 4; b++) {
        if (seen.bytes >> b & 1)
            *at = (*at & ~(0xffu << 8 * b)) | (seen.data & (0xffu << 8 * b));
    }
    return true;
}

// A hit in the cycle of another's store still reads the old word (soc/dcache.sv); it retires a
// cycle later.
bool Lockstep::may_hold(uint32_t address, uint32_t held)
{
    const uint32_t *const at = word(address);

    return at && (*at == held ||
                  (address == last_store_ && held == last_old_ && last_cycle_ + 1 == cycle_));
}

bool Lockstep::commit_of_core(LockstepPe &pe, const Transaction &seen)
{
    const uint32_t *const at = word(seen.address);
    const BusWord made = {seen.address, seen.data, seen.bytes, at ? *at : 0};

    // A conditional store of RISC-V whose reservation has ended changes nothing; an operation reads
    // anew then, and else its store follows what it read.
    if (OKOSU_RV32 && seen.stores && !pe.posted && !pe.exchanged &&
        (!pe.loaded || pe.loaded->addr == seen.address)) {
        if (!seen.bytes)
            pe.loaded.reset();
        else
            pe.exchanged = made;
        return true;
    }
    if (pe.loaded || pe.exchanged)
        return wrong(seen.master, "  the bus made an access that no instruction made\n");
    if (!seen.stores) {
        if (pe.posted)
            return wrong(seen.master, "  a load passed the store in front of it\n");
        pe.loaded = made;
    } else if (pe.posted) {
        const BusWord &want = *pe.posted;

        if (want.addr != made.addr || want.data != made.data || want.bytes != made.bytes)
            return wrong(seen.master, "  another store came to the bus than retired\n");
        pe.posted.reset();
        pe.note_store(seen.address);
    } else {
        pe.exchanged = made;
    }
    return true;
}

bool Lockstep::finish(const Model &model)
{
    const uint32_t contexts = pes_[0]->contexts(), size = kThreads * kContextBytes;

    for (uint32_t n = 0; n < memory_.size(); n++) {
        const uint32_t address = kDataBase + 4 * n;

        // The last store gets to memory at the end of this cycle.
        if (address == last_store_ || memory_[n] == model.data()[n])
            continue;
        if (contexts && !Model::soft() && address - contexts < size)
            continue;
        char text[80];

        std::snprintf(text, sizeof(text), "  memory at %08x is %08x, golden %08x\n", address,
                      model.data()[n], memory_[n]);
        difference_ = text;
        return false;
    }
    return true;
}

bool Lockstep::wrong(unsigned pe, const std::string &what)
{
    difference_ = (pe < pes_.size() ? "  PE " + std::to_string(pe) + ", thread " +
                                          std::to_string(pes_[pe]->current->id)
                                    : std::string("  SSH-m")) +
                  ", instruction " + std::to_string(instructions_) + "\n" + what;
    return false;
}

uint32_t *Lockstep::word(uint32_t address)
{
    return address - kDataBase < memory_.size() * 4 ? &memory_[(address - kDataBase) / 4] : nullptr;
}

} // namespace okosu
