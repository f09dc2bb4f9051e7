// SPDX-License-Identifier: Apache-2.0
// Where the cycles of a run went, as JSON.
#ifndef OKOSU_COUNTERS_H
#define OKOSU_COUNTERS_H

#include "model.h"

#include <cstdint>
#include <string>

namespace okosu
{

// A list with an object for each PE: {"pe", "idle", SECTION: {"execute", "memory", "scheduler"},
// ...}. A PE's numbers add up to the cycles of the run.
std::string counters_json(const Model &model);

// A table of the same for a person, in percent of all cycles.
std::string counters_table(const Model &model, uint64_t cycles);

} // namespace okosu

#endif
