// SPDX-License-Identifier: Apache-2.0
// How a run went, in words and as JSON.
#include "run.h"

#include "counters.h"
#include "isa.h"
#include "stacks.h"

#include <cstdio>

namespace okosu
{

namespace
{

// Causes (cpu_pkg.sv), in words, each with the signal that Linux would send.
struct Cause {
    const char *words;
    int signal;
};
#if OKOSU_RV32
constexpr Cause kCauses[] = {
    {"jump into the middle of an instruction", 7},
    {"jump out of the program's text", 11},
    {"instruction that this processor does not have", 4},
    {"break instruction", 5},
    {"load from an address that is not aligned", 7},
    {"access to memory that is not there", 11},
    {"store to an address that is not aligned", 7},
    {"access to memory that is not there", 11},
    {"", 11},
    {"", 11},
    {"", 11},
    {"system call, and there is no system", 31},
    {"", 11},
    {"stack overrun", 11},
};
enum : unsigned { kFetch = 1, kIllegal = 2, kLoad = 4, kLoadBus = 5, kStore = 6, kDataBus = 7 };
#else
constexpr Cause kCauses[] = {
    {"unexpected interrupt", 4},
    {"", 11},
    {"", 11},
    {"", 11},
    {"load or fetch from an address that is none", 11},
    {"store to an address that is none", 11},
    {"jump out of the program's text", 11},
    {"access to memory that is not there", 11},
    {"system call, and there is no system", 31},
    {"break instruction", 5},
    {"instruction that this processor does not have, or a command in a delay slot", 4},
    {"coprocessor that is not there", 4},
    {"integer overflow", 8},
    {"stack overrun", 11},
};
enum : unsigned { kLoad = 4, kStore = 5, kFetch = 6, kDataBus = 7, kLoadBus = 7, kBreak = 9 };
#endif
constexpr unsigned kCausesN = sizeof(kCauses) / sizeof(kCauses[0]);
// gcc checks divisors of MIPS with this break; the number stands in the instruction's upper field.
constexpr unsigned kBreakDivide = 7, kBreakOverflow = 6;
constexpr int kSignalFpe = 8, kSignalSegv = 11, kFailed = 125;

// Whether the trap is that an instruction could not be fetched, or lies outside of the program's
// text.
#if OKOSU_RV32
bool breaks_with(const Retired &, unsigned)
{
    return false;
}

bool left_text(const Retired &trap)
{
    return trap.cause == kFetch || (trap.cause == kIllegal && trap.instruction == kNoText);
}
#else
unsigned break_number(const Retired &trap)
{
    return trap.instruction >> 16 & 0x3ff;
}

bool breaks_with(const Retired &trap, unsigned number)
{
    return trap.cause == kBreak && break_number(trap) == number;
}

bool left_text(const Retired &trap)
{
    return trap.cause == kFetch || breaks_with(trap, kBreakNoText) ||
           (trap.cause == kLoad && (trap.pc % 4 != 0 || trap.pc < kTextBase));
}
#endif

// The jump that led out of the text: it lies before its delay slot, which was the PE's instruction
// before. 0 if the PE ran on out of the text.
uint32_t jump_of(const Outcome &outcome)
{
    if (!left_text(outcome.trap) || outcome.trap.pc == outcome.from + 4)
        return 0;
    return OKOSU_RV32 ? outcome.from : outcome.from - 4;
}

std::string hex(uint32_t value)
{
    char text[16];

    std::snprintf(text, sizeof(text), "0x%08x", value);
    return text;
}

std::string quoted(const std::string &text)
{
    std::string out = "\"";

    for (const char byte : text) {
        char escape[8];

        std::snprintf(escape, sizeof(escape), "\\u%04x", byte & 0xff);
        if (byte == '"' || byte == '\\')
            out += std::string("\\") + byte;
        else
            out += byte >= ' ' && byte <= '~' ? std::string(1, byte) : std::string(escape);
    }
    return out + "\"";
}

std::string named(uint32_t address, const Program &program)
{
    const std::string name = program.name_of(address);

    return hex(address) + (name.empty() ? "" : " (" + name + ")");
}

std::string in_words(const Place &at, const Program &program)
{
    const std::string pe = "PE " + std::to_string(at.pe);

    if (at.idle)
        return pe + ", without a thread";
    return pe + ", thread " + std::to_string(at.thread) + ", pc " + named(at.pc, program) +
           (at.call ? ", called at " + named(at.call, program) : "");
}

std::string place_json(const Place &at)
{
    return "\"pe\": " + std::to_string(at.pe) + ", \"thread\": " + std::to_string(at.thread) +
           ", \"pc\": " + std::to_string(at.pc) +
           ", \"call\": " + (at.call ? std::to_string(at.call) : "null") +
           ", \"idle\": " + (at.idle ? "true" : "false");
}

const char *end_name(End end)
{
    switch (end) {
    case End::kExit:
        return "exit";
    case End::kTrap:
        return "trap";
    case End::kDeadlock:
        return "deadlock";
    case End::kMaxCycles:
        return "max-cycles";
    case End::kDiffers:
        return "differs";
    case End::kAssertion:
        break;
    }
    return "assertion";
}

bool has_address(const Retired &trap)
{
    return !left_text(trap) &&
           (trap.cause == kLoad || trap.cause == kStore || trap.cause == kLoadBus ||
            trap.cause == kDataBus || trap.cause == kCauseStack);
}

} // namespace

std::string describe_trap(const Retired &trap, const Program &program)
{
    if (breaks_with(trap, kBreakDivide))
        return "division by zero";
    if (breaks_with(trap, kBreakOverflow))
        return "division overflow";
    if (left_text(trap))
        return kCauses[kFetch].words;
    if ((trap.cause == kDataBus || trap.cause == kLoadBus) && in_guard(trap.address, program))
        return kCauses[kCauseStack].words;
    return trap.cause < kCausesN ? kCauses[trap.cause].words : "unknown trap";
}

std::string describe(const Outcome &outcome, const Program &program)
{
    std::string text, where;

    switch (outcome.end) {
    case End::kExit:
        return "";
    case End::kTrap:
        text = describe_trap(outcome.trap, program) + ", cycle " + std::to_string(outcome.cycles) +
               "\n  at: " + in_words(outcome.at, program);
        if (has_address(outcome.trap))
            text += ", address " + hex(outcome.trap.address);
        if (jump_of(outcome))
            text += ", from " + named(jump_of(outcome), program);
        return text + "\n";
    case End::kDeadlock:
        text =
            "deadlock: no PE has a thread to run, cycle " + std::to_string(outcome.cycles) + "\n";
        for (const Waiter &waiter : outcome.waiting)
            text += "  " + waiter.what + ", " + in_words(waiter.at, program) + "\n";
        return text;
    case End::kMaxCycles:
        text = "the program has not ended after " + std::to_string(outcome.cycles) + " cycles\n";
        break;
    case End::kAssertion:
        text = "an assertion of the machine failed, cycle " + std::to_string(outcome.cycles) + "\n";
        break;
    case End::kDiffers:
        return "the machine does not do what the golden simulator does, cycle " +
               std::to_string(outcome.cycles) + "\n" + outcome.difference;
    }
    for (const Place &last : outcome.last)
        text += "  " + in_words(last, program) + "\n";
    return text;
}

std::string report_json(const Outcome &outcome, const Model &model, const Program &program)
{
    std::string text = "{\"end\": " + quoted(end_name(outcome.end));
    char seconds[32];

    std::snprintf(seconds, sizeof(seconds), "%.6f", outcome.seconds);
    text += ", \"status\": " + std::to_string(exit_status(outcome));
    text += ", \"lost\": " + quoted(outcome.lost);
    text += ", \"cycles\": " + std::to_string(outcome.cycles) + ", \"seconds\": " + seconds;
    if (outcome.end == End::kTrap) {
        text += ",\n \"trap\": {\"what\": " + quoted(describe_trap(outcome.trap, program));
        text += ", " + place_json(outcome.at) + ", \"address\": ";
        text += has_address(outcome.trap) ? std::to_string(outcome.trap.address) : "null";
        text += ", \"jump\": ";
        text += jump_of(outcome) ? std::to_string(jump_of(outcome)) : "null";
        text += "}";
    }
    text += ", \"compared\": " + std::to_string(outcome.compared);
    text += ", \"difference\": " + quoted(outcome.difference);
    text += ",\n \"waiting\": [";
    for (const Waiter &waiter : outcome.waiting)
        text += std::string(&waiter == outcome.waiting.data() ? "" : ",") +
                "\n  {\"what\": " + quoted(waiter.what) + ", " + place_json(waiter.at) + "}";
    text += "],\n \"last\": [";
    for (const Place &last : outcome.last)
        text +=
            std::string(&last == outcome.last.data() ? "" : ",") + "\n  {" + place_json(last) + "}";
    return text + "],\n \"counters\": " + counters_json(model) + "}\n";
}

int exit_status(const Outcome &outcome)
{
    if (outcome.end == End::kExit)
        return static_cast<int>(outcome.status & 0xff);
    if (outcome.end != End::kTrap || outcome.trap.cause >= kCausesN)
        return kFailed;
    if (left_text(outcome.trap))
        return 128 + kSignalSegv;
    const bool divides =
        breaks_with(outcome.trap, kBreakDivide) || breaks_with(outcome.trap, kBreakOverflow);

    return 128 + (divides ? kSignalFpe : kCauses[outcome.trap.cause].signal);
}

} // namespace okosu
