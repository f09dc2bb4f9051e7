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
// A thread that waits for another one is shown by that thread's id, which cannot be mistaken for an
// address: no address is so low.
constexpr uint32_t kIdMask = 0xff, kLastHandle = 0xffff;

uint32_t key(uint32_t object)
{
    return object > kLastHandle ? object : object & kIdMask;
}

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

void Trace::begin(uint64_t cycle, unsigned pe, const std::string &name)
{
    end(cycle, pe);
    std::fprintf(file_,
                 ",\n  {\"ph\": \"B\", \"name\": \"%s\", \"cat\": \"run\", \"pid\": 0, "
                 "\"tid\": %u, \"ts\": %" PRIu64 "}",
                 name.c_str(), pe, cycle);
    open_[pe] = true;
}

void Trace::end(uint64_t cycle, unsigned pe)
{
    if (open_[pe])
        std::fprintf(file_, ",\n  {\"ph\": \"E\", \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
                     pe, cycle);
    open_[pe] = false;
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

void Trace::arrow_from(const Point &point, unsigned thread)
{
    arrow_[thread] = ++arrows_;
    std::fprintf(file_,
                 ",\n  {\"ph\": \"s\", \"name\": \"to start\", \"cat\": \"flow\", \"id\": %u, "
                 "\"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
                 arrow_[thread], point.pe, point.cycle);
}

void Trace::arrow_to(uint64_t cycle, unsigned thread, unsigned pe)
{
    if (arrow_[thread])
        std::fprintf(
            file_,
            ",\n  {\"ph\": \"f\", \"bp\": \"e\", \"name\": \"to start\", \"cat\": \"flow\", "
            "\"id\": %u, \"pid\": 0, \"tid\": %u, \"ts\": %" PRIu64 "}",
            arrow_[thread], pe, cycle);
    arrow_[thread] = 0;
}

void Trace::count(uint64_t cycle, const Schedule &schedule)
{
    unsigned running = 0, ready = 0, waiting = 0;
    char text[80];

    for (const Thread &thread : schedule.threads()) {
        running += thread.state == Thread::kRunning;
        ready += thread.state == Thread::kReady;
        waiting += thread.state == Thread::kBlocked;
    }
    std::snprintf(text, sizeof(text), "{\"running\": %u, \"ready\": %u, \"waiting\": %u}", running,
                  ready, waiting);
    if (counted_ == text)
        return;
    counted_ = text;
    std::fprintf(file_,
                 ",\n  {\"ph\": \"C\", \"name\": \"threads\", \"pid\": 0, \"ts\": %" PRIu64
                 ", \"args\": %s}",
                 cycle, text);
}

void Trace::add(uint64_t cycle, Event event, unsigned thread, unsigned pe, uint32_t object,
                const Schedule &schedule)
{
    const Thread &of = schedule.threads()[thread];

    switch (event) {
    case Event::kCreate:
        mark(cycle, "create", thread, pe, program_.name_of(of.entry));
        arrow_from({cycle, pe}, thread);
        break;
    case Event::kStart:
        begin(cycle, pe,
              "thread " + std::to_string(thread) + " " +
                  (thread ? program_.name_of(of.entry) : std::string("main")));
        arrow_to(cycle, thread, pe);
        break;
    case Event::kStop:
        end(cycle, pe);
        break;
    case Event::kBlock:
        mark(cycle, "block", thread, pe, schedule.waits_for(of, program_));
        waited_.try_emplace(key(object), Waited{schedule.is_mutex(of), {cycle, pe}});
        break;
    case Event::kYield:
        mark(cycle, "yield", thread, pe, "");
        break;
    case Event::kSignal:
        store(cycle, pe, object, 0);
        break;
    case Event::kWake:
        mark(cycle, "wake", thread, pe, "");
        arrow_from(waited_[key(object)].touched, thread);
        break;
    case Event::kExit:
        mark(cycle, "exit", thread, pe, "");
        store(cycle, pe, thread, 0);
        break;
    }
    count(cycle, schedule);
}

void Trace::store(uint64_t cycle, unsigned pe, uint32_t address, uint32_t value)
{
    const auto found = waited_.find(key(address));

    if (found != waited_.end() && !(found->second.is_mutex && value != 0))
        found->second.touched = {cycle, pe};
}

void Trace::section(uint64_t cycle, unsigned pe, const char *name)
{
    begin(cycle, pe, name);
}

bool Trace::finish(uint64_t cycle)
{
    for (unsigned pe = 0; pe < open_.size(); pe++)
        end(cycle, pe);
    std::fputs("\n ]}\n", file_);
    const bool whole = !std::ferror(file_);
    const bool closed = std::fclose(file_) == 0;

    file_ = nullptr;
    return whole && closed;
}

} // namespace okosu
