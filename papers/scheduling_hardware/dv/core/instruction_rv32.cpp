// SPDX-License-Identifier: Apache-2.0
#include "instruction.h"

#include "bits.h"

#include <cstring>

namespace okosu
{

namespace
{

constexpr uint32_t kOp = 0x0000007f, kOpFunct3 = 0x0000707f, kOpFunct7 = 0xfe00707f,
                   kAmo = 0xf800707f;
constexpr unsigned kProductCycles = 5, kQuotientCycles = 35;

} // namespace

const Kind kKinds[] = {
    {"lui", kOp, 0x37, "alu"},
    {"auipc", kOp, 0x17, "alu"},
    {"jal", kOp, 0x6f, "link"},
    {"jalr", kOpFunct3, 0x67, "link"},
    {"beq", kOpFunct3, 0x0063, nullptr},
    {"bne", kOpFunct3, 0x1063, nullptr},
    {"blt", kOpFunct3, 0x4063, nullptr},
    {"bge", kOpFunct3, 0x5063, nullptr},
    {"bltu", kOpFunct3, 0x6063, nullptr},
    {"bgeu", kOpFunct3, 0x7063, nullptr},
    {"lb", kOpFunct3, 0x0003, "load"},
    {"lh", kOpFunct3, 0x1003, "load"},
    {"lw", kOpFunct3, 0x2003, "load"},
    {"lbu", kOpFunct3, 0x4003, "load"},
    {"lhu", kOpFunct3, 0x5003, "load"},
    {"sb", kOpFunct3, 0x0023, nullptr},
    {"sh", kOpFunct3, 0x1023, nullptr},
    {"sw", kOpFunct3, 0x2023, nullptr},
    {"addi", kOpFunct3, 0x0013, "alu"},
    {"slli", kOpFunct7, 0x1013, "alu"},
    {"slti", kOpFunct3, 0x2013, "alu"},
    {"sltiu", kOpFunct3, 0x3013, "alu"},
    {"xori", kOpFunct3, 0x4013, "alu"},
    {"srli", kOpFunct7, 0x5013, "alu"},
    {"srai", kOpFunct7, 0x40005013, "alu"},
    {"ori", kOpFunct3, 0x6013, "alu"},
    {"andi", kOpFunct3, 0x7013, "alu"},
    {"add", kOpFunct7, 0x0033, "alu"},
    {"sub", kOpFunct7, 0x40000033, "alu"},
    {"sll", kOpFunct7, 0x1033, "alu"},
    {"slt", kOpFunct7, 0x2033, "alu"},
    {"sltu", kOpFunct7, 0x3033, "alu"},
    {"xor", kOpFunct7, 0x4033, "alu"},
    {"srl", kOpFunct7, 0x5033, "alu"},
    {"sra", kOpFunct7, 0x40005033, "alu"},
    {"or", kOpFunct7, 0x6033, "alu"},
    {"and", kOpFunct7, 0x7033, "alu"},
    {"mul", kOpFunct7, 0x02000033, "product"},
    {"mulh", kOpFunct7, 0x02001033, "product"},
    {"mulhsu", kOpFunct7, 0x02002033, "product"},
    {"mulhu", kOpFunct7, 0x02003033, "product"},
    {"div", kOpFunct7, 0x02004033, "quotient"},
    {"divu", kOpFunct7, 0x02005033, "quotient"},
    {"rem", kOpFunct7, 0x02006033, "quotient"},
    {"remu", kOpFunct7, 0x02007033, "quotient"},
    {"fence", kOpFunct3, 0x000f, nullptr},
    {"fence.i", kOpFunct3, 0x100f, nullptr},
    {"lr.w", kAmo, 0x1000202f, "load"},
    {"sc.w", kAmo, 0x1800202f, "condition"},
    {"amoswap.w", kAmo, 0x0800202f, "atomic"},
    {"amoadd.w", kAmo, 0x0000202f, "atomic"},
    {"amoxor.w", kAmo, 0x2000202f, "atomic"},
    {"amoor.w", kAmo, 0x4000202f, "atomic"},
    {"amoand.w", kAmo, 0x6000202f, "atomic"},
    {"amomin.w", kAmo, 0x8000202f, "atomic"},
    {"amomax.w", kAmo, 0xa000202f, "atomic"},
    {"amominu.w", kAmo, 0xc000202f, "atomic"},
    {"amomaxu.w", kAmo, 0xe000202f, "atomic"},
    {"csrrw", kOpFunct3, 0x1073, "csr"},
    {"csrrs", kOpFunct3, 0x2073, "csr"},
    {"csrrc", kOpFunct3, 0x3073, "csr"},
    {"csrrwi", kOpFunct3, 0x5073, "csr"},
    {"csrrsi", kOpFunct3, 0x6073, "csr"},
    {"csrrci", kOpFunct3, 0x7073, "csr"},
    {"mret", 0xffffffff, 0x30200073, nullptr},
    {"wfi", 0xffffffff, 0x10500073, nullptr},
    {"ssh command", kOpFunct3 | 0x20000000, 0x2000000b, nullptr},
    {"ssh operand", kOpFunct3, 0x000b, nullptr},
    {"ssh read", kOpFunct3, 0x100b, "cop2"},
    {"ssh setting", kOpFunct3, 0x200b, nullptr},
};
const unsigned kKindsN = sizeof(kKinds) / sizeof(kKinds[0]);
const unsigned kBranchCycles = 1;

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
    return is(op, {"jal", "jalr", "beq", "bne", "blt", "bge", "bltu", "bgeu"});
}

