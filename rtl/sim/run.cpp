// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "trace.h"

#include <cstdio>
#include <ctime>
#include <memory>
#include <stdexcept>

namespace okosu
{

namespace
{

constexpr unsigned kCauseInterrupt = 0;
// So long nothing at all happens between two PEs only where nothing will: a context moves in a few
// hundred cycles.
constexpr unsigned kQuietCycles = 10000;
// In software a PE without a thread goes on looking for one: so long all of them do only where none
// will come.
constexpr unsigned kIdleCycles = 100000;

class Runner
{
  public:
    Runner(Model &model, const Program &program, const Options &options)
        : model_(model), program_(program), options_(options),
          schedule_([this](Event event, unsigned thread, unsigned pe) {
              if (trace_)
                  trace_->add(cycles_, event, thread, pe, schedule_);
          }),
          idle_start_(program.symbol("__text_idle_start").value_or(0)),
          idle_end_(program.symbol("__text_idle_end").value_or(0)),
          timed_(shared_word(program, "scheduler_timed"))
    {
        if (!options.trace.empty())
            trace_ = std::make_unique<Trace>(options.trace, program);
        outcome_.last.resize(Model::pes());
    }

    Outcome go()
    {
        const std::clock_t began = std::clock();

        model_.start(program_);
        while (!step())
            ;
        outcome_.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        outcome_.cycles = cycles_;
        std::fflush(stdout);
        if (outcome_.end == End::kDeadlock)
            name_waiting();
        if (trace_ && !trace_->finish(cycles_))
            throw std::runtime_error(options_.trace + ": not all of it could be written");
        return outcome_;
    }

  private:
    // One cycle; true where it was the last.
    bool step()
    {
        uint32_t status = 0;

        if (cycles_ == options_.max_cycles)
            return end(End::kMaxCycles);
        model_.step();
        cycles_++;
        print();
        schedule_.observe(model_);
        if (model_.broken())
            return end(End::kAssertion);
        if (look_at_pes())
            return end(End::kTrap);
        if (model_.ends(status)) {
            outcome_.status = status;
            return end(End::kExit);
        }
        return stuck() && end(End::kDeadlock);
    }

    bool end(End how)
    {
        outcome_.end = how;
        return true;
    }

    void print()
    {
        unsigned stream = 0;
        char byte = 0;

        if (!model_.prints(stream, byte))
            return;
        std::fputc(byte, stream ? stderr : stdout);
        if (byte == '\n')
            std::fflush(stdout);
    }

    // True at a trap that ends the run.
    bool look_at_pes()
    {
        for (unsigned pe = 0; pe < outcome_.last.size(); pe++) {
            Retired &last = outcome_.last[pe];

            if (!model_.retires(pe, last))
                continue;
            if (last.pc - idle_start_ >= idle_end_ - idle_start_)
                worked_ = cycles_;
            if (last.traps && last.cause != kCauseInterrupt && !options_.own_traps) {
                outcome_.pe = pe;
                outcome_.trap = last;
                return true;
            }
        }
        return false;
    }

    bool stuck()
    {
        Message message;

        // Who waits with a deadline will go on: SSH-m knows of it, or the library's list does
        // (rtl/sw/software/scheduler.c).
        if (schedule_.any_timed() || (timed_ && model_.word(timed_) != 0))
            ran_ = worked_ = cycles_;
        if (model_.running() || model_.memory_busy() || model_.message(message))
            ran_ = cycles_;
        return cycles_ - ran_ > kQuietCycles || (idle_end_ && cycles_ - worked_ > kIdleCycles);
    }

    // The address of a word of shared memory that the program names, 0 if there is none.
    static uint32_t shared_word(const Program &program, const std::string &name)
    {
        const uint32_t address = program.symbol(name).value_or(0);

        return address >= kDataBase && address - kDataBase <= Model::data_bytes() - 4 ? address : 0;
    }

    void name_waiting()
    {
        for (unsigned n = 0; n < schedule_.threads().size(); n++) {
            const Thread &thread = schedule_.threads()[n];

            if (thread.state != Thread::kBlocked)
                continue;
            const std::string entry = n ? program_.name_of(thread.entry) : "main";

            outcome_.waiting.push_back("thread " + std::to_string(n) + " (" + entry + ") " +
                                       schedule_.waits_for(thread, program_));
        }
    }

    Model &model_;
    const Program &program_;
    const Options &options_;
    std::unique_ptr<Trace> trace_;
    Schedule schedule_;
    const uint32_t idle_start_, idle_end_, timed_;
    uint64_t cycles_ = 0, ran_ = 0, worked_ = 0;
    Outcome outcome_;
};

} // namespace

Outcome run(Model &model, const Program &program, const Options &options)
{
    return Runner(model, program, options).go();
}

} // namespace okosu
