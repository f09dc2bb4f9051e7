// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include "elf.h"

#include <algorithm>

namespace okosu
{

namespace
{

// Registers that random instructions never write: two that point into the data, a jump's target, and
// the trap handler's.
constexpr unsigned kTarget = 27, kLow = 28, kMiddle = 29, kCauseIn = 30, kPcIn = 31;
constexpr unsigned kFree = 27, kHandlerWord = 40, kStartWord = 64;
constexpr unsigned kSharedWords = 64;

enum Opcode : unsigned {
    kLoads = 0x03,
    kCustom0 = 0x0b,
    kFence = 0x0f,
    kImmediate = 0x13,
    kAuipc = 0x17,
    kStores = 0x23,
    kAmo = 0x2f,
    kRegisters = 0x33,
    kLui = 0x37,
    kBranch = 0x63,
    kJalr = 0x67,
    kJal = 0x6f,
    kSystem = 0x73,
};
enum : unsigned {
    kMstatus = 0x300,
    kMie = 0x304,
    kMtvec = 0x305,
    kMscratch = 0x340,
    kMepc = 0x341
};
constexpr uint32_t kMret = 0x30200073;

class Writer
{
  public:
    Writer(uint64_t seed, unsigned words, unsigned data_words)
        : random_(seed), words_(words), data_words_(data_words)
    {
    }

    RandomProgram program()
    {
        RandomProgram made;

        emit(jal(0, 4 * kStartWord));
        pad(kHandlerWord);
        handler();
        pad(kStartWord);
        // The mode of mtvec stays direct, whatever is written.
        load_constant(kCauseIn, kTextBase + 4 * kHandlerWord + below(4));
        emit(csr(1, 0, kCauseIn, kMtvec));
        load_constant(kCauseIn, 0xfff);
        emit(csr(1, 0, kCauseIn, kMie));
        emit(csr(6, 0, 8, kMstatus));
        load_constant(kLow, kDataBase);
        load_constant(kMiddle, kDataBase + 0x8000);
        // Stack slots of four kilobytes over all of the data, whose guard the program turns on and
        // off.
        load_constant(kTarget, kDataBase + 4 * data_words_);
        emit(ssh(2, 0, kTarget, 0));
        emit(i(kImmediate, 0, kTarget, 0, 12));
        emit(ssh(2, 0, kTarget, 1));
        start_ = static_cast<unsigned>(text_.size());
        while (text_.size() < words_ - 8)
            one();
        load_constant(kTarget, kTextBase + 4 * start_);
        emit(i(kJalr, 0, 0, kTarget, 0));
        pad(words_);
        made.text = text_;
        made.data.resize(data_words_);
        for (uint32_t &word : made.data)
            word = below(4) ? static_cast<uint32_t>(random_()) : special_value();
        return made;
    }

  private:
    unsigned below(unsigned n)
    {
        return static_cast<unsigned>(random_() % n);
    }
    void emit(uint32_t word)
    {
        text_.push_back(word);
    }
    void pad(unsigned words)
    {
        while (text_.size() < words)
            emit(i(kImmediate, 0, 0, 0, 0));
    }
    static uint32_t r(unsigned op, unsigned funct3, unsigned rd, unsigned rs1, unsigned rs2,
                      unsigned funct7)
    {
        return funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | op;
    }
    static uint32_t i(unsigned op, unsigned funct3, unsigned rd, unsigned rs1, uint32_t imm)
    {
        return (imm & 0xfff) << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | op;
    }
    static uint32_t s(unsigned funct3, unsigned rs1, unsigned rs2, uint32_t imm)
    {
        return r(kStores, funct3, imm & 31, rs1, rs2, imm >> 5 & 0x7f);
    }
    static uint32_t b(unsigned funct3, unsigned rs1, unsigned rs2, uint32_t offset)
    {
        return r(kBranch, funct3, (offset & 0x1e) | (offset >> 11 & 1), rs1, rs2,
                 (offset >> 12 & 1) << 6 | (offset >> 5 & 0x3f));
    }
    static uint32_t jal(unsigned rd, uint32_t offset)
    {
        return (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3ff) << 21 | (offset >> 11 & 1) << 20 |
               (offset >> 12 & 0xff) << 12 | rd << 7 | kJal;
    }
    static uint32_t csr(unsigned funct3, unsigned rd, unsigned rs1, unsigned number)
    {
        return i(kSystem, funct3, rd, rs1, number);
    }
    static uint32_t ssh(unsigned funct3, unsigned rd, unsigned rs1, unsigned number)
    {
        return r(kCustom0, funct3, rd, rs1, 0, number);
    }

