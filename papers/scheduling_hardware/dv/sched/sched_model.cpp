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

// Stores to a word are counted up to this number, which stands for "wake all waiting threads".
constexpr unsigned kManyStores = 15;
constexpr unsigned kAll = ~0u;

// How many threads of a ready list are looked at for one that suits a PE; else the first one is
// made to move.
constexpr unsigned kSearched = 5, kSearchedByAffinity = 16;

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

// Messages.

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

// Messages of a PE about the threads whose contexts it holds.
void SchedModel::context(const Message &message)
{
    Thread &thread = threads_[message.tid];
    PeView &pe = pes_[message.pe];
    int self = static_cast<int>(message.tid);

    switch (message.op) {
    case Op::Yield: {
        // A thread that made way for another has not had its turn yet.
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

// Helpers.

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
    // The thread's context must be in memory before another PE may run it.
    if (machine_.soft && thread.home >= 0) {
        thread.state = State::Held;
        return;
    }
    thread.state = State::Ready;
    thread.arriving = true;
    thread.batch = ++batch_;
    arriving_.push_back(tid);
}

// The command in which a thread blocked is complete.
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

// Commands that name a word of memory.

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
    // A barrier's word cannot be waited at by WAIT, nor a word of WAIT used as a barrier.
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
    // A WAKE does not reach threads that wait at a barrier.
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

    // Threads for which their PE idles go on by one message; the others go through the ready lists.
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

// Watched words.

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
    // At a mutex only an unlocking store counts.
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

// Ready lists.

void SchedModel::readied(unsigned tid, unsigned list, int place)
{
    Thread &thread = threads_[tid];
    std::deque<unsigned> &ready = ready_[list];
    auto at = std::find(arriving_.begin(), arriving_.end(), tid);

    require(at != arriving_.end(), "a thread becomes ready that is not to: " + std::to_string(tid));
    for (auto other = arriving_.begin(); other != at; ++other)
        require(threads_[*other].batch != thread.batch, "who waited longer is to be ready first");
    require(list == (policy_ == kPriority ? thread.priority : 0), "not its ready list");

    auto behind = std::find(ready.begin(), ready.end(), static_cast<unsigned>(place));
    size_t index = place == -1 ? ready.size() : place == -2 ? 0 : behind - ready.begin() + 1;
    size_t right = ready.size();
    bool before_all = policy_ == kLifo || (policy_ == kAffinity && thread.home >= 0);

    require(place < 0 || behind != ready.end(), "put behind a thread that is not in the list");
    if (policy_ == kEdf)
        right = std::find_if(ready.begin(), ready.end(),
                             [&](unsigned other) { return threads_[other].goal > thread.goal; }) -
                ready.begin();
    else if (thread.at_head || (before_all && !thread.at_tail))
        right = 0;
    require(index == right, "put at place " + std::to_string(index) + " of its ready list, not " +
                                std::to_string(right));
    ready.insert(ready.begin() + static_cast<long>(index), tid);
    arriving_.erase(at);
    thread.arriving = thread.at_head = thread.at_tail = false;
}

void SchedModel::removed(unsigned list, unsigned place)
{
    std::deque<unsigned> &ready = ready_[list];

    require(static_cast<int>(list) == top_list(), "not from the highest ready list");
    require(place < std::min<size_t>(ready.size(), searched()), "not among those looked at");

    unsigned tid = ready[place];
    Thread &thread = threads_[tid];
    std::set<unsigned> to;

    if (urgent() && place == 0) {
        check_urgent(tid, to);
    } else if (suits(tid)) {
        for (unsigned n = 0; n < place; n++)
            require(!suits(ready[n]), "one before it suits as well");
        cover("dispatch", thread.home < 0 ? "anywhere" : place ? "home, searched" : "home");
        for (unsigned pe = 0; pe < machine_.pes; pe++) {
            if (thread.home >= 0 ? thread.home == static_cast<int>(pe)
                                 : pes_[pe].slot < 0 && (!any_idle() || idle(pe)))
                to.insert(pe);
        }
    } else {
        require(place == 0 && any_idle(), "it suits no PE");
        for (unsigned n = 0; n < searched() && n < ready.size(); n++)
            require(!suits(ready[n]), "another one suits, and need not move");
        cover("dispatch", "evicted");
    }
    ready.erase(ready.begin() + place);
    thread.leaving = true;
    thread.evicted = to.empty();
    thread.state = to.empty() ? State::Held : State::Dispatched;
    thread.to = to;
    leaving_++;
    dispatched_++;
}

// The head of the highest list goes to the PE that runs the lowest priority, or home if that runs a
// lower one; where home runs no lower one it moves.
void SchedModel::check_urgent(unsigned tid, std::set<unsigned> &to)
{
    const Thread &thread = threads_[tid];

    for (unsigned pe = 0; pe < machine_.pes; pe++) {
        const PeView &view = pes_[pe];

        if (thread.home >= 0 ? thread.home != static_cast<int>(pe) : !(low_known_.pes >> pe & 1))
            continue;
        if (view.running >= 0 && view.slot < 0 && view.running_priority < thread.priority)
            to.insert(pe);
    }
    cover("dispatch", to.empty() ? "urgent, evicted" : "urgent");
    require(!to.empty() || (thread.home >= 0 && pes_[thread.home].running >= 0 &&
                            pes_[thread.home].running_priority >= thread.priority),
            "urgent, but there is no way for it");
}

// The messages of SSH-m.

void SchedModel::said(const Message &message)
{
    require(second_.empty() || message.op == Op::Dispatch1, "a dispatch is parted");
    require(message.pe < machine_.pes && message.tid < machine_.threads, "there is none such");
    switch (message.op) {
    case Op::Reply:
        return check_reply(message);
    case Op::Preempt:
        return check_preempt(message);
    case Op::Release:
        return check_release(message);
    case Op::Dispatch0:
        return check_dispatch(message);
    case Op::Dispatch1: {
        require(!second_.empty(), "a second half without a first one");

        Message want = second_[0];

        // A thread that goes on ignores the argument.
        if (!threads_[message.tid].cold)
            want.data = message.data;
        require(want.pack() == message.pack(), "it should be " + want.text());
        second_.clear();
        return;
    }
    case Op::Grant:
        return check_grant(message);
    case Op::Recall:
        return check_recall(message);
    case Op::Evict: {
        Thread &thread = threads_[message.tid];

        require(thread.leaving && thread.evicted, "evicts what is not to move");
        require(static_cast<int>(message.pe) == thread.home, "evicts from a PE that has it not");
        thread.leaving = false;
        leaving_--;
        return;
    }
    default:
        throw Difference("SSH-m never says that");
    }
}

// A thread that has been told that it blocks counts as blocked from here on; a wake-up can only
// come later.
void SchedModel::check_reply(const Message &message)
{
    auto found = replies_.find(message.pe);

    require(found != replies_.end(), "a reply where nothing was asked");

    Message want = found->second.first;
    auto blocks = blocking_.find(message.pe);

    if (blocks != blocking_.end()) {
        PeView &pe = pes_[message.pe];
        Thread &thread = threads_[want.tid];
        bool at_barrier = blocks->second.state == State::Waiting &&
                          watches_.at(blocks->second.address).kind == kBarrier;

        stop(message.pe);
        thread.state = blocks->second.state;
        thread.address = blocks->second.address;
        thread.batch = ++batch_;
        if (thread.state == State::Waiting)
            watches_.at(thread.address).waiters.push_back(want.tid);
        if (at_barrier && !machine_.soft && pe.slot < 0) {
            Watch &watch = watches_.at(thread.address);

            if (watch.number < 0)
                watch.number = static_cast<int>(message.data & 0x3f);
            for (const auto &[address, other] : watches_)
                require(&other == &watch || other.number != watch.number,
                        "two barriers have one number");
            pe.mark = static_cast<int>(want.tid);
            want.data = 1u << 31 | static_cast<unsigned>(watch.number);
        }
        blocking_.erase(blocks);
    }
    require(want.pack() == message.pack(), "it should be " + want.text());
    replies_.erase(found);
}

void SchedModel::check_preempt(const Message &message)
{
    PeView &pe = pes_[message.pe];
    Message want = {Op::Preempt, message.pe, static_cast<unsigned>(pe.running), 0, 0};

    require(makes_way(message.pe) && !pe.told, "nobody has to make way");
    require(want.pack() == message.pack(), "it should be " + want.text());
    pe.told = true;
    cover("preempt", "told");
}

void SchedModel::check_release(const Message &message)
{
    Message want = {Op::Release, 0, 0, 0, static_cast<uint32_t>(release_)};

    require(release_ >= 0, "no barrier is complete");
    require(want.pack() == message.pack(), "it should be " + want.text());
    release_ = -1;
}

void SchedModel::check_dispatch(const Message &message)
{
    Thread &thread = threads_[message.tid];
    // A thread that goes on without an error needs no second message.
    bool whole = !thread.cold && thread.error == 0;
    Message want = {Op::Dispatch0, message.pe, message.tid,
                    unsigned{whole} << 9 | unsigned{thread.cold} << 8 | thread.generation,
                    thread.word0};

    require(thread.leaving && !thread.evicted, "dispatches what is not its turn");
    require(thread.to.count(message.pe), "not to a PE that it suits");
    require(pes_[message.pe].slot < 0, "to a PE that holds another one");
    require(want.pack() == message.pack(), "it should be " + want.text());
    pes_[message.pe].slot = static_cast<int>(message.tid);
    pes_[message.pe].slot_priority = thread.priority;
    pes_[message.pe].mark = -1;
    thread.leaving = false;
    leaving_--;
    if (!whole)
        second_ = {{Op::Dispatch1, message.pe, message.tid, thread.error, thread.word1}};
}

void SchedModel::check_grant(const Message &message)
{
    require(pes_[message.pe].pool < machine_.pool, "to a PE that has its fill");
    require(fresh_ != machine_.threads || !free_.empty(), "no id is free");

    unsigned tid = allocate();
    Message want = {Op::Grant, message.pe, tid, threads_[tid].generation, 0};

    require(want.pack() == message.pack(), "it should be " + want.text());
    threads_[tid].state = State::Granted;
    pes_[message.pe].pool++;
    granted_++;
    cover("grant", threads_[tid].generation == 1 ? "new" : "used before");
}

void SchedModel::check_recall(const Message &message)
{
    require(may_recall(message.pe), "no reason to recall");
    require(pes_[message.pe].slot == static_cast<int>(message.tid), "recalls what is not there");
    pes_[message.pe].recalling = true;
    recalled_++;
    cover("recall", threads_[message.tid].cold ? "cold" : "warm");
}

// The work that SSH-m has to do.

std::vector<Duty> SchedModel::duties(uint64_t now) const
{
    std::vector<Duty> out;
    bool grant = false, recall = false;

    for (const auto &[pe, wanted] : replies_)
        out.push_back({"a reply to PE", pe, wanted.second});
    if (!job_.empty())
        out.push_back({"a look for word", job_[0].data, heard_});
    if (release_ >= 0)
        out.push_back({"a release", static_cast<uint64_t>(release_), dispatched_});
    for (const auto &[address, comparison] : comparing_)
        out.push_back({"a look at word", address, heard_});
    for (unsigned tid : arriving_)
        out.push_back({"a place in a ready list for thread", tid, threads_[tid].batch});
    for (unsigned tid = 0; tid < machine_.threads; tid++) {
        const Thread &thread = threads_[tid];

        if (thread.leaving)
            out.push_back({"a message about thread", tid, dispatched_});
        if (thread.state != State::Waiting)
            continue;

        const Watch &watch = watches_.at(thread.address);

        if (thread.timed && thread.due <= now)
            out.push_back({"the end of the wait of thread", tid, thread.due});
        if (watch.kind == kFlag && word(thread.address) != thread.expected)
            out.push_back({"a wake (the flag has changed) of thread", tid, thread.batch});
    }
    for (const auto &[address, watch] : watches_) {
        if (watch.stores && !watch.waiters.empty())
            out.push_back({"a wake of those at word", address, watch.taken});
        if (watch.kind == kMutex && !watch.waiters.empty() && word(address) == 0 && !watch.by_bytes)
            out.push_back({"a wake (it is unlocked) of one at word", address, watch.taken});
    }
    for (unsigned pe = 0; pe < machine_.pes; pe++) {
        grant |= pes_[pe].pool < machine_.pool;
        recall |= top_list() < 0 && may_recall(pe);
        if (makes_way(pe) && !pes_[pe].told)
            out.push_back({"a word to make way at PE", pe, dispatched_});
    }
    if (grant && (fresh_ != machine_.threads || !free_.empty()))
        out.push_back({"a grant", 0, granted_});
    if (recall)
        out.push_back({"a recall", 0, recalled_});
    if (top_list() >= 0 && any_slot()) {
        const std::deque<unsigned> &ready = ready_[top_list()];
        size_t looked = std::min<size_t>(ready.size(), searched());
        bool any = any_idle();

        for (size_t n = 0; n < looked; n++)
            any |= suits(ready[n]);
        if (any && !urgent())
            out.push_back({"a dispatch", 0, dispatched_});
    }
    return out;
}

bool SchedModel::settled() const
{
    return group_.empty() && job_.empty() && comparing_.empty() && arriving_.empty() &&
           blocking_.empty() && leaving_ == 0;
}

std::string SchedModel::left() const
{
    static const char *const kStates[] = {"free",    "granted", "ready",   "held",  "dispatched",
                                          "running", "joining", "waiting", "zombie"};
    std::string out;

    for (unsigned tid = 0; tid < machine_.threads; tid++) {
        const Thread &thread = threads_[tid];

        if (thread.state == State::Free || thread.state == State::Granted)
            continue;
        out += " " + std::to_string(tid) + " " + kStates[static_cast<unsigned>(thread.state)];
        if (thread.joiner >= 0)
            out += " (joined by " + std::to_string(thread.joiner) + ")";
    }
    return out;
}

// The choice of the thread and of the PE.

bool SchedModel::idle(unsigned pe) const
{
    return pes_[pe].running < 0 && pes_[pe].slot < 0;
}

bool SchedModel::any_idle() const
{
    for (unsigned pe = 0; pe < machine_.pes; pe++) {
        if (idle(pe))
            return true;
    }
    return false;
}

bool SchedModel::any_slot() const
{
    return std::any_of(pes_.begin(), pes_.end(), [](const PeView &pe) { return pe.slot < 0; });
}

// A thread can run on any PE once its context is in memory, before that at
// home; there only if it would run at once or no PE is idle.
bool SchedModel::suits(unsigned tid) const
{
    int home = threads_[tid].home;

    if (!any_slot())
        return false;
    if (home < 0)
        return true;
    return pes_[home].slot < 0 && (pes_[home].running < 0 || !any_idle());
}

int SchedModel::top_list() const
{
    for (int list = 15; list >= 0; list--) {
        if (!ready_[list].empty())
            return list;
    }
    return -1;
}

unsigned SchedModel::searched() const
{
    return policy_ == kAffinity ? kSearchedByAffinity : kSearched;
}

// Whether priorities count for what runs.
bool SchedModel::ranks() const
{
    return policy_ == kPriority;
}

bool SchedModel::makes_way(unsigned pe) const
{
    const PeView &view = pes_[pe];

    return ranks() && view.running >= 0 && view.slot >= 0 &&
           view.slot_priority > view.running_priority;
}

// The lowest priority among the PEs whose threads need not make way.
SchedModel::Lowest SchedModel::lowest() const
{
    Lowest lowest;

    for (unsigned pe = 0; pe < machine_.pes; pe++) {
        const PeView &view = pes_[pe];
        int priority = static_cast<int>(view.running_priority);

        if (view.running < 0 || view.told || makes_way(pe))
            continue;
        if (lowest.priority < 0 || priority < lowest.priority)
            lowest = {priority, 0};
        if (priority == lowest.priority)
            lowest.pes |= uint64_t{1} << pe;
    }
    return lowest;
}

void SchedModel::tick()
{
    low_known_ = low_;
    low_ = lowest();
}

bool SchedModel::urgent() const
{
    return ranks() && !any_idle() && low_known_.priority >= 0 && top_list() > low_known_.priority;
}

// A thread that waits behind a running one is fetched back while another PE has nothing at all;
// where priorities count, also while another PE runs a lower one, or to make room for one of a
// higher priority.
bool SchedModel::may_recall(unsigned pe) const
{
    const PeView &view = pes_[pe];

    if (view.running < 0 || view.slot < 0 || view.recalling)
        return false;
    if (ranks() && urgent() && static_cast<int>(view.slot_priority) < top_list())
        return true;
    if ((top_list() >= 0 && !ranks()) || view.told)
        return false;
    return any_idle() || (ranks() && !makes_way(pe) && low_known_.priority >= 0 &&
                          static_cast<int>(view.slot_priority) > low_known_.priority);
}

} // namespace okosu
