// SPDX-License-Identifier: Apache-2.0
// What becomes of the threads, as the messages on the scheduler bus tell it: who was created where,
// who runs, who waits for what.
#ifndef OKOSU_SCHEDULE_H
#define OKOSU_SCHEDULE_H

#include "model.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace okosu
{

// kStop: the PE is without the thread from here on; before it comes why (kBlock, kYield, kExit),
// unless it was preempted. kSignal: the thread wakes those who wait at an address.
enum class Event { kCreate, kStart, kStop, kBlock, kYield, kSignal, kWake, kExit };

// A thread's life as far as it was seen. Thread 0 is main.
struct Thread {
    enum State { kFree, kReady, kRunning, kBlocked } state = kFree;
    uint32_t entry = 0;
    // Blocked: the command (msg_op_e), the kind of a WAIT, and the address or handle it waits for.
    unsigned op = 0, kind = 0;
    uint32_t object = 0;
    bool timed = false;
};

class Schedule
{
  public:
    // `tell` hears of each event: what, which thread, on (or from) which PE; and the address or
    // handle of a kBlock, kSignal or kWake.
    using Tell = std::function<void(Event, unsigned thread, unsigned pe, uint32_t object)>;

    explicit Schedule(Tell tell);

    // Processes the cycle that the model has just simulated.
    void observe(const Model &model);

    // Threads that have not ended; with the software back end that is always one, main.
    unsigned alive() const;
    // Some thread waits with a deadline, so that the program can go on without another event.
    bool any_timed() const;
    const std::vector<Thread> &threads() const;
    // Whether a blocked thread waits for a mutex.
    bool is_mutex(const Thread &thread) const;
    // "waits for the mutex at 0x90000010 (lock)"; names come from the program.
    std::string waits_for(const Thread &thread, const Program &program) const;

  private:
    void from_pe(const Message &message);
    void from_master(const Message &message);
    void release(unsigned watch);
    void create(unsigned thread, uint32_t entry, unsigned pe);

    Tell tell_;
    std::vector<Thread> threads_;
    // The thread that ran on each PE in the last cycle; -1: none.
    std::vector<int> on_;
    // The thread that the RELEASE of a watch starts on each PE; -1: none.
    struct Marked {
        int thread = -1;
        unsigned watch = 0;
    };
    std::vector<Marked> marked_;
    // The thread that waits for the id of a thread that it creates; -1: none.
    struct Asked {
        int thread = -1;
        uint32_t entry = 0;
    };
    std::vector<Asked> asked_;
    unsigned alive_ = 1, timed_ = 0;
};

} // namespace okosu

#endif
