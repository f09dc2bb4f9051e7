// SPDX-License-Identifier: Apache-2.0
// Instructions by name, and what they do with their registers: for what looks at them from outside.
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
// What an instruction does with its registers rs and rt; nullptr: nothing.
const char *use_of_rs(const char *name, uint32_t instr);
const char *use_of_rt(const char *name, uint32_t instr);

} // namespace okosu

#endif