    uint32_t special_value()
    {
        static const uint32_t values[] = {0,          1,     0xffffffff, 0x80000000,
                                          0x7fffffff, 0x800, 0xfffff800, 2};

        return values[below(8)];
    }

    // Two instructions.
    void load_constant(unsigned reg, uint32_t value)
    {
        emit(((value + 0x800) & 0xfffff000) | reg << 7 | kLui);
        emit(i(kImmediate, 0, reg, reg, value));
    }

    // Goes on behind the instruction that trapped, at the one that was interrupted, or begins anew
    // after a jump to nowhere.
    void handler()
    {
        constexpr unsigned kMcause = 0x342, kMtval = 0x343;

        emit(csr(2, kPcIn, 0, kMtval));
        emit(csr(2, kPcIn, 0, kMepc));
        emit(csr(2, kCauseIn, 0, kMcause));
        emit(b(4, kCauseIn, 0, 4 * 7));
        emit(i(kImmediate, 0, kCauseIn, kCauseIn, -1));
        emit(b(1, kCauseIn, 0, 4 * 3));
        load_constant(kPcIn, kTextBase + 4 * kStartWord - 4);
        emit(i(kImmediate, 0, kPcIn, kPcIn, 4));
        emit(csr(1, 0, kPcIn, kMepc));
        emit(kMret);
    }

    unsigned source()
    {
        // Now and then one of the registers that hold addresses, else one of the few in use.
        return below(16) ? few_[below(6)] : below(32);
    }
    unsigned destination()
    {
        return below(16) ? few_[below(6)] : below(kFree);
    }
    // A constant as long as its field is wide, often a special one.
    uint32_t constant()
    {
        return below(4) ? below(4096) : special_value();
    }

    void one()
    {
        if (!below(40)) {
            for (unsigned &reg : few_)
                reg = 1 + below(kFree - 1);
        }
        if (text_.size() < words_ - 24) {
            const unsigned which = below(60);

            if (which < 10)
                return control();
            if (which < 14)
                return dependence();
            if (which < 15)
                return behind_store();
            if (which < 18)
                return conditionally();
        }
        emit(plain());
    }

