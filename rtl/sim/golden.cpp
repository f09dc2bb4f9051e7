// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

namespace okosu
{

namespace
{

uint32_t bits(uint32_t word, unsigned high, unsigned low)
{
    return (word >> low) & ((1u << (high - low + 1)) - 1);
}

uint32_t sign_extend(uint32_t value, unsigned width)
{
    uint32_t sign = 1u << (width - 1);

    return (value ^ sign) - sign;
}

bool in_segments(uint32_t addr)
{
    return (addr >> 30) == 2;
}

} // namespace

void Golden::start(uint32_t pc)
{
    regs_.fill(0);
    pc_ = pc;
    next_pc_ = pc + 4;
    in_slot_ = next_in_slot_ = false;
}

void Golden::trap(Effect &effect, Cause cause, uint32_t bad, bool has_bad)
{
    uint32_t cop = cause == kCoprocessor ? effect.instr >> 26 & 3 : 0;

    effect.traps = true;
    effect.cause = cause;
    effect.writes = effect.accesses = effect.stores = false;
    epc_ = in_slot_ ? pc_ - 4 : pc_;
    cause_ = (cause_ & 0x300) | (in_slot_ ? 1u << 31 : 0) | cop << 28 |
             static_cast<uint32_t>(cause) << 2;
    status_ = (status_ & ~0x3fu) | ((status_ << 2) & 0x3f);
    if (has_bad)
        bad_ = bad;
    next_pc_ = kExceptionVector;
    next_in_slot_ = false;
}

void Golden::write(Effect &effect, unsigned rd, uint32_t value)
{
    effect.writes = true;
    effect.rd = static_cast<uint8_t>(rd);
    effect.value = value;
}

void Golden::branch(bool taken, uint32_t target)
{
    next_in_slot_ = true;
    if (taken)
        after_ = target;
}

Effect Golden::step(Outside &outside, bool interrupt)
{
    Effect effect;
    uint32_t pc = pc_;

    effect.pc = pc;
    after_ = next_pc_ + 4;
    next_in_slot_ = false;
    if (pc % 4 || !in_segments(pc)) {
        trap(effect, kAddressLoad, pc, true);
    } else if ((pc - kTextBase) / 4 >= limits_->text_words) {
        trap(effect, kFetchBus, pc, true);
    } else {
        effect.instr = text_[(pc - kTextBase) / 4];
        if (interrupt)
            trap(effect, kInterrupt, 0, false);
        else
            execute(effect.instr, effect, outside);
    }
    if (effect.traps) {
        pc_ = kExceptionVector;
        next_pc_ = kExceptionVector + 4;
    } else {
        if (effect.writes && effect.rd)
            regs_[effect.rd] = effect.value;
        pc_ = next_pc_;
        next_pc_ = after_;
    }
    in_slot_ = next_in_slot_;
    return effect;
}

void Golden::execute(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned op = instr >> 26, rs = bits(instr, 25, 21), rt = bits(instr, 20, 16);
    uint32_t imm = bits(instr, 15, 0), simm = sign_extend(imm, 16), a = regs_[rs], b = regs_[rt];
    uint32_t target = pc_ + 4 + (simm << 2);

    switch (op) {
    case 0x00:
        special(instr, effect);
        break;
    case 0x01: {
        bool negative = a >> 31;

        if (bits(rt, 3, 1)) {
            trap(effect, kReserved, 0, false);
            break;
        }
        if (rt >> 4)
            write(effect, 31, pc_ + 8);
        branch((rt & 1) ? !negative : negative, target);
        break;
    }
    case 0x02:
    case 0x03:
        if (op & 1)
            write(effect, 31, pc_ + 8);
        branch(true, ((pc_ + 4) & 0xf0000000) | bits(instr, 25, 0) << 2);
        break;
    case 0x04:
        branch(a == b, target);
        break;
    case 0x05:
        branch(a != b, target);
        break;
    case 0x06:
    case 0x07:
        if (rt)
            trap(effect, kReserved, 0, false);
        else
            branch((static_cast<int32_t>(a) <= 0) == (op == 0x06), target);
        break;
    case 0x08:
        if (~(a ^ simm) & (a ^ (a + simm)) & 0x80000000)
            trap(effect, kOverflow, 0, false);
        else
            write(effect, rt, a + simm);
        break;
    case 0x09:
        write(effect, rt, a + simm);
        break;
    case 0x0a:
        write(effect, rt, static_cast<int32_t>(a) < static_cast<int32_t>(simm));
        break;
    case 0x0b:
        write(effect, rt, a < simm);
        break;
    case 0x0c:
        write(effect, rt, a & imm);
        break;
    case 0x0d:
        write(effect, rt, a | imm);
        break;
    case 0x0e:
        write(effect, rt, a ^ imm);
        break;
    case 0x0f:
        write(effect, rt, imm << 16);
        break;
    case 0x10:
        coprocessor0(instr, effect);
        break;
    case 0x12:
        coprocessor2(instr, effect, outside);
        break;
    case 0x11:
    case 0x13:
    case 0x31:
    case 0x33:
    case 0x39:
    case 0x3b:
        trap(effect, kCoprocessor, 0, false);
        break;
    case 0x20:
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x24:
    case 0x25:
    case 0x26:
    case 0x28:
    case 0x29:
    case 0x2a:
    case 0x2b:
    case 0x2e:
    case 0x32:
        access(instr, effect, outside);
        break;
    default:
        trap(effect, kReserved, 0, false);
    }
}

void Golden::special(uint32_t instr, Effect &effect)
{
    unsigned rs = bits(instr, 25, 21), rt = bits(instr, 20, 16), rd = bits(instr, 15, 11),
             shift = bits(instr, 10, 6);
    uint32_t a = regs_[rs], b = regs_[rt];
    int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);

