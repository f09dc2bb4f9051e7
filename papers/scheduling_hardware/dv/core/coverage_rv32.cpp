// SPDX-License-Identifier: Apache-2.0
#include "coverage.h"

#include "golden_rv32.h"
#include "instruction.h"

#include <cstring>

namespace okosu
{

namespace
{

const char *const kResults[] = {"alu",  "link", "product",   "quotient", "csr",
                                "cop2", "load", "condition", "atomic"};
const char *const kUses[] = {"operand a",   "operand b", "amount",   "condition a",
                             "condition b", "address",   "target",   "stored word",
                             "factor a",    "factor b",  "csr word", "coprocessor word"};
constexpr unsigned kCauses[] = {
    kRvFetchMisaligned, kRvFetch, kRvIllegal, kRvBreak,    kRvLoadMisaligned, kRvLoad,
    kRvStoreMisaligned, kRvStore, kRvCall,    kRvInterrupt};
const char *const kCauseNames[] = {
    "misaligned target", "fetch", "illegal", "ebreak",   "misaligned load", "load",
    "misaligned store",  "store", "ecall",   "interrupt"};
const char *const kMeetings[] = {"a load behind a store to the same word",
                                 "an operation behind a store to the same word",
                                 "a reservation behind a store to the same word",
                                 "a store behind a store",
                                 "a command behind a store",
                                 "a conditional store that stores",
                                 "a conditional store that does not",
                                 "a branch behind a branch that was taken"};
const char *const kConditional[] = {"beq", "bne", "blt", "bge", "bltu", "bgeu"};

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
    for (const char *name : kCauseNames)
        hits_[std::string("trap: ") + name] = 0;
    for (const char *result : kResults) {
        for (const char *use : kUses) {
            // No valid address can be made of these results.
            if (is(use, {"address", "target"}) && is(result, {"cop2", "condition"}))
                continue;
            // A link is an address of the text, and nothing is loaded from there.
            if (!std::strcmp(use, "address") && !std::strcmp(result, "link"))
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

    // The branch in front of this instruction went here.
    if (branched_)
        hit(std::string(branched_) + (effect.pc == slot_pc_ ? " not taken" : " taken"));
    const bool behind_taken = branched_ && effect.pc != slot_pc_;

    branched_ = nullptr;
    if (!kind) {
        for (size_t n = 0; effect.traps && n < std::size(kCauses); n++) {
            if (kCauses[n] == effect.cause)
                hit(std::string("trap: ") + kCauseNames[n]);
        }
        for (Past &past : past_)
            past = {};
        return;
    }
    hit(kind->name);
    note_dependences(effect.instr, kind->name);
    note_meetings(effect, kind->name, cycle);
    if (branches(kind->name)) {
        if (behind_taken)
            hit("a branch behind a branch that was taken");
        branched_ = kind->name;
        slot_pc_ = effect.pc + 4;
    }
    past_[2] = past_[1];
    past_[1] = past_[0];
    past_[0] = {effect.writes ? kind->result : nullptr, effect.rd, false};
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

void Coverage::note_meetings(const Effect &effect, const char *op, uint64_t)
{
    const uint32_t word = effect.addr & ~3u;
    const bool conditional = is(op, {"sc.w"}), reserves = is(op, {"lr.w"}),
               operates = (effect.instr & 0x7f) == 0x2f && !conditional && !reserves,
               stores = effect.stores && !operates && !conditional, again = word == stored_addr_;

    if (stored_ && effect.accesses && !effect.stores && !reserves && again)
        hit("a load behind a store to the same word");
    if (stored_ && operates && again)
        hit("an operation behind a store to the same word");
    if (stored_ && reserves && again)
        hit("a reservation behind a store to the same word");
    if (stored_ && stores)
        hit("a store behind a store");
    if (stored_ && commands(op))
        hit("a command behind a store");
    if (conditional)
        hit(effect.accesses ? "a conditional store that stores"
                            : "a conditional store that does not");
    stored_ = stores;
    stored_addr_ = word;
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
