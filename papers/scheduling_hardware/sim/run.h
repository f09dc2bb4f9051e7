// SPDX-License-Identifier: Apache-2.0
// A program's run from reset to its end, whatever that is.
#ifndef OKOSU_RUN_H
#define OKOSU_RUN_H

#include "model.h"
#include "options.h"
#include "schedule.h"

#include <cstdint>
#include <string>
#include <vector>

namespace okosu
{

enum class End {
    // The program ended with a status.
    kExit,
    kTrap,
    // No PE has a thread to run, and nothing will wake one.
    kDeadlock,
    kMaxCycles,
    // An assertion of the RTL failed.
    kAssertion,
    // A PE differed from the golden simulator in lockstep with it.
    kDiffers,
};

// Where a PE or a thread was: its last instruction and, if that is the library's, the last call of
// it (0 if there was none).
struct Place {
    unsigned pe = 0, thread = 0;
    uint32_t pc = 0, call = 0;
    // The PE has no thread.
    bool idle = false;
};

// A thread that waits: what for, in words, and where it stopped.
struct Waiter {
    std::string what;
    Place at;
};

struct Outcome {
    End end = End::kExit;
    uint32_t status = 0;
    uint64_t cycles = 0;
    // Processor time that the simulation took.
    double seconds = 0;
    // A trap: what, where, and the PE's instruction before it.
    Retired trap{};
    Place at;
    uint32_t from = 0;
    // The position of each PE.
    std::vector<Place> last;
    std::vector<Waiter> waiting;
    // The output that could not be written, "" if all was.
    std::string lost;
    // The difference, in lines for a person; and how many instructions were compared.
    std::string difference;
    uint64_t compared = 0;
};

// Runs `program`, printing what it prints as it comes; std::runtime_error where the trace cannot be
// begun.
Outcome run(Model &model, const Program &program, const Options &options);

// "division by zero" and the like.
std::string describe_trap(const Retired &trap, const Program &program);

// The outcome for a person: what, and where; "" for a program that ended by itself.
std::string describe(const Outcome &outcome, const Program &program);

// The same, and the counters, as a JSON object.
std::string report_json(const Outcome &outcome, const Model &model, const Program &program);

// The simulator's exit status: the program's, 128 + a signal's number for a trap, else 125.
int exit_status(const Outcome &outcome);

} // namespace okosu

#endif
