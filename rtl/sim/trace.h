// SPDX-License-Identifier: Apache-2.0
// A run's schedule as a trace in Chrome's format, which Perfetto (ui.perfetto.dev) shows: a row for
// each PE with what ran on it, marks for what happened to threads, arrows from a creation or a wake
// to the start. One cycle is one microsecond.
#ifndef OKOSU_TRACE_H
#define OKOSU_TRACE_H

#include "schedule.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace okosu
{

class Trace
{
  public:
    // Begins the file; std::runtime_error if it cannot be written.
    Trace(const std::string &path, const Program &program);
    ~Trace();
    Trace(const Trace &) = delete;
    Trace &operator=(const Trace &) = delete;

    void add(uint64_t cycle, Event event, unsigned thread, unsigned pe, const Schedule &schedule);
    // Ends what still runs, and the file; false if not all of it could be written.
    bool finish(uint64_t cycle);

  private:
    void begin_run(uint64_t cycle, unsigned thread, unsigned pe, const Schedule &schedule);
    void mark(uint64_t cycle, const char *what, unsigned thread, unsigned pe,
              const std::string &more);
    void arrow_from(uint64_t cycle, unsigned thread, unsigned pe);

    std::FILE *file_;
    const Program &program_;
    std::vector<bool> open_;
    // The arrow that leads to a thread's next start; 0 is none.
    std::vector<unsigned> arrow_;
    unsigned arrows_ = 0;
};

} // namespace okosu

#endif