    switch (bits(instr, 5, 0)) {
    case 0x00:
        write(effect, rd, b << shift);
        break;
    case 0x02:
        write(effect, rd, b >> shift);
        break;
    case 0x03:
        write(effect, rd, static_cast<uint32_t>(sb >> shift));
        break;
    case 0x04:
        write(effect, rd, b << (a & 31));
        break;
    case 0x06:
        write(effect, rd, b >> (a & 31));
        break;
    case 0x07:
        write(effect, rd, static_cast<uint32_t>(sb >> (a & 31)));
        break;
    case 0x08:
        branch(true, a);
        break;
    case 0x09:
        write(effect, rd, pc_ + 8);
        branch(true, a);
        break;
    case 0x0c:
        trap(effect, kSyscall, 0, false);
        break;
    case 0x0d:
        trap(effect, kBreak, 0, false);
        break;
    case 0x10:
        write(effect, rd, hi_);
        break;
    case 0x11:
        hi_ = a;
        break;
    case 0x12:
        write(effect, rd, lo_);
        break;
    case 0x13:
        lo_ = a;
        break;
    case 0x18: {
        uint64_t product = static_cast<uint64_t>(static_cast<int64_t>(sa) * sb);

        hi_ = static_cast<uint32_t>(product >> 32);
        lo_ = static_cast<uint32_t>(product);
        break;
    }
    case 0x19: {
        uint64_t product = static_cast<uint64_t>(a) * b;

        hi_ = static_cast<uint32_t>(product >> 32);
        lo_ = static_cast<uint32_t>(product);
        break;
    }
    case 0x1a:
        // What C leaves undefined is what an R3000 gives.
        if (!b) {
            hi_ = a;
            lo_ = sa < 0 ? 1 : 0xffffffff;
        } else if (a == 0x80000000 && b == 0xffffffff) {
            hi_ = 0;
            lo_ = a;
        } else {
            hi_ = static_cast<uint32_t>(sa % sb);
            lo_ = static_cast<uint32_t>(sa / sb);
        }
        break;
    case 0x1b:
        hi_ = b ? a % b : a;
        lo_ = b ? a / b : 0xffffffff;
        break;
    case 0x20:
        if (~(a ^ b) & (a ^ (a + b)) & 0x80000000)
            trap(effect, kOverflow, 0, false);
        else
            write(effect, rd, a + b);
        break;
    case 0x21:
        write(effect, rd, a + b);
        break;
    case 0x22:
        if ((a ^ b) & (a ^ (a - b)) & 0x80000000)
            trap(effect, kOverflow, 0, false);
        else
            write(effect, rd, a - b);
        break;
    case 0x23:
        write(effect, rd, a - b);
        break;
    case 0x24:
        write(effect, rd, a & b);
        break;
    case 0x25:
        write(effect, rd, a | b);
        break;
    case 0x26:
        write(effect, rd, a ^ b);
        break;
    case 0x27:
        write(effect, rd, ~(a | b));
        break;
    case 0x2a:
        write(effect, rd, sa < sb);
        break;
    case 0x2b:
        write(effect, rd, a < b);
        break;
    default:
        trap(effect, kReserved, 0, false);
    }
}

bool Golden::outside_memory(uint32_t addr, bool store) const
{
    uint32_t slots = limits_->threads << limits_->stack_log2, below = limits_->stack_top - addr;

    if (limits_->guard && addr < limits_->stack_top && below <= slots &&
        (addr & ((1u << limits_->stack_log2) - 1)) < 128)
        return true;
    return addr - kDataBase >= limits_->data_words * 4 && !(store && addr - kConsole < 8);
}

