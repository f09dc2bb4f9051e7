// SPDX-License-Identifier: Apache-2.0
// Instructions by name, and what they do with their registers: for what looks at them from outside.
// instruction.cpp is MIPS I, instruction_rv32.cpp is RV32.
#ifndef OKOSU_INSTRUCTION_H
#define OKOSU_INSTRUCTION_H

#include <cstdint>
#include <initializer_list>

namespace okosu
{

// An instruction: the bits that identify it, and the unit that its result comes from (nullptr: it
// has none).
struct Kind {
    const char *name;
    uint32_t mask, match;
    const char *result;
};

// All instructions that do not always trap.
extern const Kind kKinds[];
extern const unsigned kKindsN;

// nullptr: the word is none of these instructions.
const Kind *kind_of(uint32_t instr);
bool is(const char *name, std::initializer_list<const char *> names);
bool branches(const char *name);
// What an instruction does with its registers rs and rt (rs1 and rs2); nullptr: nothing.
const char *use_of_rs(const char *name, uint32_t instr);
const char *use_of_rt(const char *name, uint32_t instr);
// Their numbers.
unsigned rs_of(uint32_t instr);
unsigned rt_of(uint32_t instr);

// For the time that instructions take. The instruction asks SSH-s; it waits for
// memory even where it does not access it in the end; it is a command, which waits for
// stores; it may wait for a product or quotient of another one, which the core does not report; it
// makes a product or quotient of its own in so many more cycles; what is behind it is fetched anew.
bool asks_ssh(uint32_t instr);
bool may_access(const char *name);
bool commands(const char *name);
bool waits_for_muldiv(const char *name);
unsigned own_cycles(const char *name);
bool refetches(const char *name);
// It sets the stacks' guard, which an access behind it waits for.
bool sets_guard(uint32_t instr);
// The cycles that a branch costs which is taken; and whether one can be that leads to the instruction
// behind it, so that nobody sees it.
extern const unsigned kBranchCycles;
bool branches_to_next(uint32_t instr);

} // namespace okosu

#endif