    uint32_t plain()
    {
        switch (below(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return operation(below(8));
        case 4:
        case 5:
        case 6:
        case 7:
            return r(kRegisters, below(8), destination(), source(), source(), funct7());
        case 8:
            return r(kRegisters, below(4), destination(), source(), source(), 1);
        case 9:
            return r(kRegisters, below(4) ? below(4) : 4 + below(4), destination(), source(),
                     source(), 1);
        case 10:
        case 11:
        case 12:
            return load();
        case 13:
        case 14:
        case 15:
            return store();
        case 16:
            return below(2) ? static_cast<uint32_t>(random_() & 0xfffff000) | destination() << 7 |
                                  (below(2) ? kLui : kAuipc)
                            : cop2();
        case 17:
            return atomic(below(2) ? kLow : kMiddle);
        case 18:
            return below(3) ? plain_csr() : trapping();
        default:
            return i(kImmediate, 0, destination(), source(), constant());
        }
    }

    // Register 0's operations of 0x20 are only two; the others are none.
    unsigned funct7()
    {
        return below(6) ? 0 : 0x20;
    }

    uint32_t operation(unsigned funct3)
    {
        const bool shifts = funct3 == 1 || funct3 == 5;
        const uint32_t imm =
            shifts ? below(32) | (funct3 == 5 && below(2) ? 0x400 : 0) : constant();

        return i(kImmediate, funct3, destination(), source(), imm);
    }

    unsigned address_base(unsigned &imm, unsigned align)
    {
        imm = below(0x800) & ~(align - 1);
        // An address that is misaligned or in no memory, as of a wrong pointer.
        if (!below(48))
            imm |= below(4);
        if (!below(64))
            return source();
        if (below(2))
            imm &= 0xff;
        return below(2) ? kLow : kMiddle;
    }

    uint32_t load()
    {
        static const unsigned functs[] = {0, 1, 2, 2, 4, 5}, align[] = {1, 2, 4, 4, 1, 2};
        unsigned which = below(6), imm = 0;
        const unsigned base = address_base(imm, align[which]);

        return i(kLoads, functs[which], destination(), base, imm);
    }

    uint32_t store()
    {
        static const unsigned functs[] = {0, 1, 2, 2}, align[] = {1, 2, 4, 4};
        unsigned which = below(4), imm = 0;
        const unsigned base = address_base(imm, align[which]);

        return s(functs[which], base, source(), imm);
    }

    uint32_t atomic(unsigned base)
    {
        static const unsigned functs[] = {0x00, 0x01, 0x04, 0x08, 0x0c, 0x10,
                                          0x14, 0x18, 0x1c, 0x02, 0x03};
        const unsigned funct5 = functs[below(11)];

        return r(kAmo, 2, destination(), base, funct5 == 2 ? 0 : source(), funct5 << 2 | below(4));
    }

    // Operands, results, settings and commands of SSH-s. Settings 0 and 1 say where stacks are.
    uint32_t cop2()
    {
        switch (below(8)) {
        case 0:
        case 1:
            return ssh(0, 0, source(), below(4));
        case 2:
            return ssh(0, 0, source(), 16 + below(16));
        case 3:
            return ssh(2, 0, source(), below(2) ? 6 : 2 + below(30));
        case 4:
            return ssh(0, 0, source(), below(16));
        default:
            return ssh(1, destination(), 0, below(32));
        }
    }

    uint32_t plain_csr()
    {
        static const unsigned readable[] = {kMstatus, 0x301, kMie,  kMtvec, 0x310, kMscratch,
                                            kMepc,    0x342, 0x343, 0x344,  0xb00, 0xb02,
                                            0xb80,    0xb82, 0xf11, 0xf12,  0xf13, 0xf14};
        static const unsigned writable[] = {kMscratch, kMepc, 0x342, 0x343, 0xb00,
                                            0xb02,     0xb80, 0xb82, 0x344, 0x301};
        static const unsigned kinds[] = {1, 2, 3, 5, 6, 7};

        switch (below(6)) {
        case 0:
            return csr(kinds[below(6)], destination(), source(), writable[below(10)]);
        case 1:
            return csr(kinds[below(6)], destination(), below(32), writable[below(10)]);
        case 2:
            // Interrupts off, and soon on again.
            return csr(5 + below(3), destination(), below(32) | (below(4) ? 8 : 0), kMstatus);
        default:
            return csr(below(2) ? 2 : 3, destination(), 0, readable[below(18)]);
        }
    }

    // What traps, encodings beside those of this core, and what does nothing.
    uint32_t trapping()
    {
        switch (below(14)) {
        case 0:
            return 0x00000073;
        case 1:
            return 0x00100073;
        case 2:
            return static_cast<uint32_t>(random_());
        case 3:
            return r(kRegisters, below(8), destination(), source(), source(), below(128));
        case 4:
            return i(kImmediate, below(2) ? 1 : 5, destination(), source(), below(4096));
        case 5:
            return i(kLoads, below(2) ? 3 : 6 + below(2), destination(), kLow, 0);
        case 6:
            return s(3 + below(5), kLow, source(), 0);
        case 7:
            return b(2 + below(2), source(), source(), 8);
        case 8:
            return i(kJalr, 1 + below(7), destination(), source(), 0);
        case 9:
            return r(kAmo, below(2) ? 2 : below(8), destination(), kLow, source(), below(128));
        case 10:
            return strange_request();
        case 11:
            // A CSR that there is not, or one that cannot be written.
            return csr(1 + below(7), destination(), below(2) ? 0 : source(),
                       below(2) ? below(4096) : 0xf11 + below(5));
        case 12:
            return below(4) ? 0x10500073 : kMret;
        default:
            return i(kFence, below(4) ? below(2) : below(8), destination(), source(), below(4096));
        }
    }

    // A request of SSH-s with one field that is not as it must be.
    uint32_t strange_request()
    {
        const unsigned funct3 = below(3), number = below(32), other = 1 + below(31);
        const unsigned rd = funct3 == 1 ? destination() : 0, rs1 = funct3 == 1 ? 0 : source();

        switch (below(5)) {
        case 0:
            return r(kCustom0, 3 + below(5), rd, rs1, 0, number);
        case 1:
            return r(kCustom0, funct3, rd, rs1, 0, 32 + below(96));
        case 2:
            return r(kCustom0, funct3, rd, rs1, other, number);
        case 3:
            return r(kCustom0, funct3, funct3 == 1 ? rd : other, funct3 == 1 ? other : rs1, 0,
                     number);
        default:
            return r(kCustom0, below(2), rd, rs1, 0, 4);
        }
    }

    // An instruction that writes a register, and 1 to 3 later one that needs it: every kind of
    // result for every use.
    void dependence()
    {
        constexpr unsigned kWord = 0x700;
        const unsigned kind = below(9), between = below(3), reg = few_[below(6)];
        unsigned use = below(12);

        // No address can be made of what SSH-s says or of a condition; and no branch may land between
        // the instructions that make up a jump's target.
        if ((use == 5 || use == 6) && (kind == 5 || kind == 7 || text_.size() < farthest_))
            use = 0;
        const bool as_address = use == 5, as_target = use == 6;
        // A value that is used as an address has to be a valid one.
        const unsigned from = as_address ? kLow : as_target ? kTarget : source();

        if (as_target) {
            load_constant(kTarget, kTextBase + 4 * (static_cast<uint32_t>(text_.size()) + 14));
            farthest_ = std::max(farthest_, static_cast<unsigned>(text_.size()) + 13);
        }
        switch (kind) {
        case 0:
            emit(i(kImmediate, 0, reg, from, as_target ? 0 : 4 * below(64)));
            break;
        case 1:
            // A jump there leads behind the jump.
            emit(jal(reg, as_target ? 8 : 4));
            if (as_target)
                emit(jal(0, 4 * (between + 2)));
            break;
        case 2:
            emit(i(kImmediate, 0, kTarget - 1, 0, 1));
            emit(r(kRegisters, 0, reg, from, kTarget - 1, 1));
            break;
        case 3:
            emit(i(kImmediate, 0, kTarget - 1, 0, 1));
            emit(r(kRegisters, 5, reg, from, kTarget - 1, 1));
            break;
        case 4:
            emit(csr(1, 0, from, kMscratch));
            emit(csr(2, reg, 0, kMscratch));
            break;
        case 5:
            emit(ssh(1, reg, 0, 5 + below(10)));
            break;
        case 6:
            emit(s(2, kMiddle, from, kWord));
            emit(i(kLoads, 2, reg, kMiddle, kWord));
            break;
        case 7:
            emit(r(kAmo, 2, reg, kMiddle, from, 3 << 2));
            break;
        default:
            emit(s(2, kMiddle, from, 0));
            emit(r(kAmo, 2, reg, kMiddle, 0, 8 << 2));
        }
        for (unsigned n = 0; n < between; n++)
            emit(i(kImmediate, 0, other_than(reg), source(), constant()));
        emit(user(use, reg, below(2) ? from : few_[below(6)]));
        if (as_target)
            pad(farthest_ + 1);
    }

    unsigned other_than(unsigned reg)
    {
        const unsigned chosen = destination();

        return chosen == reg ? (reg + 1) % kFree : chosen;
    }

    // An instruction that uses `reg` in one of its places; a condition compares it with `other`.
    uint32_t user(unsigned use, unsigned reg, unsigned other)
    {
        static const unsigned tests[] = {0, 1, 4, 5, 6, 7};

        switch (use) {
        case 0:
            return r(kRegisters, 0, destination(), reg, few_[below(6)], 0);
        case 1:
            return r(kRegisters, 0, destination(), few_[below(6)], reg, 0x20);
        case 2:
            return r(kRegisters, below(2) ? 1 : 5, destination(), few_[below(6)], reg, 0);
        case 3:
            return b(tests[below(6)], reg, other, 8);
        case 4:
            return b(tests[below(6)], other, reg, 8);
        case 5:
            return below(2) ? i(kLoads, 2, few_[below(6)], reg, 0) : s(2, reg, few_[below(6)], 0);
        case 6:
            return i(kJalr, 0, destination(), reg, 0);
        case 7:
            return below(2) ? s(2, kLow, reg, 4 * below(64)) : r(kAmo, 2, 0, kLow, reg, 4);
        case 8:
            return r(kRegisters, below(8), destination(), reg, few_[below(6)], 1);
        case 9:
            return r(kRegisters, below(8), destination(), few_[below(6)], reg, 1);
        case 10:
            return csr(1 + below(3), destination(), reg, kMscratch);
        default:
            return ssh(0, 0, reg, below(4));
        }
    }

    // A store, and at once something that must not pass it.
    void behind_store()
    {
        const unsigned at = 4 * below(64);

        emit(s(2, kLow, source(), at));
        switch (below(4)) {
        case 0:
            text_.pop_back();
            emit(s(2, kLow, source(), 0));
            return emit(atomic(kLow));
        case 1:
            return emit(ssh(0, 0, source(), 16 + below(16)));
        default:
            return emit(i(kLoads, 2, destination(), kLow, at));
        }
    }

    // A word is reserved and stored to if nobody else has stored there meanwhile, which happens.
    void conditionally()
    {
        const unsigned at = few_[0], between = below(4);

        emit(i(kImmediate, 0, at, kLow, 4 * below(kSharedWords)));
        emit(r(kAmo, 2, other_than(at), at, 0, 2 << 2));
        for (unsigned n = 0; n < between; n++)
            emit(below(8) ? r(kRegisters, below(8), other_than(at), source(), source(), below(2))
                          : plain());
        if (!below(6))
            emit(s(2, at, source(), 0));
        emit(r(kAmo, 2, destination(), at, source(), 3 << 2));
    }

    void control()
    {
        unsigned distance = 1 + below(6), at = static_cast<unsigned>(text_.size());
        // No branch may land between the instructions that make up a jump's target.
        const unsigned kind = below(at < farthest_ ? 9 : 11);
        // Now and then half an instruction too far.
        const uint32_t offset = 4 * distance + (below(40) ? 0 : 2);

        if (kind < 7) {
            emit(conditional(offset));
        } else if (kind < 9) {
            emit(jal(kind == 8 ? destination() : 0, offset));
        } else {
            const uint32_t imm = below(2) ? 0 : below(4096);
            const unsigned between = below(3);
            const uint32_t to =
                kTextBase + 4 * (at + 3 + between + distance) + (below(24) ? 0 : below(4));

            load_constant(kTarget, (below(24) ? to : nowhere()) - ((imm ^ 0x800) - 0x800));
            for (unsigned n = 0; n < between; n++)
                emit(i(kLoads, 2, few_[below(6)], kLow, 4 * below(64)));
            emit(i(kJalr, 0, kind == 9 ? 0 : destination(), below(64) ? kTarget : source(), imm));
            at += 2 + between;
        }
        farthest_ = std::max(farthest_, at + 2 + distance);
    }

    // An address that holds no instruction.
    uint32_t nowhere()
    {
        return below(2) ? special_value() : kTextBase + 0x10000 + below(64);
    }

    uint32_t conditional(uint32_t offset)
    {
        static const unsigned tests[] = {0, 1, 4, 5, 6, 7};

        return b(tests[below(6)], source(), source(), offset);
    }

    std::mt19937_64 random_;
    unsigned words_, data_words_, start_ = 0, farthest_ = 0;
    std::vector<uint32_t> text_;
    unsigned few_[6] = {2, 3, 4, 5, 6, 7};
};

} // namespace

RandomProgram random_program(uint64_t seed, unsigned words, unsigned data_words)
{
    return Writer(seed, words, data_words).program();
}

} // namespace okosu
