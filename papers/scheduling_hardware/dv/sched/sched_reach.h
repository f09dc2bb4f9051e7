// SPDX-License-Identifier: Apache-2.0
// Which outcomes of which commands the lockstep has to reach.
#ifndef OKOSU_SCHED_REACH_H
#define OKOSU_SCHED_REACH_H

#include "sched_model.h"

#include <map>
#include <string>
#include <utility>

namespace okosu
{

// How often each command (first) had each outcome (second).
using Coverage = std::map<std::pair<std::string, std::string>, uint64_t>;

// Prints the table; false if an outcome that this machine can reach was never seen.
bool report(const Coverage &coverage, const SchedMachine &machine);

} // namespace okosu

#endif
