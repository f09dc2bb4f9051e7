// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include "golden_bits.h"

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
        // Only what traps before it reaches memory goes before the interrupt of a bit in Cause.
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
        // What C leaves undefined is what an R3000 gives.
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

} // namespace okosu
