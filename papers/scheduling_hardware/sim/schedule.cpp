// SPDX-License-Identifier: Apache-2.0
#include "schedule.h"

#include <cstdio>
#include <utility>

namespace okosu
{

namespace
{

// msg_op_e of rtl/pkg/okosu_pkg.sv.
enum Op : unsigned {
    kCreate0 = 0,
    kExit = 2,
    kJoin = 3,
    kYield = 5,
    kWait0 = 6,
    kWake = 9,
    kBarrier = 10,
    kDispatch0 = 33,
    kReply = 35,
    kRelease = 39,
};
enum Kind : unsigned { kFlag = 0, kMutex = 1, kCond = 2 };

constexpr unsigned kThreads = 256, kTimedBit = 0x100, kAsksBit = 0x800, kStillBlocked = 255;
constexpr uint32_t kMarkedBit = uint32_t{1} << 31, kWatchMask = 63;

} // namespace

Schedule::Schedule(Tell tell)
    : tell_(std::move(tell)), threads_(kThreads), on_(Model::pes(), -1), marked_(Model::pes()),
      asked_(Model::pes())
{
    threads_[0].state = Thread::kRunning;
}

void Schedule::create(unsigned thread, uint32_t entry, unsigned pe)
{
    threads_[thread] = Thread{Thread::kReady, entry, 0, 0, 0, false};
    alive_++;
    tell_(Event::kCreate, thread, pe, 0);
}

void Schedule::from_pe(const Message &message)
{
    Thread &thread = threads_[message.tid];

    switch (message.op) {
    case kCreate0:
        // Without an id at hand a PE asks for one, and the answer is the id.
        if (message.aux & kAsksBit)
            asked_[message.pe] = {static_cast<int>(message.tid), message.data};
        else
            create(message.tid, message.data, message.pe);
        break;
    case kExit:
        thread.state = Thread::kFree;
        alive_--;
        tell_(Event::kExit, message.tid, message.pe, 0);
        break;
    case kYield:
        thread.state = Thread::kReady;
        tell_(Event::kYield, message.tid, message.pe, 0);
        break;
    case kWait0:
        thread.kind = message.aux & 0xff;
        thread.timed = message.aux & kTimedBit;
        timed_ += thread.timed;
        [[fallthrough]];
    case kJoin:
    case kBarrier:
        thread.state = Thread::kBlocked;
        thread.op = message.op;
        thread.object = message.data;
        tell_(Event::kBlock, message.tid, message.pe, thread.object);
        break;
    case kWake:
        tell_(Event::kSignal, message.tid, message.pe, message.data);
        break;
    default:
        break;
    }
}

void Schedule::from_master(const Message &message)
{
    Thread &thread = threads_[message.tid];
    const bool blocked = message.op == kReply && (message.aux & 0xff) == kStillBlocked;

    if (Asked &asked = asked_[message.pe];
        message.op == kReply && asked.thread == static_cast<int>(message.tid)) {
        asked.thread = -1;
        if ((message.aux & 0xff) == 0)
            create(message.data & 0xff, asked.entry, message.pe);
    }
    if (blocked && message.data & kMarkedBit)
        marked_[message.pe] = {static_cast<int>(message.tid), message.data & kWatchMask};
    if (message.op == kDispatch0)
        marked_[message.pe].thread = -1;
    if (message.op == kRelease)
        release(message.data & kWatchMask);
    if (message.op != kDispatch0 && (message.op != kReply || blocked))
        return;
    if (thread.timed)
        timed_--;
    thread.timed = false;
    if (thread.state == Thread::kBlocked)
        tell_(Event::kWake, message.tid, message.pe, thread.object);
    // A thread that gets its answer has not stopped.
    thread.state =
        on_[message.pe] == static_cast<int>(message.tid) ? Thread::kRunning : Thread::kReady;
}

void Schedule::release(unsigned watch)
{
    for (unsigned pe = 0; pe < marked_.size(); pe++) {
        Marked &marked = marked_[pe];

        if (marked.thread < 0 || marked.watch != watch)
            continue;
        threads_[static_cast<unsigned>(marked.thread)].state = Thread::kReady;
        tell_(Event::kWake, static_cast<unsigned>(marked.thread), pe,
              threads_[static_cast<unsigned>(marked.thread)].object);
        marked.thread = -1;
    }
}

void Schedule::observe(const Model &model)
{
    const uint64_t running = model.running();
    Message message;

    if (model.message(message)) {
        if (message.from_master)
            from_master(message);
        else
            from_pe(message);
    }
    for (unsigned pe = 0; pe < on_.size(); pe++) {
        const int now = running >> pe & 1 ? static_cast<int>(model.thread(pe)) : -1;

        if (now == on_[pe])
            continue;
        if (on_[pe] >= 0)
            tell_(Event::kStop, static_cast<unsigned>(on_[pe]), pe, 0);
        on_[pe] = now;
        if (now >= 0) {
            threads_[static_cast<unsigned>(now)].state = Thread::kRunning;
            tell_(Event::kStart, static_cast<unsigned>(now), pe, 0);
        }
    }
}

unsigned Schedule::alive() const
{
    return alive_;
}

bool Schedule::any_timed() const
{
    return timed_ != 0;
}

const std::vector<Thread> &Schedule::threads() const
{
    return threads_;
}

bool Schedule::is_mutex(const Thread &thread) const
{
    return thread.op == kWait0 && thread.kind == kMutex;
}

std::string Schedule::waits_for(const Thread &thread, const Program &program) const
{
    if (thread.op == kJoin)
        return "waits for the end of thread " + std::to_string(thread.object & 255);
    const char *what = thread.op == kBarrier  ? "the barrier"
                       : is_mutex(thread)     ? "the mutex"
                       : thread.kind == kCond ? "the condition"
                                              : "the flag";
    char address[16];
    const std::string name = program.name_of(thread.object);

    std::snprintf(address, sizeof(address), "0x%08x", thread.object);
    return std::string("waits for ") + what + " at " + address +
           (name.empty() ? "" : " (" + name + ")");
}

} // namespace okosu