unsigned rs_of(uint32_t instr)
{
    return bits(instr, 19, 15);
}

unsigned rt_of(uint32_t instr)
{
    return bits(instr, 24, 20);
}

bool asks_ssh(uint32_t instr)
{
    return (instr & kOp) == 0x0b;
}

bool may_access(const char *op)
{
    return is(op, {"sc.w"});
}

bool commands(const char *op)
{
    return is(op, {"ssh command"});
}

bool waits_for_muldiv(const char *)
{
    return false;
}

unsigned own_cycles(const char *op)
{
    if (is(op, {"mul", "mulh", "mulhsu", "mulhu"}))
        return kProductCycles;
    return is(op, {"div", "divu", "rem", "remu"}) ? kQuotientCycles : 0;
}

bool refetches(const char *op)
{
    return is(op, {"mret"});
}

bool branches_to_next(uint32_t instr)
{
    constexpr uint32_t kOffset = 0xfe000f80, kFour = 0x200, kJump = 0x0040006f;

    return (instr & kOp) == 0x67 || (instr & 0xfffff07f) == kJump ||
           ((instr & kOp) == 0x63 && (instr & kOffset) == kFour);
}

const char *use_of_rs(const char *op, uint32_t instr)
{
    switch (instr & kOp) {
    case 0x03:
    case 0x23:
    case 0x2f:
        return "address";
    case 0x0b:
        return is(op, {"ssh read"}) ? nullptr : "coprocessor word";
    case 0x13:
    case 0x33:
        return own_cycles(op) ? "factor a" : "operand a";
    case 0x63:
        return "condition a";
    case 0x67:
        return "target";
    case 0x73:
        return is(op, {"csrrw", "csrrs", "csrrc"}) ? "csr word" : nullptr;
    default:
        return nullptr;
    }
}

const char *use_of_rt(const char *op, uint32_t instr)
{
    switch (instr & kOp) {
    case 0x23:
        return "stored word";
    case 0x2f:
        return is(op, {"lr.w"}) ? nullptr : "stored word";
    case 0x33:
        return own_cycles(op) ? "factor b" : is(op, {"sll", "srl", "sra"}) ? "amount" : "operand b";
    case 0x63:
        return "condition b";
    default:
        return nullptr;
    }
}

bool sets_guard(uint32_t instr)
{
    const unsigned number = instr >> 25 & 31;

    return (instr & 0x707f) == 0x200b && (number <= 1 || number == 6);
}

} // namespace okosu
