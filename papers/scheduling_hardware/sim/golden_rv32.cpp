// SPDX-License-Identifier: Apache-2.0
#include "golden_rv32.h"

#include "bits.h"

#include <algorithm>

namespace okosu
{

namespace
{

constexpr uint32_t kExternal = 1u << 11;
constexpr uint32_t kMie = 1u << 3, kMpie = 1u << 7, kMppMachine = 3u << 11;
constexpr uint32_t kLowest = 0x80000000;

enum Csr : unsigned {
    kMstatus = 0x300,
    kMisa = 0x301,
    kMieCsr = 0x304,
    kMtvec = 0x305,
    kMstatush = 0x310,
    kMscratch = 0x340,
    kMepc = 0x341,
    kMcause = 0x342,
    kMtval = 0x343,
    kMip = 0x344,
    kMcycle = 0xb00,
    kMinstret = 0xb02,
    kMcycleh = 0xb80,
    kMinstreth = 0xb82,
    kMvendorid = 0xf11,
    kMarchid = 0xf12,
    kMimpid = 0xf13,
    kMhartid = 0xf14,
};

int32_t as_signed(uint32_t value)
{
    return static_cast<int32_t>(value);
}

// A counter whose lower or upper half was written.
uint64_t replaced(uint64_t whole, uint32_t half, bool high)
{
    constexpr uint64_t kLow = 0xffffffff;

    return high ? uint64_t{half} << 32 | (whole & kLow) : (whole & ~kLow) | half;
}

uint32_t quotient(uint32_t a, uint32_t b)
{
    if (b == 0)
        return 0xffffffff;
    if (a == kLowest && b == 0xffffffff)
        return a;
    return static_cast<uint32_t>(as_signed(a) / as_signed(b));
}

uint32_t remainder(uint32_t a, uint32_t b)
{
    if (b == 0)
        return a;
    if (a == kLowest && b == 0xffffffff)
        return 0;
    return static_cast<uint32_t>(as_signed(a) % as_signed(b));
}

uint32_t product_or_quotient(unsigned funct3, uint32_t a, uint32_t b)
{
    const int64_t sa = as_signed(a), sb = as_signed(b), ua = a, ub = b;

    switch (funct3) {
    case 0:
        return a * b;
    case 1:
        return static_cast<uint32_t>(static_cast<uint64_t>(sa * sb) >> 32);
    case 2:
        return static_cast<uint32_t>(static_cast<uint64_t>(sa * ub) >> 32);
    case 3:
        return static_cast<uint32_t>(static_cast<uint64_t>(ua) * static_cast<uint64_t>(ub) >> 32);
    case 4:
        return quotient(a, b);
    case 5:
        return b ? a / b : 0xffffffff;
    case 6:
        return remainder(a, b);
    default:
        return b ? a % b : a;
    }
}

// The word that an operation on memory leaves there; nothing: there is no such operation.
std::optional<uint32_t> operated(unsigned funct5, uint32_t old, uint32_t with)
{
    switch (funct5) {
    case 0x00:
        return old + with;
    case 0x01:
        return with;
    case 0x04:
        return old ^ with;
    case 0x08:
        return old | with;
    case 0x0c:
        return old & with;
    case 0x10:
        return static_cast<uint32_t>(std::min(as_signed(old), as_signed(with)));
    case 0x14:
        return static_cast<uint32_t>(std::max(as_signed(old), as_signed(with)));
    case 0x18:
        return std::min(old, with);
    case 0x1c:
        return std::max(old, with);
    default:
        return std::nullopt;
    }
}

} // namespace

void GoldenRv32::trap(RvCause cause, uint32_t value)
{
    in_handler_ = true;
    reserved_.reset();
    effect_->traps = true;
    effect_->cause = cause;
    effect_->writes = effect_->accesses = effect_->stores = false;
    enabled_before_ = enabled_;
    enabled_ = false;
    epc_ = thread_->pc;
    cause_ = cause == kRvInterrupt ? 0x8000000b : static_cast<uint32_t>(cause);
    value_ = value;
    next_pc_ = vector_;
}

void GoldenRv32::write(unsigned rd, uint32_t value)
{
    effect_->writes = true;
    effect_->rd = static_cast<uint8_t>(rd);
    effect_->value = value;
}

Effect GoldenRv32::step(ThreadState &thread, Outside &outside, const Effect &core)
{
    Effect effect;

    thread_ = &thread;
    effect_ = &effect;
    effect.pc = thread.pc;
    next_pc_ = thread.pc + 4;
    retired_set_.reset();
    if ((thread.pc - kTextBase) / 4 >= limits_->text_words) {
        trap(kRvFetch, thread.pc);
    } else {
        effect.instr = text_[(thread.pc - kTextBase) / 4];
        if (core.traps && core.cause == kRvInterrupt && enabled_ && external_ && !held_ &&
            outside.irq())
            trap(kRvInterrupt, 0);
        else
            execute(effect.instr, outside);
    }
    if (!effect.traps) {
        retired_++;
        if (retired_set_)
            retired_ = *retired_set_;
        if (effect.writes && effect.rd)
            thread.regs[effect.rd] = effect.value;
    }
    thread.pc = next_pc_;
    return effect;
}

void GoldenRv32::execute(uint32_t instr, Outside &outside)
{
    const unsigned rd = bits(instr, 11, 7), funct3 = bits(instr, 14, 12);
    const uint32_t upper = instr & 0xfffff000;

    switch (bits(instr, 6, 0)) {
    case 0x03:
        load(instr, outside);
        break;
    case 0x0b:
        ssh(instr, outside);
        break;
    case 0x0f:
        if (funct3 > 1)
            trap(kRvIllegal, instr);
        break;
    case 0x13:
        immediate(instr);
        break;
    case 0x17:
        write(rd, thread_->pc + upper);
        break;
    case 0x23:
        store(instr);
        break;
    case 0x2f:
        atomic(instr, outside);
        break;
    case 0x33:
        registers(instr);
        break;
    case 0x37:
        write(rd, upper);
        break;
    case 0x63:
        branch(instr);
        break;
    case 0x67:
        if (funct3)
            trap(kRvIllegal, instr);
        else
            jump((thread_->regs[bits(instr, 19, 15)] + sign_extend(instr >> 20, 12)) & ~1u, rd);
        break;
    case 0x6f:
        jump(thread_->pc + sign_extend(bits(instr, 31, 31) << 20 | bits(instr, 19, 12) << 12 |
                                           bits(instr, 20, 20) << 11 | bits(instr, 30, 21) << 1,
                                       21),
             rd);
        break;
    case 0x73:
        system(instr, outside);
        break;
    default:
        trap(kRvIllegal, instr);
    }
}

void GoldenRv32::immediate(uint32_t instr)
{
    const unsigned rd = bits(instr, 11, 7), shift = bits(instr, 24, 20);
    const uint32_t a = thread_->regs[bits(instr, 19, 15)], imm = sign_extend(instr >> 20, 12);

    switch (bits(instr, 14, 12)) {
    case 0:
        return write(rd, a + imm);
    case 1:
        return instr >> 25 ? trap(kRvIllegal, instr) : write(rd, a << shift);
    case 2:
        return write(rd, as_signed(a) < as_signed(imm));
    case 3:
        return write(rd, a < imm);
    case 4:
        return write(rd, a ^ imm);
    case 5:
        if (instr >> 25 == 0)
            return write(rd, a >> shift);
        if (instr >> 25 == 0x20)
            return write(rd, static_cast<uint32_t>(as_signed(a) >> shift));
        return trap(kRvIllegal, instr);
    case 6:
        return write(rd, a | imm);
    default:
        return write(rd, a & imm);
    }
}

void GoldenRv32::registers(uint32_t instr)
{
    const unsigned rd = bits(instr, 11, 7), funct3 = bits(instr, 14, 12), funct7 = instr >> 25;
    const uint32_t a = thread_->regs[bits(instr, 19, 15)], b = thread_->regs[bits(instr, 24, 20)];

    if (funct7 == 1)
        return write(rd, product_or_quotient(funct3, a, b));
    if (funct7 == 0x20 && funct3 == 0)
        return write(rd, a - b);
    if (funct7 == 0x20 && funct3 == 5)
        return write(rd, static_cast<uint32_t>(as_signed(a) >> (b & 31)));
    if (funct7)
        return trap(kRvIllegal, instr);
    switch (funct3) {
    case 0:
        return write(rd, a + b);
    case 1:
        return write(rd, a << (b & 31));
    case 2:
        return write(rd, as_signed(a) < as_signed(b));
    case 3:
        return write(rd, a < b);
    case 4:
        return write(rd, a ^ b);
    case 5:
        return write(rd, a >> (b & 31));
    case 6:
        return write(rd, a | b);
    default:
        return write(rd, a & b);
    }
}

void GoldenRv32::branch(uint32_t instr)
{
    const uint32_t a = thread_->regs[bits(instr, 19, 15)], b = thread_->regs[bits(instr, 24, 20)];
    const unsigned funct3 = bits(instr, 14, 12);
    bool taken = false;

    switch (funct3 >> 1) {
    case 0:
        taken = a == b;
        break;
    case 2:
        taken = as_signed(a) < as_signed(b);
        break;
    case 3:
        taken = a < b;
        break;
    default:
        return trap(kRvIllegal, instr);
    }
    if (taken == (funct3 & 1))
        return;
    const uint32_t target =
        thread_->pc + sign_extend(bits(instr, 31, 31) << 12 | bits(instr, 7, 7) << 11 |
                                      bits(instr, 30, 25) << 5 | bits(instr, 11, 8) << 1,
                                  13);

    if (target & 2)
        trap(kRvFetchMisaligned, target);
    else
        next_pc_ = target;
}

void GoldenRv32::jump(uint32_t target, unsigned rd)
{
    if (target & 2)
        return trap(kRvFetchMisaligned, target);
    write(rd, thread_->pc + 4);
    next_pc_ = target;
}

// Traps where no access of so many bytes is possible at the address; only plain stores reach
// devices.
bool GoldenRv32::wrong_address(uint32_t addr, unsigned bytes, bool stores, bool device)
{
    const uint32_t slots = limits_->threads << limits_->stack_log2,
                   below = limits_->stack_top - addr;
    const bool in_guard = limits_->guard && addr < limits_->stack_top && below <= slots &&
                          (addr & ((1u << limits_->stack_log2) - 1)) < kGuardBytes;
    const bool in_data = addr - kDataBase < limits_->data_words * 4;

    if (addr % bytes)
        trap(stores ? kRvStoreMisaligned : kRvLoadMisaligned, addr);
    else if (in_guard || !(in_data || (device && addr - kConsole < 8)))
        trap(stores ? kRvStore : kRvLoad, addr);
    return effect_->traps;
}

void GoldenRv32::load(uint32_t instr, Outside &outside)
{
    const unsigned rd = bits(instr, 11, 7), funct3 = bits(instr, 14, 12), width = funct3 & 3;
    const uint32_t addr = thread_->regs[bits(instr, 19, 15)] + sign_extend(instr >> 20, 12);

    if (width == 3 || funct3 > 5)
        return trap(kRvIllegal, instr);
    if (wrong_address(addr, 1u << width, false, false))
        return;
    const uint32_t word = outside.load(addr & ~3u), part = word >> 8 * (addr & 3);

    effect_->accesses = true;
    effect_->addr = addr;
    effect_->bytes = 15;
    effect_->data = word;
    if (width == 2)
        write(rd, word);
    else if (funct3 & 4)
        write(rd, width ? part & 0xffff : part & 0xff);
    else
        write(rd, sign_extend(width ? part & 0xffff : part & 0xff, width ? 16 : 8));
}

void GoldenRv32::store(uint32_t instr)
{
    const unsigned funct3 = bits(instr, 14, 12);
    const uint32_t addr =
        thread_->regs[bits(instr, 19, 15)] + sign_extend(instr >> 25 << 5 | bits(instr, 11, 7), 12);
    const uint32_t value = thread_->regs[bits(instr, 24, 20)];

    if (funct3 > 2)
        return trap(kRvIllegal, instr);
    if (wrong_address(addr, 1u << funct3, true, true))
        return;
    effect_->accesses = effect_->stores = true;
    effect_->addr = addr;
    if (funct3 == 0) {
        effect_->data = (value & 0xff) * 0x01010101u;
        effect_->bytes = static_cast<uint8_t>(1u << (addr & 3));
    } else if (funct3 == 1) {
        effect_->data = (value & 0xffff) * 0x00010001u;
        effect_->bytes = addr & 2 ? 12 : 3;
    } else {
        effect_->data = value;
        effect_->bytes = 15;
    }
}

void GoldenRv32::atomic(uint32_t instr, Outside &outside)
{
    const unsigned rd = bits(instr, 11, 7), funct5 = instr >> 27;
    const uint32_t addr = thread_->regs[bits(instr, 19, 15)],
                   value = thread_->regs[bits(instr, 24, 20)];
    const bool reads = funct5 == 2, conditional = funct5 == 3;

    if (bits(instr, 14, 12) != 2 || (reads && bits(instr, 24, 20)) ||
        (!reads && !conditional && !operated(funct5, 0, 0)))
        return trap(kRvIllegal, instr);
    if (wrong_address(addr, 4, !reads, false))
        return;
    if (conditional) {
        const bool stores = reserved_ == addr;

        reserved_.reset();
        write(rd, !stores);
        if (!stores)
            return;
        effect_->data = value;
    } else {
        const uint32_t old = outside.load(addr);

        write(rd, old);
        effect_->data = reads ? old : *operated(funct5, old, value);
        if (reads)
            reserved_ = addr;
        else if (funct5 != 1)
            reserved_.reset();
    }
    effect_->accesses = true;
    effect_->stores = !reads;
    effect_->addr = addr;
    effect_->bytes = 15;
}

std::optional<uint32_t> GoldenRv32::csr(unsigned number, Outside &outside) const
{
    const uint64_t cycle = outside.cycle() + cycles_ahead_;

    switch (number) {
    case kMstatus:
        return kMppMachine | (enabled_ ? kMie : 0) | (enabled_before_ ? kMpie : 0);
    case kMisa:
        return 1u << 30 | 1u << ('M' - 'A') | 1u << ('I' - 'A') | 1u;
    case kMieCsr:
        return external_ ? kExternal : 0;
    case kMtvec:
        return vector_;
    case kMscratch:
        return scratch_;
    case kMepc:
        return epc_;
    case kMcause:
        return cause_;
    case kMtval:
        return value_;
    case kMip:
        return outside.irq() ? kExternal : 0;
    case kMcycle:
        return static_cast<uint32_t>(cycle);
    case kMcycleh:
        return static_cast<uint32_t>(cycle >> 32);
    case kMinstret:
        return static_cast<uint32_t>(retired_);
    case kMinstreth:
        return static_cast<uint32_t>(retired_ >> 32);
    case kMhartid:
        return limits_->hart;
    case kMimpid:
        return 0xf001;
    case kMvendorid:
    case kMarchid:
    case kMstatush:
        return 0;
    default:
        return std::nullopt;
    }
}

void GoldenRv32::set_csr(unsigned number, uint32_t value, Outside &outside)
{
    const uint64_t cycle = outside.cycle() + cycles_ahead_ + 1;

    switch (number) {
    case kMstatus:
        enabled_ = value & kMie;
        enabled_before_ = value & kMpie;
        break;
    case kMieCsr:
        external_ = value & kExternal;
        break;
    case kMtvec:
        vector_ = value & ~3u;
        break;
    case kMscratch:
        scratch_ = value;
        break;
    case kMepc:
        epc_ = value & ~3u;
        break;
    case kMcause:
        cause_ = value & 0x8000001f;
        break;
    case kMtval:
        value_ = value;
        break;
    // The cycle of this instruction is counted before it writes.
    case kMcycle:
    case kMcycleh:
        cycles_ahead_ += replaced(cycle, value, number == kMcycleh) - cycle;
        break;
    // It is not counted itself.
    case kMinstret:
    case kMinstreth:
        retired_set_ = replaced(retired_, value, number == kMinstreth);
        break;
    default:
        break;
    }
}

void GoldenRv32::system(uint32_t instr, Outside &outside)
{
    const unsigned rd = bits(instr, 11, 7), rs1 = bits(instr, 19, 15), funct3 = bits(instr, 14, 12),
                   number = instr >> 20;

    switch (instr) {
    case 0x00000073:
        return trap(kRvCall, 0);
    case 0x00100073:
        return trap(kRvBreak, thread_->pc);
    case 0x10500073:
        return;
    case 0x30200073:
        enabled_ = enabled_before_;
        enabled_before_ = true;
        in_handler_ = false;
        reserved_.reset();
        next_pc_ = epc_;
        return;
    default:
        break;
    }
    const std::optional<uint32_t> old = csr(number, outside);
    const uint32_t with = funct3 & 4 ? rs1 : thread_->regs[rs1];
    const bool writes = (funct3 & 3) == 1 || rs1 != 0;

    if ((funct3 & 3) == 0 || !old || (writes && number >> 10 == 3))
        return trap(kRvIllegal, instr);
    if (writes)
        set_csr(number,
                (funct3 & 3) == 1   ? with
                : (funct3 & 3) == 2 ? *old | with
                                    : *old & ~with,
                outside);
    write(rd, *old);
}

// Requests of SSH-s, in custom-0: funct3 0 an operand or a command, 1 a read, 2 a setting.
void GoldenRv32::ssh(uint32_t instr, Outside &outside)
{
    const unsigned rd = bits(instr, 11, 7), rs1 = bits(instr, 19, 15), funct3 = bits(instr, 14, 12),
                   number = instr >> 25;
    const bool reads = funct3 == 1, sets = funct3 == 2;

    if (funct3 > 2 || bits(instr, 24, 20) || number > 31 || (reads ? rs1 : rd) ||
        (!sets && number == 4))
        return trap(kRvIllegal, instr);
    if (reads)
        return write(rd, outside.cop2_read(number));
    if (!sets && number < 4)
        held_ = true;
    if (!sets && number >= 16)
        held_ = false;
    outside.cop2_write(sets, number, thread_->regs[rs1]);
}

} // namespace okosu
