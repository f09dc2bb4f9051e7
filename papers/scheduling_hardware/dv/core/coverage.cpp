// SPDX-License-Identifier: Apache-2.0
#include "coverage.h"

#include "golden.h"
#include "instruction.h"

#include <cstring>

namespace okosu
{

namespace
{

const char *const kResults[] = {"alu", "link", "hi", "lo", "cp0", "cop2", "swap", "load"};
const char *const kUses[] = {"operand a",   "operand b",    "condition a",     "condition b",
                             "address",     "stored word",  "factor a",        "factor b",
                             "merged word", "shift amount", "coprocessor word"};
constexpr unsigned kCauses[] = {kInterrupt, kAddressLoad, kAddressStore, kFetchBus,    kDataBus,
                                kSyscall,   kBreak,       kReserved,     kCoprocessor, kOverflow};
const char *const kCauseNames[] = {
    "interrupt", "address of a load", "address of a store", "fetch bus", "data bus", "syscall",
    "break",     "reserved",          "coprocessor",        "overflow"};
const char *const kMeetings[] = {"a load behind a store to the same word",
                                 "an exchange behind a store to the same word",
                                 "a store behind a store",
                                 "a command behind a store",
                                 "mfhi or mflo while a product is under way",
                                 "mfhi or mflo while a quotient is under way",
                                 "another mult or div while a quotient is under way",
                                 "mthi or mtlo while a product is under way",
                                 "a command while a quotient is under way",
                                 "a trap while a quotient is under way",
                                 "a branch in a delay slot"};
const char *const kConditional[] = {"beq",  "bne",    "blez",   "bgtz", "bltz",
                                    "bgez", "bltzal", "bgezal", "bc2f", "bc2t"};
constexpr unsigned kProductCycles = 4, kQuotientCycles = 34;

std::string dependence(const char *result, unsigned distance, const char *use)
{
    return std::string(use) + " from " + result + " " + std::to_string(distance) + " before";
}

} // namespace

Coverage::Coverage()
{
    for (unsigned n = 0; n < kKindsN; n++)
        hits_[kKinds[n].name] = 0;
    for (const char *name : kMeetings)
        hits_[name] = 0;
    for (const char *name : kConditional) {
        hits_[std::string(name) + " taken"] = 0;
        hits_[std::string(name) + " not taken"] = 0;
    }
    for (size_t n = 0; n < std::size(kCauses); n++) {
        hits_[std::string("trap: ") + kCauseNames[n]] = 0;
        // A jump out of the text comes from a delay slot, but never is in one.
        if (kCauses[n] != kFetchBus)
            hits_[std::string("trap in a delay slot: ") + kCauseNames[n]] = 0;
    }
    for (const char *result : kResults) {
        for (const char *use : kUses) {
            // No valid address can be made of these results.
            if (!std::strcmp(use, "address") && is(result, {"link", "cop2"}))
                continue;
            for (unsigned distance = 1; distance <= 3; distance++)
                hits_[dependence(result, distance, use)] = 0;
        }
    }
}

void Coverage::begin()
{
    for (Past &past : past_)
        past = {};
    product_until_ = quotient_until_ = 0;
    stored_ = false;
    branched_ = nullptr;
}

void Coverage::hit(const std::string &name)
{
    const auto found = hits_.find(name);

    if (found != hits_.end())
        found->second++;
}

void Coverage::note(const Effect &effect, uint64_t cycle)
{
    const Kind *kind = effect.traps ? nullptr : kind_of(effect.instr);

    if (effect.traps) {
        for (size_t n = 0; n < std::size(kCauses); n++) {
            if (kCauses[n] == effect.cause)
                hit(std::string(past_[0].slot_follows ? "trap in a delay slot: " : "trap: ") +
                    kCauseNames[n]);
        }
        if (cycle < quotient_until_)
            hit("a trap while a quotient is under way");
        for (Past &past : past_)
            past = {};
        branched_ = nullptr;
        return;
    }
    if (!kind)
        return;
    hit(kind->name);
    note_dependences(effect.instr, kind->name);
    note_meetings(effect, kind->name, cycle);
    if (branched_ && effect.pc != slot_pc_) {
        hit(std::string(branched_) + (effect.pc == slot_pc_ + 4 ? " not taken" : " taken"));
        branched_ = nullptr;
    }
    if (branches(kind->name)) {
        // Two branches in a row: where the first one goes is the second one's slot.
        branched_ = past_[0].slot_follows ? nullptr : kind->name;
        slot_pc_ = effect.pc + 4;
    }
    past_[2] = past_[1];
    past_[1] = past_[0];
    past_[0] = {effect.writes ? kind->result : nullptr, effect.rd, branches(kind->name)};
}

void Coverage::note_dependences(uint32_t instr, const char *op)
{
    const unsigned sources[] = {rs_of(instr), rt_of(instr)};
    const char *const uses[] = {use_of_rs(op, instr), use_of_rt(op, instr)};

    for (unsigned n = 0; n < 2; n++) {
        if (!uses[n] || !sources[n])
            continue;
        // The dependence is on the nearest instruction that wrote the register.
        for (unsigned distance = 1; distance <= 3; distance++) {
            const Past &past = past_[distance - 1];

            if (past.kind && past.rd == sources[n]) {
                hit(dependence(past.kind, distance, uses[n]));
                break;
            }
        }
    }
}

void Coverage::note_meetings(const Effect &effect, const char *op, uint64_t cycle)
{
    const uint32_t word = effect.addr & ~3u;
    const bool moves_from = is(op, {"mfhi", "mflo"}), moves_to = is(op, {"mthi", "mtlo"}),
               divides = is(op, {"div", "divu"}), multiplies = is(op, {"mult", "multu"}),
               commands = is(op, {"mtc2 of a command"}), exchanges = is(op, {"lwc2"}),
               stores = effect.stores && !exchanges;

    if (stored_ && effect.accesses && !effect.stores && word == stored_addr_)
        hit("a load behind a store to the same word");
    if (stored_ && exchanges && word == stored_addr_)
        hit("an exchange behind a store to the same word");
    if (stored_ && stores)
        hit("a store behind a store");
    if (stored_ && commands)
        hit("a command behind a store");
    // An instruction that waits for the unit retires when the result is there.
    if (moves_from && cycle <= product_until_ + 1)
        hit("mfhi or mflo while a product is under way");
    if (moves_from && cycle <= quotient_until_ + 1)
        hit("mfhi or mflo while a quotient is under way");
    if ((divides || multiplies) && cycle <= quotient_until_ + 1)
        hit("another mult or div while a quotient is under way");
    if (moves_to && cycle <= product_until_ + 1)
        hit("mthi or mtlo while a product is under way");
    if (commands && cycle <= quotient_until_ + 1)
        hit("a command while a quotient is under way");
    if (past_[0].slot_follows && branches(op))
        hit("a branch in a delay slot");
    stored_ = stores;
    stored_addr_ = word;
    if (multiplies)
        product_until_ = cycle + kProductCycles;
    if (divides)
        quotient_until_ = cycle + kQuotientCycles;
}

std::vector<std::string> Coverage::missing() const
{
    std::vector<std::string> names;

    for (const auto &[name, count] : hits_) {
        if (!count)
            names.push_back(name);
    }
    return names;
}

} // namespace okosu
