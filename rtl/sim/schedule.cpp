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
    kBarrier = 10,
    kDispatch0 = 33,
    kReply = 35,
};
enum Kind : unsigned { kFlag = 0, kMutex = 1, kCond = 2 };

constexpr unsigned kThreads = 256, kTimedBit = 0x100, kStillBlocked = 255;

} // namespace

Schedule::Schedule(Tell tell) : tell_(std::move(tell)), threads_(kThreads), on_(Model::pes(), -1)
{
    threads_[0].state = Thread::kRunning;
}

void Schedule::from_pe(const Message &message)
{
    Thread &thread = threads_[message.tid];

    switch (message.op) {
    case kCreate0:
        thread = Thread{Thread::kReady, message.data, 0, 0, 0, false};
        tell_(Event::kCreate, message.tid, message.pe);
        break;
    case kExit:
        thread.state = Thread::kFree;
        tell_(Event::kExit, message.tid, message.pe);
        break;
    case kYield:
        thread.state = Thread::kReady;
        tell_(Event::kYield, message.tid, message.pe);
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
        tell_(Event::kBlock, message.tid, message.pe);
        break;
    default:
        break;
    }
}

void Schedule::from_master(const Message &message)
{
    Thread &thread = threads_[message.tid];
    const bool woken =
        message.op == kDispatch0 || (message.op == kReply && (message.aux & 0xff) != kStillBlocked);

    if (!woken)
        return;
    if (thread.timed)
        timed_--;
    thread.timed = false;
    if (thread.state == Thread::kBlocked)
        tell_(Event::kWake, message.tid, message.pe);
    // An answer reaches a thread that has not stopped.
    thread.state =
        on_[message.pe] == static_cast<int>(message.tid) ? Thread::kRunning : Thread::kReady;
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
            tell_(Event::kStop, static_cast<unsigned>(on_[pe]), pe);
        on_[pe] = now;
        if (now >= 0) {
            threads_[static_cast<unsigned>(now)].state = Thread::kRunning;
            tell_(Event::kStart, static_cast<unsigned>(now), pe);
        }
    }
}

bool Schedule::any_timed() const
{
    return timed_ != 0;
}

const std::vector<Thread> &Schedule::threads() const
{
    return threads_;
}

std::string Schedule::waits_for(const Thread &thread, const Program &program) const
{
    if (thread.op == kJoin)
        return "waits for the end of thread " + std::to_string(thread.object & 255);
    const char *what = thread.op == kBarrier   ? "the barrier"
                       : thread.kind == kMutex ? "the mutex"
                       : thread.kind == kCond  ? "the condition"
                                               : "the flag";
    char address[16];
    const std::string name = program.name_of(thread.object);

    std::snprintf(address, sizeof(address), "0x%08x", thread.object);
    return std::string("waits for ") + what + " at " + address +
           (name.empty() ? "" : " (" + name + ")");
}

} // namespace okosu
