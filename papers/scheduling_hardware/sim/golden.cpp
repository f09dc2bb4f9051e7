// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include "bits.h"

namespace okosu
{

void Golden::trap(Effect &effect, Cause cause, uint32_t bad, bool has_bad)
{
    uint32_t cop = cause == kCoprocessor ? effect.instr >> 26 & 3 : 0;

    in_handler_ = true;
    effect.traps = true;
    effect.cause = cause;
    effect.writes = effect.accesses = effect.stores = false;
    epc_ = thread_->in_slot ? thread_->pc - 4 : thread_->pc;
    cause_ = (cause_ & 0x300) | (thread_->in_slot ? 1u << 31 : 0) | cop << 28 |
             static_cast<uint32_t>(cause) << 2;
    status_ = (status_ & ~0x3fu) | ((status_ << 2) & 0x3f);
    if (has_bad)
        bad_ = bad;
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

Effect Golden::step(ThreadState &thread, Outside &outside, const Effect &core)
{
    const bool must = enabled(cause_ & 0x300);
    const bool interrupt = core.traps && core.cause == kInterrupt;
    Effect effect;

    thread_ = &thread;
    if (thread.other_pc && core.pc == thread.other_pc) {
        thread.pc = core.pc;
        thread.next_pc = core.pc + 4;
    }
    thread.other_pc = thread.other_after_slot;
    thread.other_after_slot = 0;
    effect.pc = thread.pc;
    after_ = thread.next_pc + 4;
    next_in_slot_ = false;
    if (thread.pc % 4 || !in_segments(thread.pc)) {
        trap(effect, kAddressLoad, thread.pc, true);
    } else if ((thread.pc - kTextBase) / 4 >= limits_->text_words) {
        trap(effect, kFetchBus, thread.pc, true);
    } else {
        effect.instr = text_[(thread.pc - kTextBase) / 4];
        const Golden before = *this;
        const ThreadState thread_before = thread;

        if (interrupt && enabled((cause_ & 0x300) | (outside.irq() ? 0x400u : 0)))
            trap(effect, kInterrupt, 0, false);
        else
            execute(effect.instr, effect, outside);
        // Of a software interrupt (a bit in Cause) and a trap, the trap comes first unless it is an
        // error of a memory access.
        if (must && (!effect.traps || effect.cause == kAddressLoad ||
                     effect.cause == kAddressStore || effect.cause == kDataBus)) {
            *this = before;
            thread = thread_before;
            trap(effect, kInterrupt, 0, false);
        }
    }
    if (effect.traps) {
        thread.pc = kExceptionVector;
        thread.next_pc = kExceptionVector + 4;
        thread.other_after_slot = thread.other_pc = 0;
    } else {
        if (effect.writes && effect.rd)
            thread.regs[effect.rd] = effect.value;
        thread.pc = thread.next_pc;
        thread.next_pc = after_;
    }
    thread.in_slot = next_in_slot_;
    return effect;
}

void Golden::execute(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned op = instr >> 26, rs = bits(instr, 25, 21), rt = bits(instr, 20, 16);
    uint32_t imm = bits(instr, 15, 0), simm = sign_extend(imm, 16), a = thread_->regs[rs],
             b = thread_->regs[rt];
    uint32_t target = thread_->pc + 4 + (simm << 2);

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
            write(effect, 31, thread_->pc + 8);
        branch((rt & 1) ? !negative : negative, target);
        break;
    }
    case 0x02:
    case 0x03:
        if (op & 1)
            write(effect, 31, thread_->pc + 8);
        branch(true, ((thread_->pc + 4) & 0xf0000000) | bits(instr, 25, 0) << 2);
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
        coprocessor0(instr, effect, outside);
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
    uint32_t a = thread_->regs[rs], b = thread_->regs[rt];
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
        write(effect, rd, thread_->pc + 8);
        branch(true, a);
        break;
    case 0x0c:
        trap(effect, kSyscall, 0, false);
        break;
    case 0x0d:
        trap(effect, kBreak, 0, false);
        break;
    case 0x10:
        write(effect, rd, thread_->hi);
        break;
    case 0x11:
        thread_->hi = a;
        break;
    case 0x12:
        write(effect, rd, thread_->lo);
        break;
    case 0x13:
        thread_->lo = a;
        break;
    case 0x18: {
        uint64_t product = static_cast<uint64_t>(static_cast<int64_t>(sa) * sb);

        thread_->hi = static_cast<uint32_t>(product >> 32);
        thread_->lo = static_cast<uint32_t>(product);
        break;
    }
    case 0x19: {
        uint64_t product = static_cast<uint64_t>(a) * b;

        thread_->hi = static_cast<uint32_t>(product >> 32);
        thread_->lo = static_cast<uint32_t>(product);
        break;
    }
    case 0x1a:
        // C leaves these quotients undefined; they are those of an R3000.
        if (!b) {
            thread_->hi = a;
            thread_->lo = sa < 0 ? 1 : 0xffffffff;
        } else if (a == 0x80000000 && b == 0xffffffff) {
            thread_->hi = 0;
            thread_->lo = a;
        } else {
            thread_->hi = static_cast<uint32_t>(sa % sb);
            thread_->lo = static_cast<uint32_t>(sa / sb);
        }
        break;
    case 0x1b:
        thread_->hi = b ? a % b : a;
        thread_->lo = b ? a / b : 0xffffffff;
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
        (addr & ((1u << limits_->stack_log2) - 1)) < kGuardBytes)
        return true;
    return addr - kDataBase >= limits_->data_words * 4 && !(store && addr - kConsole < 8);
}

