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
};

struct Outcome {
    End end = End::kExit;
    uint32_t status = 0;
    uint64_t cycles = 0;
    // Of the processor that simulated.
    double seconds = 0;
    // Of a trap: where and what; else where each PE was, its last instruction.
    unsigned pe = 0;
    Retired trap{};
    std::vector<Retired> last;
    // The threads that wait, in words.
    std::vector<std::string> waiting;
};

// Runs `program`, printing what it prints as it comes; std::runtime_error where a file cannot be
// written.
Outcome run(Model &model, const Program &program, const Options &options);

// "division by zero" and the like.
std::string describe_trap(const Retired &trap, const Program &program);

// The outcome for a person: what, and where; "" for a program that ended by itself.
std::string describe(const Outcome &outcome, const Program &program);

// The same, and the counters, as a JSON object.
std::string report_json(const Outcome &outcome, const Model &model, const Program &program);

// What the simulator's exit status is: the program's, 128 + a signal's number for a trap, else 125.
int exit_status(const Outcome &outcome);

} // namespace okosu

#endif
