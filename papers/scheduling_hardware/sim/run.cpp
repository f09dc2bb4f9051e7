// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "isa.h"
#include "lockstep.h"
#include "stacks.h"
#include "trace.h"

#include <cstdio>
#include <ctime>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace okosu
{

namespace
{

constexpr unsigned kCauseInterrupt = OKOSU_RV32 ? 31 : 0;
// After so many cycles without any event nothing will happen any more: a context moves in a few
// hundred cycles.
constexpr unsigned kQuietCycles = 10000;
// In software a PE without a thread goes on looking for one; after so many cycles in which all of
// them do, none will come.
constexpr unsigned kIdleCycles = 100000;

// The delay slot of a call lies behind it, where there are any.
constexpr uint32_t kCallBytes = OKOSU_RV32 ? 0 : 4;

// A range of the program's text.
struct Range {
    uint32_t start, end;

    bool holds(uint32_t pc) const
    {
        return pc - start < end - start;
    }
};

// The position of a thread: its last instruction, and its last one outside the library.
struct Position {
    unsigned pe;
    uint32_t pc, user;
};

class Runner
{
  public:
    Runner(Model &model, const Program &program, const Options &options)
        : model_(model), program_(program), options_(options),
          schedule_([this](Event event, unsigned thread, unsigned pe, uint32_t object) {
              if (trace_ && !in_software_)
                  trace_->add(cycles_, event, thread, pe, object, schedule_);
          }),
          stacks_(program), idle_(range(program, "__text_idle_start", "__text_idle_end")),
          library_(range(program, "__text_create_start", "__text_idle_end")),
          in_software_(program.symbol("scheduler_word").has_value()),
          timed_(shared_word(program, "scheduler_timed")), last_(Model::pes()),
          at_(schedule_.threads().size()), shown_(Model::pes(), kSectionsN)
    {
        for (const char *name : kSectionSymbols)
            sections_.push_back(range(program, std::string("__text_") + name + "_start",
                                      std::string("__text_") + name + "_end"));
        if (!options.trace.empty())
            trace_ = std::make_unique<Trace>(options.trace, program);
    }

    Outcome go()
    {
        const std::clock_t began = std::clock();

        model_.start(program_);
        if (options_.lockstep)
            lockstep_ = std::make_unique<Lockstep>(model_);
        try {
            while (!step())
                ;
        } catch (const ModelError &) {
            end(End::kAssertion);
        }
        outcome_.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
        outcome_.cycles = cycles_;
        if (lockstep_) {
            outcome_.difference = lockstep_->difference();
            outcome_.compared = lockstep_->instructions();
        }
        std::fflush(stdout);
        for (unsigned pe = 0; pe < last_.size(); pe++)
            outcome_.last.push_back(place(pe));
        if (outcome_.end == End::kDeadlock)
            name_waiting();
        if (trace_ && !trace_->finish(cycles_))
            outcome_.lost = options_.trace + ": not all of it could be written";
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
        if (trace_ && !in_software_)
            tell_stores();
        if (model_.broken())
            return end(End::kAssertion);
        if (lockstep_ && !lockstep_->observe(model_))
            return end(End::kDiffers);
        if (look_at_pes())
            return end(End::kTrap);
        if (model_.ends(status)) {
            outcome_.status = status;
            return end(lockstep_ && !lockstep_->finish(model_) ? End::kDiffers : End::kExit);
        }
        // main has left by pthread_exit(), and all others, too.
        if (schedule_.alive() == 0)
            return end(lockstep_ && !lockstep_->finish(model_) ? End::kDiffers : End::kExit);
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
        for (unsigned pe = 0; pe < last_.size(); pe++) {
            const uint32_t before = last_[pe].pc;
            Retired &last = last_[pe];

            if (!model_.retires(pe, last))
                continue;
            note(pe, last);
            if (trace_ && in_software_)
                tell_section(pe, last.pc);
            if (uint32_t sp = 0; stacks_.overrun(model_, pe, last, sp)) {
                last.traps = true;
                last.cause = kCauseStack;
                last.address = sp;
            }
            if (last.traps && last.cause != kCauseInterrupt && !options_.own_traps) {
                outcome_.trap = last;
                outcome_.at = place(pe);
                outcome_.from = before;
                return true;
            }
        }
        return false;
    }

    void tell_stores()
    {
        Transaction seen;

        if (model_.transaction(seen) && seen.stores && seen.master < Model::pes())
            trace_->store(cycles_, seen.master, seen.address, seen.data);
    }

    void tell_section(unsigned pe, uint32_t pc)
    {
        unsigned in = 0;

        for (unsigned s = 1; s < sections_.size(); s++)
            if (sections_[s].holds(pc))
                in = s;
        if (shown_[pe] == in)
            return;
        shown_[pe] = in;
        trace_->section(cycles_, pe, in < std::size(kSections) ? kSections[in] : "idle");
    }

    // The thread that runs on a PE. The hardware does not know the software back end's threads;
    // there each PE counts as one.
    Position &position(unsigned pe)
    {
        return at_[in_software_ ? pe : last_[pe].thread];
    }

    void note(unsigned pe, const Retired &last)
    {
        Position &now = position(pe);

        now.pe = pe;
        now.pc = last.pc;
        if (!library_.holds(last.pc))
            now.user = last.pc;
        if (!idle_.holds(last.pc))
            worked_ = cycles_;
    }

    Place place(unsigned thread, const Position &of) const
    {
        const bool called = library_.holds(of.pc) && of.user;

        return {of.pe, thread, of.pc, called ? of.user - kCallBytes : 0, false};
    }

    Place place(unsigned pe)
    {
        const Retired &last = last_[pe];
        const bool idle = in_software_ ? idle_.holds(last.pc) : (model_.running() >> pe & 1) == 0;
        Position now = position(pe);

        // The PE's last thread may have gone on at another PE.
        if (now.pe != pe || now.pc != last.pc)
            now = {pe, last.pc, 0};
        Place found = place(last.thread, now);

        found.idle = idle;
        return found;
    }

    bool stuck()
    {
        Message message;

        // A thread that waits with a deadline will go on: SSH-m holds its deadline, or the
        // library's list (sw/software/scheduler.c).
        if (schedule_.any_timed() || (timed_ && model_.word(timed_) != 0))
            ran_ = worked_ = cycles_;
        if (model_.running() || model_.memory_busy() || model_.message(message))
            ran_ = cycles_;
        return cycles_ - ran_ > kQuietCycles || (idle_.end && cycles_ - worked_ > kIdleCycles);
    }

    // The address of a word of shared memory that the program names, 0 if there is none.
    static uint32_t shared_word(const Program &program, const std::string &name)
    {
        const uint32_t address = program.symbol(name).value_or(0);

        return address >= kDataBase && address - kDataBase <= Model::data_bytes() - 4 ? address : 0;
    }

    static Range range(const Program &program, const std::string &start, const std::string &end)
    {
        return {program.symbol(start).value_or(0), program.symbol(end).value_or(0)};
    }

    void name_waiting()
    {
        for (unsigned n = 0; n < schedule_.threads().size(); n++) {
            const Thread &thread = schedule_.threads()[n];

            if (thread.state != Thread::kBlocked)
                continue;
            const std::string entry = n ? program_.name_of(thread.entry) : "main";

            outcome_.waiting.push_back({"thread " + std::to_string(n) + " (" + entry + ") " +
                                            schedule_.waits_for(thread, program_),
                                        place(n, at_[n])});
        }
    }

    Model &model_;
    const Program &program_;
    const Options &options_;
    std::unique_ptr<Trace> trace_;
    std::unique_ptr<Lockstep> lockstep_;
    Schedule schedule_;
    Stacks stacks_;
    const Range idle_, library_;
    const bool in_software_;
    const uint32_t timed_;
    uint64_t cycles_ = 0, ran_ = 0, worked_ = 0;
    std::vector<Retired> last_;
    std::vector<Position> at_;
    // The program's sections, and in which one the trace shows each PE.
    std::vector<Range> sections_;
    std::vector<unsigned> shown_;
    Outcome outcome_;
};

} // namespace

Outcome run(Model &model, const Program &program, const Options &options)
{
    return Runner(model, program, options).go();
}

} // namespace okosu
