// SPDX-License-Identifier: Apache-2.0
#include "stacks.h"

#include "isa.h"

#include <algorithm>

namespace okosu
{

namespace
{

constexpr uint32_t kGuardBytes = 1024;

// `addiu sp, sp, n`; `addu sp, sp, r` and `subu sp, sp, r`, without r and the bit between them. On
// RISC-V `addi`, `add` and `sub`.
constexpr bool adds_constant(uint32_t instruction)
{
    return OKOSU_RV32 ? (instruction & 0xfffff) == 0x10113
                      : (instruction & 0xffff0000) == 0x27bd0000;
}

constexpr bool adds_register(uint32_t instruction)
{
    return OKOSU_RV32 ? (instruction & 0xbe0fffff) == 0x10133
                      : (instruction & 0xffe0fffd) == 0x03a0e821;
}

constexpr int32_t added_constant(uint32_t instruction)
{
    return OKOSU_RV32 ? static_cast<int32_t>(instruction) >> 20 : static_cast<int16_t>(instruction);
}

} // namespace

bool in_guard(uint32_t address, const Program &program)
{
    const auto top = program.symbol("__stack_top"), log2 = program.symbol("__stack_log2"),
               threads = program.symbol("__threads_max");

    if (!top || !log2 || !threads || *log2 > 31)
        return false;
    const uint32_t slot = uint32_t{1} << *log2;

    return *top - address - 1 < uint64_t{*threads} * slot && (address & (slot - 1)) < kGuardBytes;
}

Stacks::Stacks(const Program &program) : pointers_(Model::pes())
{
    const uint32_t log2 = program.symbol("__stack_log2").value_or(32);

    // A program without these has laid out its stacks itself.
    if (log2 > 31)
        return;
    log2_ = log2;
    start_ = program.symbol("__stacks_start").value_or(0);
    top_ = program.symbol("__stack_top").value_or(0);
    main_top_ = std::max(top_, program.symbol("__main_stack_top").value_or(0));
}

// Where the slot ends in which `sp` lies, 0 if it is in none. Thread 0 has what is above the slots,
// too.
uint32_t Stacks::bottom_of(uint32_t sp) const
{
    if (sp < start_ || sp >= main_top_)
        return 0;
    const uint32_t slot = sp < top_ ? (top_ - 1 - sp) >> log2_ : 0;

    return top_ - ((slot + 1) << log2_);
}

bool Stacks::overrun(const Model &model, unsigned pe, const Retired &retired, uint32_t &sp)
{
    const bool by_constant = adds_constant(retired.instruction);

    if (retired.traps || (!by_constant && !adds_register(retired.instruction)))
        return false;
    Pointer &pointer = pointers_[pe];
    uint32_t before = pointer.thread == retired.thread ? pointer.value : 0;

    sp = model.written(pe);
    if (by_constant)
        before = sp - static_cast<uint32_t>(added_constant(retired.instruction));
    pointer = {sp, retired.thread};
    const uint32_t bottom = before > sp ? bottom_of(before) : 0;

    return bottom && sp < bottom + kGuardBytes;
}

} // namespace okosu
