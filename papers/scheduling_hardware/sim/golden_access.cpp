// SPDX-License-Identifier: Apache-2.0
// The golden simulator's loads, stores, exchange and coprocessors.
#include "golden.h"

#include "golden_bits.h"

namespace okosu
{

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
    // Size 2 is half of an unaligned access, but in the exchange, which moves a word.
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
