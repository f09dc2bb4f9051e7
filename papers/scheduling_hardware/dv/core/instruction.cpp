// SPDX-License-Identifier: Apache-2.0
#include "instruction.h"

#include "bits.h"

#include <cstring>

namespace okosu
{

namespace
{

constexpr uint32_t kOp = 0xfc000000, kOpFunct = 0xfc00003f, kOpRs = 0xffe00000, kOpRt = 0xfc1f0000,
                   kCop2Rd = 0xffe0f800;
constexpr uint32_t kCop2Command = 0xffe08000;

} // namespace

const Kind kKinds[] = {
    {"sll", kOpFunct, 0x00, "alu"},
    {"srl", kOpFunct, 0x02, "alu"},
    {"sra", kOpFunct, 0x03, "alu"},
    {"sllv", kOpFunct, 0x04, "alu"},
    {"srlv", kOpFunct, 0x06, "alu"},
    {"srav", kOpFunct, 0x07, "alu"},
    {"jr", kOpFunct, 0x08, nullptr},
    {"jalr", kOpFunct, 0x09, "link"},
    {"mfhi", kOpFunct, 0x10, "hi"},
    {"mthi", kOpFunct, 0x11, nullptr},
    {"mflo", kOpFunct, 0x12, "lo"},
    {"mtlo", kOpFunct, 0x13, nullptr},
    {"mult", kOpFunct, 0x18, nullptr},
    {"multu", kOpFunct, 0x19, nullptr},
    {"div", kOpFunct, 0x1a, nullptr},
    {"divu", kOpFunct, 0x1b, nullptr},
    {"add", kOpFunct, 0x20, "alu"},
    {"addu", kOpFunct, 0x21, "alu"},
    {"sub", kOpFunct, 0x22, "alu"},
    {"subu", kOpFunct, 0x23, "alu"},
    {"and", kOpFunct, 0x24, "alu"},
    {"or", kOpFunct, 0x25, "alu"},
    {"xor", kOpFunct, 0x26, "alu"},
    {"nor", kOpFunct, 0x27, "alu"},
    {"slt", kOpFunct, 0x2a, "alu"},
    {"sltu", kOpFunct, 0x2b, "alu"},
    {"bltz", kOpRt, 0x04000000, nullptr},
    {"bgez", kOpRt, 0x04010000, nullptr},
    {"bltzal", kOpRt, 0x04100000, "link"},
    {"bgezal", kOpRt, 0x04110000, "link"},
    {"j", kOp, 0x08000000, nullptr},
    {"jal", kOp, 0x0c000000, "link"},
    {"beq", kOp, 0x10000000, nullptr},
    {"bne", kOp, 0x14000000, nullptr},
    {"blez", kOpRt, 0x18000000, nullptr},
    {"bgtz", kOpRt, 0x1c000000, nullptr},
    {"addi", kOp, 0x20000000, "alu"},
    {"addiu", kOp, 0x24000000, "alu"},
    {"slti", kOp, 0x28000000, "alu"},
    {"sltiu", kOp, 0x2c000000, "alu"},
    {"andi", kOp, 0x30000000, "alu"},
    {"ori", kOp, 0x34000000, "alu"},
    {"xori", kOp, 0x38000000, "alu"},
    {"lui", kOp, 0x3c000000, "alu"},
    {"mfc0", kOpRs, 0x40000000, "cp0"},
    {"mtc0", kOpRs, 0x40800000, nullptr},
    {"rfe", kOpRs | 0x3f, 0x42000010, nullptr},
    {"mfc2 of SWAP", kCop2Rd, 0x48002000, "swap"},
    {"mfc2", kOpRs, 0x48000000, "cop2"},
    {"mtc2 of SWAP", kCop2Rd, 0x48802000, nullptr},
    {"mtc2 of a command", kCop2Command, 0x48808000, nullptr},
    {"mtc2", kOpRs, 0x48800000, nullptr},
    {"ctc2", kOpRs, 0x48c00000, nullptr},
    {"bc2f", 0xffff0000, 0x49000000, nullptr},
    {"bc2t", 0xffff0000, 0x49010000, nullptr},
    {"lb", kOp, 0x80000000, "load"},
    {"lh", kOp, 0x84000000, "load"},
    {"lwl", kOp, 0x88000000, "load"},
    {"lw", kOp, 0x8c000000, "load"},
    {"lbu", kOp, 0x90000000, "load"},
    {"lhu", kOp, 0x94000000, "load"},
    {"lwr", kOp, 0x98000000, "load"},
    {"sb", kOp, 0xa0000000, nullptr},
    {"sh", kOp, 0xa4000000, nullptr},
    {"swl", kOp, 0xa8000000, nullptr},
    {"sw", kOp, 0xac000000, nullptr},
    {"swr", kOp, 0xb8000000, nullptr},
    {"lwc2", kOpRt, 0xc8040000, nullptr},
};
const unsigned kKindsN = sizeof(kKinds) / sizeof(kKinds[0]);

const Kind *kind_of(uint32_t instr)
{
    for (const Kind &kind : kKinds) {
        if ((instr & kind.mask) == kind.match)
            return &kind;
    }
    return nullptr;
}

bool is(const char *op, std::initializer_list<const char *> names)
{
    for (const char *name : names) {
        if (!std::strcmp(op, name))
            return true;
    }
    return false;
}

bool branches(const char *op)
{
    return is(op, {"jr", "jalr", "bltz", "bgez", "bltzal", "bgezal", "j", "jal", "beq", "bne",
                   "blez", "bgtz", "bc2f", "bc2t"});
}

const unsigned kBranchCycles = 0;

unsigned rs_of(uint32_t instr)
{
    return bits(instr, 25, 21);
}

unsigned rt_of(uint32_t instr)
{
    return bits(instr, 20, 16);
}

bool asks_ssh(uint32_t instr)
{
    return instr >> 26 == 0x12;
}

bool may_access(const char *)
{
    return false;
}

bool commands(const char *op)
{
    return is(op, {"mtc2 of a command"});
}

bool waits_for_muldiv(const char *op)
{
    return is(op, {"mfhi", "mflo", "mthi", "mtlo", "mult", "multu", "div", "divu"});
}

unsigned own_cycles(const char *)
{
    return 0;
}

bool refetches(const char *)
{
    return false;
}

bool branches_to_next(uint32_t)
{
    return false;
}

const char *use_of_rs(const char *op, uint32_t instr)
{
    const unsigned major = instr >> 26;

    if (is(op, {"sllv", "srlv", "srav"}))
        return "shift amount";
    if (is(op, {"mult", "multu", "div", "divu", "mthi", "mtlo"}))
        return "factor a";
    if (is(op, {"beq", "bne", "blez", "bgtz", "bltz", "bgez", "bltzal", "bgezal", "jr", "jalr"}))
        return "condition a";
    if (major >= 0x20)
        return "address";
    if ((major == 0 &&
         is(op, {"add", "addu", "sub", "subu", "and", "or", "xor", "nor", "slt", "sltu"})) ||
        (major >= 0x08 && major <= 0x0e))
        return "operand a";
    return nullptr;
}

const char *use_of_rt(const char *op, uint32_t instr)
{
    const unsigned major = instr >> 26;

    if (is(op, {"mult", "multu", "div", "divu"}))
        return "factor b";
    if (is(op, {"beq", "bne"}))
        return "condition b";
    if (is(op, {"lwl", "lwr"}))
        return "merged word";
    if (is(op, {"sb", "sh", "sw", "swl", "swr"}))
        return "stored word";
    if (is(op, {"mtc0", "mtc2", "mtc2 of SWAP", "mtc2 of a command", "ctc2"}))
        return "coprocessor word";
    if (major == 0 && is(op, {"sll", "srl", "sra", "sllv", "srlv", "srav", "add", "addu", "sub",
                              "subu", "and", "or", "xor", "nor", "slt", "sltu"}))
        return "operand b";
    return nullptr;
}

bool sets_guard(uint32_t instr)
{
    const Kind *const kind = kind_of(instr);
    const unsigned number = instr >> 11 & 31;

    return kind && is(kind->name, {"ctc2"}) && (number <= 1 || number == 6);
}

} // namespace okosu
