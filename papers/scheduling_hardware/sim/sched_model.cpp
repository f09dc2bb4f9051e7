// SPDX-License-Identifier: Apache-2.0
#include "sched_model.h"

#include <algorithm>
#include <cstdio>

namespace okosu
{

namespace
{

constexpr uint64_t kNever = (uint64_t{1} << 44) - 1;

std::string error_name(unsigned error)
{
    switch (error) {
    case 0:
        return "done";
    case kSrch:
        return "ESRCH";
    case kAgain:
        return "EAGAIN";
    case kInval:
        return "EINVAL";
    case kDeadlk:
        return "EDEADLK";
    case kTimedout:
        return "ETIMEDOUT";
    default:
        return "blocks";
    }
}

} // namespace

uint64_t Message::pack() const
{
    return uint64_t{static_cast<unsigned>(op)} << 58 | uint64_t{pe} << 52 | uint64_t{tid} << 44 |
           uint64_t{aux} << 32 | data;
}

Message Message::unpack(uint64_t bits)
{
    return {static_cast<Op>(bits >> 58), static_cast<unsigned>(bits >> 52 & 0x3f),
            static_cast<unsigned>(bits >> 44 & 0xff), static_cast<unsigned>(bits >> 32 & 0xfff),
            static_cast<uint32_t>(bits)};
}

std::string Message::text() const
{
    static const std::map<Op, const char *> kNames = {
        {Op::Create0, "CREATE0"},     {Op::Create1, "CREATE1"},     {Op::Exit, "EXIT"},
        {Op::Join, "JOIN"},           {Op::Detach, "DETACH"},       {Op::Yield, "YIELD"},
        {Op::Wait0, "WAIT0"},         {Op::Wait1, "WAIT1"},         {Op::Wait2, "WAIT2"},
        {Op::Wake, "WAKE"},           {Op::Barrier, "BARRIER"},     {Op::SetPrio, "SETPRIO"},
        {Op::Deadline0, "DEADLINE0"}, {Op::Deadline1, "DEADLINE1"}, {Op::Policy, "POLICY"},
        {Op::Start, "START"},         {Op::Released, "RELEASED"},   {Op::Recalled, "RECALLED"},
        {Op::Kept, "KEPT"},           {Op::Grant, "GRANT"},         {Op::Dispatch0, "DISPATCH0"},
        {Op::Dispatch1, "DISPATCH1"}, {Op::Reply, "REPLY"},         {Op::Recall, "RECALL"},
        {Op::Evict, "EVICT"},         {Op::Preempt, "PREEMPT"},     {Op::Release, "RELEASE"},
    };
    auto name = kNames.find(op);
    char text[96];

    std::snprintf(text, sizeof(text), "%s pe %u tid %u aux %03x data %08x",
                  name == kNames.end() ? "?" : name->second, pe, tid, aux, data);
    return text;
}

SchedModel::SchedModel(const SchedMachine &machine)
    : machine_(machine), threads_(machine.threads), pes_(machine.pes)
{
    // PE 0 runs thread 0 from the start.
    threads_[0].state = State::Running;
    threads_[0].home = 0;
    threads_[0].goal = kNever;
    pes_[0].running = 0;
}

void SchedModel::cover(const std::string &command, const std::string &outcome)
{
    coverage_[{command, outcome}]++;
}

uint32_t SchedModel::word(uint32_t address) const
{
    auto found = memory_.find(address & ~3u);

    return found == memory_.end() ? 0 : found->second;
}

// ---- Messages ----

void SchedModel::heard(const Message &message)
{
    heard_++;
    require(group_.empty() || group_[0].pe == message.pe,
            "the messages of a group are parted by " + message.text());
    group_.push_back(message);

    const Message &first = group_[0];
    size_t length = 1;

    if (first.op == Op::Create0 || first.op == Op::Deadline0)
        length = 2;
    else if (first.op == Op::Wait0)
        length = first.aux & 0x100 ? 3 : 2;
    if (group_.size() < length)
        return;

    Group group;

    group.swap(group_);
    switch (message.op) {
    case Op::Create1:
        return create(group);
    case Op::Exit:
        return exit(message);
    case Op::Join:
    case Op::Detach:
        return join_or_detach(message);
    case Op::Wait1:
    case Op::Wait2:
    case Op::Wake:
    case Op::Barrier:
        require(job_.empty(), "a second word is looked for before the first one");
        job_.swap(group);
        return;
    case Op::SetPrio:
        return set_priority(message);
    case Op::Deadline1:
        return set_deadline(group);
    case Op::Policy:
        policy_ = message.aux & 7;
        return cover("policy", std::to_string(policy_));
    default:
        return context(message);
    }
}

void SchedModel::create(const Group &group)
{
    const Message &first = group[0];
    bool asks = first.aux & 0x800;
    unsigned tid = first.tid;

    if (asks) {
        if (fresh_ == machine_.threads && free_.empty())
            return cover("create", "EAGAIN"), reply(first.pe, first.tid, kAgain, 0);
        tid = allocate();
    } else {
        require(threads_[tid].state == State::Granted, "CREATE with an id that was not granted");
        pes_[first.pe].pool--;
    }

    Thread made;

    made.generation = threads_[tid].generation;
    made.priority = first.aux & 15;
    made.detached = first.aux & 16;
    made.cold = true;
    made.word0 = first.data;
    made.word1 = group[1].data;
    made.goal = kNever;
    threads_[tid] = made;
    cover("create", asks ? "id asked for" : "id at hand");
    if (asks)
        reply(first.pe, first.tid, 0, made.generation << 8 | tid);
    make_ready(tid);
}

void SchedModel::exit(const Message &message)
{
    Thread &thread = threads_[message.tid];
    int joiner = thread.joiner;

    stop(message.pe);
    thread.home = -1;
    thread.joiner = -1;
    if (joiner >= 0 || thread.detached) {
        set_free(message.tid);
    } else {
        thread.state = State::Zombie;
        thread.word0 = message.data;
    }
    cover("exit", joiner >= 0 ? "joined" : thread.detached ? "detached" : "zombie");
    if (joiner >= 0)
        resume(joiner, 0, message.data);
}

void SchedModel::join_or_detach(const Message &message)
{
    bool joins = message.op == Op::Join;
    unsigned target = message.data & 0xff, error = 0;
    const char *why = "";

    if (!known(message.data)) {
        error = kSrch;
    } else if (joins && target == message.tid) {
        error = kDeadlk;
        why = " itself";
    } else if (joins && threads_[message.tid].joiner == static_cast<int>(target)) {
        error = kDeadlk;
        why = " cycle";
    } else if (threads_[target].detached || threads_[target].joiner >= 0) {
        error = kInval;
        why = threads_[target].detached ? " detached" : " joined";
    }
    if (error) {
        cover(joins ? "join" : "detach", error_name(error) + why);
        return reply(message.pe, message.tid, error, 0);
    }

    Thread &thread = threads_[target];

    if (thread.state == State::Zombie) {
        cover(joins ? "join" : "detach", "zombie");
        reply(message.pe, message.tid, 0, joins ? thread.word0 : 0);
        set_free(target);
    } else if (joins) {
        cover("join", "blocks");
        thread.joiner = static_cast<int>(message.tid);
        block(message.pe, message.tid, State::Joining, 0);
    } else {
        cover("detach", "alive");
        thread.detached = true;
        reply(message.pe, message.tid, 0, 0);
    }
}

void SchedModel::set_priority(const Message &message)
{
    unsigned error = known(message.data) ? 0 : kSrch;

    cover("setprio", error_name(error));
    if (!error) {
        Thread &thread = threads_[message.data & 0xff];

        thread.priority = message.aux & 15;
        if (thread.state == State::Running)
            pes_[thread.home].running_priority = thread.priority;
    }
    reply(message.pe, message.tid, error, 0);
}

void SchedModel::set_deadline(const Group &group)
{
    const Message &first = group[0];
    unsigned error = known(first.data) ? 0 : kSrch;

    cover("deadline", error_name(error));
    if (!error)
        threads_[first.data & 0xff].goal = uint64_t{group[1].aux} << 32 | group[1].data;
    reply(first.pe, first.tid, error, 0);
}

// What a PE says of the threads whose contexts it has.
void SchedModel::context(const Message &message)
{
    Thread &thread = threads_[message.tid];
    PeView &pe = pes_[message.pe];
    int self = static_cast<int>(message.tid);

    switch (message.op) {
    case Op::Yield: {
        // Who had to make way has not had its turn yet.
        bool told = pe.told;

        cover("yield", told ? "told to" : policy_ == kLifo ? "lifo" : "done");
        stop(message.pe);
        thread.word0 = message.data;
        thread.error = message.aux & 0xff;
        return make_ready(message.tid, told, true);
    }
    case Op::Start:
        require(thread.state == State::Dispatched && pe.slot == self,
                "a PE starts what it was not given: " + message.text());
        cover("start", thread.cold ? "cold" : "warm");
        thread.state = State::Running;
        thread.cold = false;
        thread.home = static_cast<int>(message.pe);
        pe.running = self;
        pe.running_priority = thread.priority;
        pe.slot = -1;
        pe.told = false;
        return;
    case Op::Released:
        cover("released", thread.state == State::Held ? "held" : "not held");
        thread.home = -1;
        if (thread.state == State::Held)
            make_ready(message.tid, false, thread.at_tail);
        return;
    case Op::Recalled:
        require(thread.state == State::Dispatched && pe.slot == self,
                "a PE gives back what it was not given: " + message.text());
        cover("recalled", thread.cold ? "cold" : "warm");
        pe.recalling = false;
        pe.slot = -1;
        return make_ready(message.tid, true);
    case Op::Kept:
        cover("kept", "started");
        pe.recalling = false;
        return;
    default:
        throw Difference("no PE says " + message.text());
    }
}

// ---- Helpers ----

bool SchedModel::known(uint32_t handle) const
{
    unsigned tid = handle & 0xff;

    return handle >> 16 == 0 && tid < fresh_ && threads_[tid].generation == handle >> 8 &&
           threads_[tid].state != State::Free && threads_[tid].state != State::Granted;
}

// Ids that were never used come first, then the one that was free longest.
unsigned SchedModel::allocate()
{
    if (fresh_ != machine_.threads)
        return fresh_++;

    unsigned tid = free_.front();

    free_.pop_front();
    return tid;
}

void SchedModel::set_free(unsigned tid)
{
    threads_[tid].state = State::Free;
    threads_[tid].generation = (threads_[tid].generation + 1) & 0xff;
    free_.push_back(tid);
}

void SchedModel::reply(unsigned pe, unsigned tid, unsigned error, uint32_t result)
{
    replies_[pe] = {{Op::Reply, pe, tid, error, result}, heard_};
}

void SchedModel::stop(unsigned pe)
{
    pes_[pe].running = -1;
    pes_[pe].told = false;
    pes_[pe].mark = -1;
}

void SchedModel::block(unsigned pe, unsigned tid, State state, uint32_t address)
{
    blocking_[pe] = {state, address};
    reply(pe, tid, kBlocked, 0);
}

void SchedModel::make_ready(unsigned tid, bool at_head, bool at_tail)
{
    Thread &thread = threads_[tid];

    thread.at_head = at_head;
    thread.at_tail = at_tail;
    // Its context must be in memory before another PE may have it.
    if (machine_.soft && thread.home >= 0) {
        thread.state = State::Held;
        return;
    }
    thread.state = State::Ready;
    thread.arriving = true;
    thread.batch = ++batch_;
    arriving_.push_back(tid);
}

// The command that a thread blocked in is done.
void SchedModel::finish(unsigned tid, unsigned error, uint32_t result)
{
    Thread &thread = threads_[tid];

    require(thread.state == State::Joining || thread.state == State::Waiting,
            "a thread is woken that does not wait");
    thread.word0 = result;
    thread.error = error;
    thread.timed = false;
}

void SchedModel::resume(unsigned tid, unsigned error, uint32_t result)
{
    finish(tid, error, result);
    make_ready(tid);
}

} // namespace okosu