void Golden::access(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned op = instr >> 26, rt = bits(instr, 20, 16);
    uint32_t addr = regs_[bits(instr, 25, 21)] + sign_extend(bits(instr, 15, 0), 16),
             old = regs_[rt];
    bool exchange = op == 0x32, store = op >= 0x28 && !exchange;
    unsigned size = exchange ? 2 : op & 3, lane = addr & 3, shift = lane * 8;
    // Size 2 is half of an unaligned access, but in the exchange, which moves a word.
    bool misaligned = (size == 1 && addr & 1) || ((size == 3 || exchange) && lane);

    if (exchange && (rt != 4 || in_slot_)) {
        trap(effect, kReserved, 0, false);
        return;
    }
    if (misaligned || !in_segments(addr)) {
        trap(effect, store ? kAddressStore : kAddressLoad, addr, true);
        return;
    }
    if (outside_memory(addr, store)) {
        trap(effect, kDataBus, addr, true);
        return;
    }
    effect.accesses = true;
    effect.stores = store || exchange;
    effect.addr = addr;
    effect.bytes = 15;
    if (store) {
        switch (op) {
        case 0x28:
            effect.data = (old & 0xff) * 0x01010101u;
            effect.bytes = static_cast<uint8_t>(1u << lane);
            break;
        case 0x29:
            effect.data = (old & 0xffff) * 0x00010001u;
            effect.bytes = lane ? 12 : 3;
            break;
        case 0x2a:
            effect.data = old >> (24 - shift);
            effect.bytes = static_cast<uint8_t>(15u >> (3 - lane));
            break;
        case 0x2e:
            effect.data = old << shift;
            effect.bytes = static_cast<uint8_t>(15u << lane & 15);
            break;
        default:
            effect.data = old;
        }
        return;
    }
    uint32_t word = outside.load(addr & ~3u);

    effect.data = exchange ? swap_ : word;
    switch (op) {
    case 0x20:
        write(effect, rt, sign_extend(word >> shift & 0xff, 8));
        break;
    case 0x21:
        write(effect, rt, sign_extend(word >> shift & 0xffff, 16));
        break;
    case 0x22:
        write(effect, rt, word << (24 - shift) | (old & ((1u << (24 - shift)) - 1)));
        break;
    case 0x24:
        write(effect, rt, word >> shift & 0xff);
        break;
    case 0x25:
        write(effect, rt, word >> shift & 0xffff);
        break;
    case 0x26:
        write(effect, rt, word >> shift | (old & ~(0xffffffffu >> shift)));
        break;
    case 0x32:
        swap_ = word;
        break;
    default:
        write(effect, rt, word);
    }
}

void Golden::coprocessor0(uint32_t instr, Effect &effect)
{
    unsigned rs = bits(instr, 25, 21), rt = bits(instr, 20, 16), rd = bits(instr, 15, 11);
    uint32_t value = 0;

    if (rs == 0x10 && bits(instr, 5, 0) == 0x10) {
        status_ = (status_ & ~0xfu) | ((status_ >> 2) & 0xf);
    } else if (rs == 0) {
        switch (rd) {
        case 8:
            value = bad_;
            break;
        case 12:
            value = status_;
            break;
        case 13:
            value = cause_;
            break;
        case 14:
            value = epc_;
            break;
        case 15:
            value = 0xf001;
            break;
        }
        write(effect, rt, value);
    } else if (rs == 4) {
        value = regs_[rt];
        if (rd == 12)
            status_ = value & 0xff3f;
        else if (rd == 13)
            cause_ = (cause_ & ~0x300u) | (value & 0x300);
        else if (rd == 14)
            epc_ = value;
    } else {
        trap(effect, kReserved, 0, false);
    }
}

void Golden::coprocessor2(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned rs = bits(instr, 25, 21), rt = bits(instr, 20, 16), rd = bits(instr, 15, 11);

    switch (rs) {
    case 0x00:
        write(effect, rt, rd == 4 ? swap_ : outside.cop2_read(rd));
        break;
    case 0x04:
        if (rd >= 16 && in_slot_)
            trap(effect, kReserved, 0, false);
        else if (rd == 4)
            swap_ = regs_[rt];
        else
            outside.cop2_write(false, rd, regs_[rt]);
        break;
    case 0x06:
        outside.cop2_write(true, rd, regs_[rt]);
        break;
    case 0x08:
        if (rt > 1)
            trap(effect, kReserved, 0, false);
        else
            branch(outside.cop2_room() == (rt == 1),
                   pc_ + 4 + (sign_extend(bits(instr, 15, 0), 16) << 2));
        break;
    default:
        trap(effect, kReserved, 0, false);
    }
}

} // namespace okosu
