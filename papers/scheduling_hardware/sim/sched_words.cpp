// SPDX-License-Identifier: Apache-2.0
// The golden model: watched words, and who waits at them.
#include "sched_model.h"

#include <algorithm>

namespace okosu
{

namespace
{

// Stores to a word are counted up to here, which means: all who wait.
constexpr unsigned kManyStores = 15;
constexpr unsigned kAll = ~0u;

} // namespace

// ---- Commands ----

void SchedModel::found()
{
    require(!job_.empty(), "a word is looked for that nobody named");

    Message first = job_[0];

    if (first.op == Op::Wait0)
        wait();
    else if (first.op == Op::Wake)
        wake(first);
    else
        barrier(first);
    job_.clear();
}

void SchedModel::wait()
{
    const Message &first = job_[0];
    uint32_t address = first.data & ~3u;
    bool timed = first.aux & 0x100, found = watches_.count(address);
    Thread &thread = threads_[first.tid];

    thread.expected = job_[1].data;
    if (timed)
        thread.due = uint64_t{job_[2].aux} << 32 | job_[2].data;
    // A barrier's word is no word to wait at, nor the other way round.
    bool barrier = found && watches_.at(address).kind == kBarrier;

    if (barrier || (!found && watches_.size() == machine_.watches)) {
        cover("wait", barrier ? "EAGAIN barrier" : "EAGAIN no watch");
        return reply(first.pe, first.tid, kAgain, 0);
    }
    if (!found)
        watches_[address].kind = first.aux & 3;
    require(!comparing_.count(address), "a word is compared for two at a time");
    comparing_[address] = {static_cast<int>(first.tid), first.pe, !found, timed};
}

void SchedModel::wake(const Message &message)
{
    uint32_t address = message.data & ~3u;
    auto watch = watches_.find(address);
    // A barrier's waiters are its own.
    bool any = watch != watches_.end() && watch->second.kind != kBarrier;
    size_t waiting = any ? watch->second.waiters.size() : 0;
    unsigned woken = any ? resume_waiters(address, message.aux) : 0;

    cover("wake", !waiting           ? "nobody"
                  : !woken           ? "none of some"
                  : woken == waiting ? "all"
                                     : "some");
    reply(message.pe, message.tid, 0, woken);
}

void SchedModel::barrier(const Message &message)
{
    uint32_t address = message.data & ~3u;
    bool found = watches_.count(address), other = found && watches_.at(address).kind != kBarrier;

    if (other) {
        cover("barrier", "EAGAIN no barrier");
        return reply(message.pe, message.tid, kAgain, 0);
    }
    if (!found && message.aux <= 1) {
        cover("barrier", "alone");
        return reply(message.pe, message.tid, 0, 1);
    }
    if (!found && watches_.size() == machine_.watches) {
        cover("barrier", "EAGAIN no watch");
        return reply(message.pe, message.tid, kAgain, 0);
    }

    Watch &watch = watches_[address];

    if (!found) {
        watch.kind = kBarrier;
        watch.missing = message.aux;
    }
    if (--watch.missing > 0) {
        cover("barrier", "blocks");
        threads_[message.tid].timed = false;
        return block(message.pe, message.tid, State::Waiting, address);
    }
    cover("barrier", "last");

    // Those for whom their PE idles go on by one message, the others by way of the ready lists.
    uint64_t batch = ++batch_;

    for (unsigned tid : watch.waiters) {
        int self = static_cast<int>(tid);
        auto marked = std::find_if(pes_.begin(), pes_.end(),
                                   [&](const PeView &pe) { return pe.mark == self; });

        cover("barrier", marked == pes_.end() ? "goes on" : "goes on at once");
        finish(tid, 0, 0);
        if (marked == pes_.end()) {
            make_ready(tid);
            threads_[tid].batch = batch;
            continue;
        }
        threads_[tid].state = State::Dispatched;
        marked->mark = -1;
        marked->slot = self;
        marked->slot_priority = marked->running_priority;
        release_ = watch.number;
    }
    watches_.erase(address);
    reply(message.pe, message.tid, 0, 1);
}

// ---- Watched words ----

void SchedModel::stored(uint32_t address, uint32_t data, unsigned bytes)
{
    uint32_t mask = 0;
    auto watch = watches_.find(address & ~3u);

    for (unsigned b = 0; b < 4; b++) {
        if (bytes >> b & 1)
            mask |= 0xffu << 8 * b;
    }
    memory_[address & ~3u] = (word(address) & ~mask) | (data & mask);
    if (watch == watches_.end() || !watch->second.armed || watch->second.kind == kBarrier)
        return;
    watch->second.by_bytes = bytes != 15;
    // Of a mutex only the unlocking is of interest.
    if (watch->second.kind == kMutex && (data != 0 || bytes != 15))
        return;
    watch->second.stores = std::min(watch->second.stores + 1, kManyStores);
}

void SchedModel::armed(uint32_t address)
{
    auto watch = watches_.find(address & ~3u);

    require(watch != watches_.end() && !watch->second.armed, "a word is watched for nobody");
    watch->second.armed = true;
}

void SchedModel::took(uint32_t address)
{
    auto watch = watches_.find(address & ~3u);

    require(watch != watches_.end() && watch->second.stores,
            "stores are taken up that there were not");

    unsigned stores = watch->second.stores;

    watch->second.stores = 0;
    watch->second.taken++;
    switch (watch->second.kind) {
    case kMutex:
        require(!comparing_.count(address), "a word is compared for two at a time");
        comparing_[address] = {-1, 0, false, false};
        return;
    case kFlag:
        cover("store", "flag");
        resume_waiters(address, kAll);
        return;
    default:
        cover("store", stores == kManyStores ? "condition, many" : "condition");
        resume_waiters(address, stores == kManyStores ? kAll : stores);
    }
}

void SchedModel::compared(uint32_t address, bool exchange, uint32_t written)
{
    auto found = comparing_.find(address);

    require(found != comparing_.end(), "a word is read that nobody waits for");

    Comparison comparison = found->second;
    Watch &watch = watches_.at(address);
    uint32_t value = word(address);

    comparing_.erase(found);
    require(exchange == (watch.kind == kMutex) && (!exchange || written == 1),
            "a word is not looked at as its kind demands");
    require(watch.armed, "a word is looked at before it is watched");
    if (exchange)
        memory_[address] = written;
    if (comparison.tid < 0) {
        cover("store", value == 0 ? "mutex, handed on" : "mutex, taken");
        if (value == 0)
            resume_waiters(address, 1);
        return;
    }

    unsigned tid = static_cast<unsigned>(comparison.tid);
    const char *kind = watch.kind == kMutex ? "mutex" : watch.kind == kFlag ? "flag" : "condition";
    bool goes_on = exchange ? value == 0 : value != threads_[tid].expected;

    if (goes_on) {
        cover(std::string("wait ") + kind, exchange ? "done" : "EAGAIN");
        if (comparison.claimed)
            watches_.erase(address);
        return reply(comparison.pe, tid, exchange ? 0 : kAgain, 0);
    }
    cover(std::string("wait ") + kind, comparison.timed ? "blocks, timed" : "blocks");
    threads_[tid].timed = comparison.timed;
    block(comparison.pe, tid, State::Waiting, address);
}

void SchedModel::expired(unsigned tid, uint64_t now)
{
    Thread &thread = threads_[tid];

    require(thread.state == State::Waiting && thread.timed && thread.due <= now,
            "a wait is ended before its time, or is none");

    Watch &watch = watches_.at(thread.address);

    cover("wait", "ETIMEDOUT");
    watch.waiters.erase(std::find(watch.waiters.begin(), watch.waiters.end(), tid));
    if (watch.waiters.empty())
        watches_.erase(thread.address);
    resume(tid, kTimedout, 0);
}

unsigned SchedModel::resume_waiters(uint32_t address, unsigned most)
{
    auto watch = watches_.find(address);
    unsigned woken = 0;

    if (watch == watches_.end())
        return 0;
    batch_++;
    for (; woken < most && !watch->second.waiters.empty(); woken++) {
        unsigned tid = watch->second.waiters.front();

        watch->second.waiters.pop_front();
        resume(tid, 0, 0);
    }
    if (watch->second.waiters.empty())
        watches_.erase(watch);
    return woken;
}

} // namespace okosu
