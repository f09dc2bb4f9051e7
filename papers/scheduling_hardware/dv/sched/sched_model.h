// SPDX-License-Identifier: Apache-2.0
// The golden model of SSH-m: what doc/INTERFACES.md says of threads, lists,
// watched words and PEs, with threads as structs, lists as deques, watches as a
// map; nothing of it is fast.
//
// It is told what SSH-m hears and takes up, in the order in which it does so,
// and is asked about all that SSH-m does of its own: each function below throws
// Difference where that is not what the model allows. What is defined is
// compared (every REPLY, every field of a DISPATCH, the order of each list).
// Several things are legal, and checked as sets, because only arbitration
// decides: which of the PEs that suit gets a thread, an id or a RECALL; which
// of the words that were stored to is taken up first; when SSH-m does of its
// own what nobody asked for, if no later than kOverdue (sched_main.cpp).
#ifndef OKOSU_SCHED_MODEL_H
#define OKOSU_SCHED_MODEL_H

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace okosu
{

// msg_op_e of rtl/pkg/okosu_pkg.sv.
enum class Op : unsigned {
    Create0 = 0,
    Create1,
    Exit,
    Join,
    Detach,
    Yield,
    Wait0,
    Wait1,
    Wait2,
    Wake,
    Barrier,
    SetPrio,
    Deadline0,
    Deadline1,
    Policy,
    Start,
    Released,
    Recalled,
    Kept,
    Grant = 32,
    Dispatch0,
    Dispatch1,
    Reply,
    Recall,
    Evict,
    Preempt,
    Release
};

// sched_msg_t.
struct Message {
    Op op;
    unsigned pe, tid, aux;
    uint32_t data;

    uint64_t pack() const;
    static Message unpack(uint64_t bits);
    std::string text() const;
};

// policy_e, wait_kind_e and the errors.
constexpr unsigned kFifo = 0, kRr = 1, kLifo = 2, kPriority = 3, kEdf = 4, kAffinity = 5;
constexpr unsigned kFlag = 0, kMutex = 1, kCond = 2, kBarrier = 3;
constexpr unsigned kSrch = 3, kAgain = 11, kInval = 22, kDeadlk = 35, kTimedout = 110,
                   kBlocked = 255;

class Difference : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

inline void require(bool right, const std::string &what)
{
    if (!right)
        throw Difference(what);
}

struct SchedMachine {
    unsigned pes, threads, watches, pool;
    bool soft;
};

enum class State { Free, Granted, Ready, Held, Dispatched, Running, Joining, Waiting, Zombie };

struct Thread {
    State state = State::Free;
    // On its way into a ready list, or out of one to a PE.
    bool arriving = false, leaving = false;
    bool at_head = false, at_tail = false;
    // The number of the group of threads that were made ready together.
    uint64_t batch = 0;
    unsigned generation = 1, priority = 0, error = 0;
    bool detached = false, cold = false, timed = false;
    int joiner = -1, home = -1;
    uint32_t word0 = 0, word1 = 0;
    // The deadline by which policy edf orders the thread.
    uint64_t goal = 0;
    // The word that a waiting thread waits at, and until when if it is timed.
    uint32_t address = 0, expected = 0;
    uint64_t due = 0;
    // Where a leaving thread may go: one of these PEs, or out of its home, which evicts it.
    std::set<unsigned> to;
    bool evicted = false;
};

struct Watch {
    unsigned kind = 0, stores = 0, missing = 0;
    uint64_t taken = 0;
    // The last store was one of bytes, which does not unlock a mutex.
    bool armed = false, by_bytes = false;
    // The number by which SSH-m calls a barrier; -1 until it has.
    int number = -1;
    std::deque<unsigned> waiters;
};

struct PeView {
    bool recalling = false, told = false;
    int running = -1, slot = -1;
    // The thread at a barrier for which it idles, if it was given no other since.
    int mark = -1;
    unsigned running_priority = 0, slot_priority = 0, pool = 0;
};

// A piece of work of SSH-m: its kind, the thread, and a count that advances when it is done.
struct Duty {
    std::string what;
    uint64_t whom, done;

    bool operator<(const Duty &other) const
    {
        return std::tie(what, whom, done) < std::tie(other.what, other.whom, other.done);
    }
};

class SchedModel
{
  public:
    explicit SchedModel(const SchedMachine &machine);

    // A message leaves SSH-m's buffer; all messages of a group leave with the last one.
    void heard(const Message &message);
    // The word of a WAIT, WAKE or BARRIER that was heard is looked up.
    void found();
    // A store on the memory bus; SSH-m begins to watch a word, takes up the
    // stores to one, and has read or exchanged one.
    void stored(uint32_t address, uint32_t data, unsigned bytes);
    void armed(uint32_t address);
    void took(uint32_t address);
    void compared(uint32_t address, bool exchange, uint32_t written);
    // The wait of a thread is over.
    void expired(unsigned tid, uint64_t now);
    // A thread is put into a ready list: at its end (place -1), its head (-2), or
    // behind a thread. One is taken out of it.
    void readied(unsigned tid, unsigned list, int place);
    void removed(unsigned list, unsigned place);
    // The next cycle begins.
    void tick();
    // SSH-m sends a message.
    void said(const Message &message);

    // The work that SSH-m has to do now, and the work whose result is not visible yet.
    std::vector<Duty> duties(uint64_t now) const;
    bool settled() const;
    // Threads that have not ended: their ids and states.
    std::string left() const;

    const SchedMachine &machine() const
    {
        return machine_;
    }
    const Thread &thread(unsigned tid) const
    {
        return threads_[tid];
    }
    const std::map<uint32_t, Watch> &watches() const
    {
        return watches_;
    }
    const std::deque<unsigned> &ready(unsigned list) const
    {
        return ready_[list];
    }
    const std::deque<unsigned> &freed() const
    {
        return free_;
    }
    // Ids from this one on were never used.
    unsigned fresh() const
    {
        return fresh_;
    }
    uint32_t word(uint32_t address) const;
    const std::map<std::pair<std::string, std::string>, uint64_t> &coverage() const
    {
        return coverage_;
    }

  private:
    using Group = std::vector<Message>;
    // The lowest priority at which a PE runs, -1 if none does, and the PEs that run it, as bits.
    struct Lowest {
        int priority = -1;
        uint64_t pes = 0;
    };
    struct Comparison {
        int tid;
        unsigned pe;
        bool claimed, timed;
    };
    // The thread that is told that it blocks, and the kind of its wait.
    struct Blocking {
        State state;
        uint32_t address;
    };

    void create(const Group &group);
    void exit(const Message &message);
    void join_or_detach(const Message &message);
    void wait();
    void wake(const Message &message);
    void barrier(const Message &message);
    void set_priority(const Message &message);
    void set_deadline(const Group &group);
    void context(const Message &message);
    void check_dispatch(const Message &message);
    void check_grant(const Message &message);
    void check_recall(const Message &message);
    void check_preempt(const Message &message);
    void check_release(const Message &message);
    void check_reply(const Message &message);
    void check_urgent(unsigned tid, std::set<unsigned> &to);

    bool known(uint32_t handle) const;
    unsigned allocate();
    void set_free(unsigned tid);
    void reply(unsigned pe, unsigned tid, unsigned error, uint32_t result);
    void stop(unsigned pe);
    void block(unsigned pe, unsigned tid, State state, uint32_t address);
    void make_ready(unsigned tid, bool at_head = false, bool at_tail = false);
    void finish(unsigned tid, unsigned error, uint32_t result);
    void resume(unsigned tid, unsigned error, uint32_t result);
    unsigned resume_waiters(uint32_t address, unsigned most);
    bool idle(unsigned pe) const;
    bool suits(unsigned tid) const;
    bool any_idle() const;
    bool any_slot() const;
    int top_list() const;
    bool ranks() const;
    bool makes_way(unsigned pe) const;
    Lowest lowest() const;
    bool urgent() const;
    unsigned searched() const;
    bool may_recall(unsigned pe) const;
    void cover(const std::string &command, const std::string &outcome);

    SchedMachine machine_;
    std::vector<Thread> threads_;
    std::vector<PeView> pes_;
    std::deque<unsigned> free_, ready_[16];
    std::map<uint32_t, Watch> watches_;
    std::map<uint32_t, uint32_t> memory_;
    unsigned fresh_ = 1, policy_ = kFifo;
    Group group_, job_;
    // A word that is read or exchanged for a thread, or (-1) for those who wait
    // at it.
    std::map<uint32_t, Comparison> comparing_;
    std::map<unsigned, std::pair<Message, uint64_t>> replies_;
    std::map<unsigned, Blocking> blocking_;
    // The barrier whose RELEASE message is still to be sent.
    int release_ = -1;
    // The lowest priority now, and that of a cycle ago, which SSH-m knows.
    Lowest low_, low_known_;
    std::vector<Message> second_;
    std::deque<unsigned> arriving_;
    unsigned leaving_ = 0;
    uint64_t heard_ = 0, batch_ = 0, dispatched_ = 0, granted_ = 0, recalled_ = 0;
    std::map<std::pair<std::string, std::string>, uint64_t> coverage_;
};

} // namespace okosu

#endif