void Golden::access(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned op = instr >> 26, rt = bits(instr, 20, 16), size = op & 3;
    uint32_t addr = thread_->regs[bits(instr, 25, 21)] + sign_extend(bits(instr, 15, 0), 16);
    bool exchange = op == 0x32, stores = op >= 0x28 && !exchange;
    // Size 2 is half of an unaligned access; only the exchange moves a word with it.
    bool misaligned = (size == 1 && addr & 1) || ((size == 3 || exchange) && addr & 3);

    if (exchange && (rt != 4 || thread_->in_slot)) {
        trap(effect, kReserved, 0, false);
        return;
    }
    if (misaligned || !in_segments(addr)) {
        trap(effect, stores ? kAddressStore : kAddressLoad, addr, true);
        return;
    }
    if (outside_memory(addr, stores)) {
        trap(effect, kDataBus, addr, true);
        return;
    }
    effect.accesses = true;
    effect.stores = stores || exchange;
    effect.addr = addr;
    effect.bytes = 15;
    if (stores) {
        store(instr, effect);
        return;
    }
    uint32_t word = outside.load(addr & ~3u);

    effect.data = exchange ? swap_ : word;
    if (exchange)
        swap_ = word;
    else
        load(instr, word, effect);
}

void Golden::store(uint32_t instr, Effect &effect)
{
    unsigned lane = effect.addr & 3, shift = lane * 8;
    uint32_t value = thread_->regs[bits(instr, 20, 16)];

    switch (instr >> 26) {
    case 0x28:
        effect.data = (value & 0xff) * 0x01010101u;
        effect.bytes = static_cast<uint8_t>(1u << lane);
        break;
    case 0x29:
        effect.data = (value & 0xffff) * 0x00010001u;
        effect.bytes = lane ? 12 : 3;
        break;
    case 0x2a:
        effect.data = value >> (24 - shift);
        effect.bytes = static_cast<uint8_t>(15u >> (3 - lane));
        break;
    case 0x2e:
        effect.data = value << shift;
        effect.bytes = static_cast<uint8_t>(15u << lane & 15);
        break;
    default:
        effect.data = value;
    }
}

void Golden::load(uint32_t instr, uint32_t word, Effect &effect)
{
    unsigned rt = bits(instr, 20, 16), shift = (effect.addr & 3) * 8;
    uint32_t old = thread_->regs[rt];

    switch (instr >> 26) {
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
    default:
        write(effect, rt, word);
    }
}

void Golden::coprocessor0(uint32_t instr, Effect &effect, Outside &outside)
{
    unsigned rs = bits(instr, 25, 21), rt = bits(instr, 20, 16), rd = bits(instr, 15, 11);
    uint32_t value = 0;

    if (rs == 0x10 && bits(instr, 5, 0) == 0x10) {
        status_ = (status_ & ~0xfu) | ((status_ >> 2) & 0xf);
        in_handler_ = false;
    } else if (rs == 0) {
        switch (rd) {
        case 8:
            value = bad_;
            break;
        case 12:
            value = status_;
            break;
        case 13:
            value = cause_ | (outside.irq() ? 0x400u : 0);
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
        value = thread_->regs[rt];
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
        held_ = held_ && rd != 4;
        break;
    case 0x04:
        if (rd >= 16 && thread_->in_slot) {
            trap(effect, kReserved, 0, false);
            break;
        }
        if (rd <= 4 || rd >= 16)
            held_ = rd <= 4;
        if (rd == 4)
            swap_ = thread_->regs[rt];
        else
            outside.cop2_write(false, rd, thread_->regs[rt]);
        break;
    case 0x06:
        outside.cop2_write(true, rd, thread_->regs[rt]);
        break;
    case 0x08:
        if (rt > 1)
            trap(effect, kReserved, 0, false);
        else
            branch_on_room(outside.cop2_room(), rt == 1,
                           thread_->pc + 4 + (sign_extend(bits(instr, 15, 0), 16) << 2));
        break;
    default:
        trap(effect, kReserved, 0, false);
    }
}

void Golden::branch_on_room(Room room, bool wanted, uint32_t target)
{
    branch(room != Room::kUnknown && (room == Room::kYes) == wanted, target);
    if (room == Room::kUnknown)
        thread_->other_after_slot = target;
}

} // namespace okosu
