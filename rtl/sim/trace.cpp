// SPDX-License-Identifier: Apache-2.0
#include "trace.h"

#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <stdexcept>

namespace okosu
{

namespace
{

constexpr unsigned kThreads = 256;

} // namespace

Trace::Trace(const std::string &path, const Program &program)
    : file_(std::fopen(path.c_str(), "w")), program_(program), open_(Model::pes()), arrow_(kThreads)
{
    if (!file_)
        throw std::runtime_error(path + ": " + std::strerror(errno));
    std::fputs("{\"displayTimeUnit\": \"ms\", \"otherData\": {\"unit\": \"1 us is 1 cycle\"},\n"
               " \"traceEvents\": [\n"
               "  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": "
               "\"machine\"}}",
               file_);
    for (unsigned pe = 0; pe < Model::pes(); pe++)
        std::fprintf(file_,
                     ",\n  {\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 0, \"tid\": %u, "
                     "\"args\": {\"name\": \"PE %u\"}}",
                     pe, pe);
}

Trace::~Trace()
{
    if (file_)
        std::fclose(file_);
}

void Trace::begin_run(uint64_t cycle, unsigned thread, unsigned pe, const Schedule &schedule)
{
    const std::string entry =
        thread ? program_.name_of(schedule.threads()[thread].entry) : std::string("main");

    std::fprintf(file_,
                 ",\n  {\"ph\": \"B\", \"name\": \"thread %u %s\", \"cat\": \"run\", \"pid\": 0, "
                 "\"tid\": %u, \"ts\": %" PRIu64 "}",
                 thread, entry.c_str(), pe, cycle);
    if (arrow_[thread])
        std::fprintf(
            file_,
            ",\n  {\"ph\": \"f\", \"bp\": \"e\", \"name\": \"to start\", \"cat\": \"flow\", "
            "\"id\": %u, \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
            arrow_[thread], pe, cycle);
    arrow_[thread] = 0;
    open_[pe] = true;
}

void Trace::mark(uint64_t cycle, const char *what, unsigned thread, unsigned pe,
                 const std::string &more)
{
    std::fprintf(
        file_,
        ",\n  {\"ph\": \"i\", \"s\": \"t\", \"name\": \"%s thread %u%s%s\", \"cat\": \"thread\", "
        "\"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
        what, thread, more.empty() ? "" : " ", more.c_str(), pe, cycle);
}

void Trace::arrow_from(uint64_t cycle, unsigned thread, unsigned pe)
{
    arrow_[thread] = ++arrows_;
    std::fprintf(file_,
                 ",\n  {\"ph\": \"s\", \"name\": \"to start\", \"cat\": \"flow\", \"id\": %u, "
                 "\"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
                 arrow_[thread], pe, cycle);
}

void Trace::add(uint64_t cycle, Event event, unsigned thread, unsigned pe, const Schedule &schedule)
{
    const Thread &of = schedule.threads()[thread];

    switch (event) {
    case Event::kCreate:
        mark(cycle, "create", thread, pe, program_.name_of(of.entry));
        arrow_from(cycle, thread, pe);
        break;
    case Event::kStart:
        begin_run(cycle, thread, pe, schedule);
        break;
    case Event::kStop:
        if (open_[pe])
            std::fprintf(file_,
                         ",\n  {\"ph\": \"E\", \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}", pe,
                         cycle);
        open_[pe] = false;
        break;
    case Event::kBlock:
        mark(cycle, "block", thread, pe, schedule.waits_for(of, program_));
        break;
    case Event::kYield:
        mark(cycle, "yield", thread, pe, "");
        break;
    case Event::kWake:
        mark(cycle, "wake", thread, pe, "");
        break;
    case Event::kExit:
        mark(cycle, "exit", thread, pe, "");
        break;
    }
}

bool Trace::finish(uint64_t cycle)
{
    for (unsigned pe = 0; pe < open_.size(); pe++)
        if (open_[pe])
            std::fprintf(file_,
                         ",\n  {\"ph\": \"E\", \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}", pe,
                         cycle);
    std::fputs("\n ]}\n", file_);
    const bool whole = !std::ferror(file_);
    const bool closed = std::fclose(file_) == 0;

    file_ = nullptr;
    return whole && closed;
}

} // namespace okosu
