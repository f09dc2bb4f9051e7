// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include "golden.h"

#include <algorithm>

namespace okosu
{

namespace
{

// Registers that random instructions never write: the trap handler's, and two that point into the
// data.
constexpr unsigned kK0 = 26, kK1 = 27, kLow = 28, kMiddle = 29, kTarget = 30;
constexpr unsigned kHandlerWords = 32;

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

        // Few registers in one stretch of the program, so that instructions depend on each other.
        emit(jump(kTextBase + 4 * 64));
        emit(0);
        while (text_.size() < kHandlerWords)
            emit(0);
        handler();
        while (text_.size() < 64)
            emit(0);
        load_address(kLow, kDataBase);
        load_address(kMiddle, kDataBase + 0x8000);
        start_ = static_cast<unsigned>(text_.size());
        while (text_.size() < words_ - 8)
            one();
        emit(jump(kTextBase + 4 * start_));
        emit(0);
        while (text_.size() < words_)
            emit(0);
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
    static uint32_t r(unsigned funct, unsigned rs, unsigned rt, unsigned rd, unsigned shift = 0)
    {
        return rs << 21 | rt << 16 | rd << 11 | shift << 6 | funct;
    }
    static uint32_t i(unsigned op, unsigned rs, unsigned rt, uint32_t imm)
    {
        return op << 26 | rs << 21 | rt << 16 | (imm & 0xffff);
    }
    static uint32_t jump(uint32_t to, bool link = false)
    {
        return (link ? 3u : 2u) << 26 | (to >> 2 & 0x03ffffff);
    }

    uint32_t special_value()
    {
        static const uint32_t values[] = {0,          1,      0xffffffff, 0x80000000,
                                          0x7fffffff, 0x8000, 0xffff8000, 2};

        return values[below(8)];
    }

    void load_address(unsigned reg, uint32_t value)
    {
        emit(i(0x0f, 0, reg, value >> 16));
        emit(i(0x0d, reg, reg, value));
    }

    // Skips the instruction that trapped (of one in a delay slot, its branch), or begins anew after
    // a jump to nowhere.
    void handler()
    {
        emit(0x40000000 | kK0 << 16 | 14 << 11);
        emit(0x40000000 | kK1 << 16 | 13 << 11);
        emit(0x40000000 | kK1 << 16 | 8 << 11);
        emit(r(0x02, 0, kK0, kK1, 16));
        emit(i(0x0e, kK1, kK1, kTextBase >> 16));
        emit(i(0x05, kK1, 0, 6));
        emit(r(0x02, 0, kK0, kK0, 2));
        emit(r(0x00, 0, kK0, kK0, 2));
        emit(i(0x09, kK0, kK0, 4));
        emit(r(0x08, kK0, 0, 0));
        emit(0x42000010);
        emit(0);
        emit(jump(kTextBase + 4 * 64));
        emit(0x42000010);
    }

    unsigned source()
    {
        // Now and then one of the registers that hold addresses, else one of the few in use.
        return below(16) ? few_[below(6)] : below(32);
    }

    unsigned destination()
    {
        unsigned reg = below(16) ? few_[below(6)] : below(26);

        return reg;
    }

    void one()
    {
        if (!below(40)) {
            for (unsigned &reg : few_)
                reg = below(26);
        }
        if (text_.size() < words_ - 24 && !below(6)) {
            control();
            return;
        }
        emit(plain());
    }

