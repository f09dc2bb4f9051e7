// SPDX-License-Identifier: Apache-2.0
// What the simulator was asked to do.
#ifndef OKOSU_OPTIONS_H
#define OKOSU_OPTIONS_H

#include <cstdint>
#include <optional>
#include <string>

namespace okosu
{

struct Options {
    std::string program;
    uint64_t max_cycles = 1000000000;
    unsigned seed = 1;
    // Files to write, "" for none: the schedule, waveforms and toggles (in builds that have them), how
    // the run went.
    std::string trace, fst, toggles, report;
    bool counters = false;
    // Traps go to the program's own handler instead of ending the run.
    bool own_traps = false;
    // The golden simulator runs in lockstep and is compared with every PE.
    bool lockstep = OKOSU_CHECKED;
};

extern const char *const kUsage;

// The options of a command line, or nothing where it is none; `wrong` says why.
std::optional<Options> parse_options(int argc, char **argv, std::string &wrong);

} // namespace okosu

#endif
