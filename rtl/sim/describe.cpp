// SPDX-License-Identifier: Apache-2.0
// How a run went, in words and as JSON.
#include "run.h"

#include "counters.h"

#include <cstdio>

namespace okosu
{

namespace
{

// Causes of MIPS I (cpu_pkg.sv), in words, each with the signal that Linux would send.
struct Cause {
    const char *words;
    int signal;
};
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
};
constexpr unsigned kCausesN = sizeof(kCauses) / sizeof(kCauses[0]);
enum : unsigned { kStore = 5, kDataBus = 7, kBreak = 9, kLoad = 4 };
// gcc checks divisors with this break; the number stands in the instruction's upper field.
constexpr unsigned kBreakDivide = 7, kBreakOverflow = 6;
constexpr uint32_t kGuardBytes = 128;
constexpr int kSignalFpe = 8, kFailed = 125;

unsigned break_number(const Retired &trap)
{
    return trap.instruction >> 16 & 0x3ff;
}

// Whether the address lies in the lowest bytes of a stack's slot, which are guarded
// (rtl/sw/link.ld).
bool in_guard(uint32_t address, const Program &program)
{
    const auto top = program.symbol("__stack_top"), log2 = program.symbol("__stack_log2"),
               threads = program.symbol("__threads_max");

    if (!top || !log2 || !threads || *log2 > 31)
        return false;
    const uint32_t slot = uint32_t{1} << *log2;

    return *top - address - 1 < uint64_t{*threads} * slot && (address & (slot - 1)) < kGuardBytes;
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

std::string place(unsigned pe, const Retired &at, const Program &program)
{
    const std::string name = program.name_of(at.pc);

    return "PE " + std::to_string(pe) + ", thread " + std::to_string(at.thread) + ", pc " +
           hex(at.pc) + (name.empty() ? "" : " (" + name + ")");
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
    case End::kAssertion:
        break;
    }
    return "assertion";
}

bool has_address(const Retired &trap)
{
    return trap.cause == kLoad || trap.cause == kStore || trap.cause == kDataBus;
}

} // namespace

std::string describe_trap(const Retired &trap, const Program &program)
{
    if (trap.cause == kBreak && break_number(trap) == kBreakDivide)
        return "division by zero";
    if (trap.cause == kBreak && break_number(trap) == kBreakOverflow)
        return "division overflow";
    if (trap.cause == kDataBus && in_guard(trap.address, program))
        return "stack overrun";
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
               "\n  at: " + place(outcome.pe, outcome.trap, program);
        if (has_address(outcome.trap))
            text += ", address " + hex(outcome.trap.address);
        return text + "\n";
    case End::kDeadlock:
        text =
            "deadlock: no PE has a thread to run, cycle " + std::to_string(outcome.cycles) + "\n";
        for (const std::string &line : outcome.waiting)
            text += "  " + line + "\n";
        return text;
    case End::kMaxCycles:
        text = "the program has not ended after " + std::to_string(outcome.cycles) + " cycles\n";
        break;
    case End::kAssertion:
        text = "an assertion of the machine failed, cycle " + std::to_string(outcome.cycles) + "\n";
        break;
    }
    for (unsigned pe = 0; pe < outcome.last.size(); pe++)
        text += "  " + place(pe, outcome.last[pe], program) + "\n";
    return text;
}

std::string report_json(const Outcome &outcome, const Model &model, const Program &program)
{
    std::string text = "{\"end\": " + quoted(end_name(outcome.end));
    char seconds[32];

    std::snprintf(seconds, sizeof(seconds), "%.6f", outcome.seconds);
    text += ", \"status\": " + std::to_string(exit_status(outcome));
    text += ", \"cycles\": " + std::to_string(outcome.cycles) + ", \"seconds\": " + seconds;
    if (outcome.end == End::kTrap) {
        text += ",\n \"trap\": {\"what\": " + quoted(describe_trap(outcome.trap, program));
        text += ", \"pe\": " + std::to_string(outcome.pe);
        text += ", \"thread\": " + std::to_string(outcome.trap.thread);
        text += ", \"pc\": " + std::to_string(outcome.trap.pc);
        text += ", \"address\": ";
        text += has_address(outcome.trap) ? std::to_string(outcome.trap.address) : "null";
        text += "}";
    }
    text += ",\n \"waiting\": [";
    for (const std::string &line : outcome.waiting)
        text += (&line == outcome.waiting.data() ? "" : ", ") + quoted(line);
    text += "],\n \"last\": [";
    for (unsigned pe = 0; pe < outcome.last.size(); pe++)
        text += std::string(pe ? ", " : "") + "{\"pe\": " + std::to_string(pe) +
                ", \"thread\": " + std::to_string(outcome.last[pe].thread) +
                ", \"pc\": " + std::to_string(outcome.last[pe].pc) + "}";
    return text + "],\n \"counters\": " + counters_json(model) + "}\n";
}

int exit_status(const Outcome &outcome)
{
    if (outcome.end == End::kExit)
        return static_cast<int>(outcome.status & 0xff);
    if (outcome.end != End::kTrap || outcome.trap.cause >= kCausesN)
        return kFailed;
    const unsigned number = break_number(outcome.trap);
    const bool divides =
        outcome.trap.cause == kBreak && (number == kBreakDivide || number == kBreakOverflow);

    return 128 + (divides ? kSignalFpe : kCauses[outcome.trap.cause].signal);
}

} // namespace okosu