    uint32_t plain()
    {
        static const unsigned immediate[] = {0x08, 0x09, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
        static const unsigned three[] = {0x04, 0x06, 0x07, 0x20, 0x21, 0x21, 0x22,
                                         0x23, 0x24, 0x25, 0x26, 0x27, 0x2a, 0x2b};

        switch (below(20)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return i(immediate[below(9)], source(), destination(),
                     below(4) ? below(65536) : special_value());
        case 4:
        case 5:
        case 6:
        case 7:
            return r(three[below(14)], source(), source(), destination());
        case 8: {
            static const unsigned shifts[] = {0x00, 0x02, 0x03};

            return r(shifts[below(3)], 0, source(), destination(), below(32));
        }
        case 9:
            return r(0x18 + below(4), source(), source(), 0);
        case 10:
            return r(below(2) ? 0x10 : 0x12, 0, 0, destination());
        case 11:
            return r(below(2) ? 0x11 : 0x13, source(), 0, 0);
        case 12:
        case 13:
        case 14:
            return load();
        case 15:
        case 16:
            return store();
        case 17:
            return exchange_part();
        case 18:
            return below(4) ? plain_cp0() : trapping();
        default:
            return i(0x09, source(), destination(), below(65536));
        }
    }

    uint32_t address_base(unsigned &imm, unsigned align)
    {
        imm = below(0x8000) & ~(align - 1);
        // An address that is misaligned, or nowhere: what a wrong pointer does.
        if (!below(64))
            imm |= below(4);
        if (!below(64))
            return source();
        return below(2) ? kLow : kMiddle;
    }

    uint32_t load()
    {
        static const unsigned ops[] = {0x20, 0x24, 0x21, 0x25, 0x23, 0x23, 0x22, 0x26};
        static const unsigned align[] = {1, 1, 2, 2, 4, 4, 1, 1};
        unsigned which = below(8), imm, base = address_base(imm, align[which]);

        return i(ops[which], base, destination(), imm & 0x7fff & ~(below(2) ? 0u : 0x7f00u));
    }

    uint32_t store()
    {
        static const unsigned ops[] = {0x28, 0x29, 0x2b, 0x2b, 0x2a, 0x2e};
        static const unsigned align[] = {1, 2, 4, 4, 1, 1};
        unsigned which = below(6), imm, base = address_base(imm, align[which]);

        // Often the same few words, so that loads meet what was just stored.
        return i(ops[which], base, source(), imm & 0x7fff & ~(below(2) ? 0u : 0x7f00u));
    }

    uint32_t exchange_part()
    {
        unsigned imm, base;

        switch (below(3)) {
        case 0:
            return 0x48800000 | source() << 16 | 4 << 11;
        case 1:
            base = address_base(imm, 4);
            return i(0x32, base, 4, imm & 0x7fff);
        default:
            return 0x48000000 | destination() << 16 | 4 << 11;
        }
    }

    uint32_t plain_cp0()
    {
        static const unsigned regs[] = {8, 12, 13, 14, 15};

        if (!below(6))
            return 0x40800000 | source() << 16 | 14 << 11;
        return 0x40000000 | destination() << 16 | regs[below(5)] << 11;
    }

    uint32_t trapping()
    {
        switch (below(5)) {
        case 0:
            return 0x0c;
        case 1:
            return 0x0d;
        case 2:
            // Reserved: the major opcodes that MIPS I has not.
            return 0x1cu << 26 | below(1u << 26);
        case 3:
            return 0x46000000;
        default:
            return r(0x20, source(), source(), destination());
        }
    }

    void control()
    {
        unsigned distance = 1 + below(6), at = static_cast<unsigned>(text_.size());
        // No branch may land between the instructions that make up a jump's target.
        unsigned kind = below(at < farthest_ ? 8 : 10);
        uint32_t here = kTextBase + 4 * at;

        if (kind < 6) {
            static const unsigned ops[] = {0x04, 0x05, 0x06, 0x07};

            if (kind < 4)
                emit(i(ops[kind], source(), kind < 2 ? source() : 0, distance));
            else
                emit(i(0x01, source(), below(2) | (below(2) << 4), distance));
        } else if (kind < 8) {
            emit(jump(here + 4 * (1 + distance), kind == 7));
        } else {
            load_address(kTarget, below(64) ? here + 4 * (3 + distance) + (below(32) ? 0 : below(4))
                                            : special_value());
            emit(r(kind == 8 ? 0x08 : 0x09, kTarget, 0, kind == 8 ? 0 : 1 + below(25)));
        }
        farthest_ = std::max(farthest_, at + 3 + distance);
        // The delay slot: anything but a branch.
        emit(plain());
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
