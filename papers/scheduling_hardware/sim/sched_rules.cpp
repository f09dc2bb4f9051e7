// SPDX-License-Identifier: Apache-2.0
// The golden model: the ready lists, what SSH-m may and has to do of its own, and what it says.
#include "sched_model.h"

#include <algorithm>

namespace okosu
{

namespace
{

// How many threads of a ready list are looked at for one that suits a PE; else the first one is
// made to move.
constexpr unsigned kSearched = 5, kSearchedByAffinity = 16;

} // namespace

// ---- Ready lists ----

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

// ---- What SSH-m says ----

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

        // To a thread that goes on its argument says nothing any more.
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

// Whoever is told that it blocks does so from here on: what wakes it comes later.
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

// ---- What is to be done ----

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

// ---- Which thread, and which PE ----

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

// Of those that need not make way.
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
