// SPDX-License-Identifier: Apache-2.0
// A run's schedule as a trace in Chrome's format, which Perfetto (ui.perfetto.dev) shows: a row for
// each PE with what ran on it, marks for what happened to threads, arrows from a creation or from
// what woke a thread to its start, and how many threads run, are ready, wait. One cycle is one
// microsecond. Of the software back end, whose threads are not seen, it shows which part of the
// program each PE is in.
#ifndef OKOSU_TRACE_H
#define OKOSU_TRACE_H

#include "schedule.h"

#include <cstdint>
#include <cstdio>
#include <string>
#include <unordered_map>
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

    void add(uint64_t cycle, Event event, unsigned thread, unsigned pe, uint32_t object,
             const Schedule &schedule);
    // A PE stores this value to this address, which may wake threads that wait there.
    void store(uint64_t cycle, unsigned pe, uint32_t address, uint32_t value);
    // A PE is in this section of the program from here on.
    void section(uint64_t cycle, unsigned pe, const char *name);
    // Closes the slices that are still open, and the file; false if not all of it could be written.
    bool finish(uint64_t cycle);

  private:
    // A place on a PE's row.
    struct Point {
        uint64_t cycle = 0;
        unsigned pe = 0;
    };

    void begin(uint64_t cycle, unsigned pe, const std::string &name);
    void end(uint64_t cycle, unsigned pe);
    void mark(uint64_t cycle, const char *what, unsigned thread, unsigned pe,
              const std::string &more);
    void arrow_from(const Point &point, unsigned thread);
    void arrow_to(uint64_t cycle, unsigned thread, unsigned pe);
    void count(uint64_t cycle, const Schedule &schedule);

    std::FILE *file_;
    const Program &program_;
    std::vector<bool> open_;
    // The arrow that leads to a thread's next start; 0 is none.
    std::vector<unsigned> arrow_;
    unsigned arrows_ = 0;
    // By address or handle, what threads wait for and which thread touched it last; a mutex is
    // touched by the store of 0 that frees it.
    struct Waited {
        bool is_mutex;
        Point touched;
    };
    std::unordered_map<uint32_t, Waited> waited_;
    std::string counted_;
};

} // namespace okosu

#endif
