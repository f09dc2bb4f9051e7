// SPDX-License-Identifier: Apache-2.0
#include "random_program.h"

#include "elf.h"

#include <algorithm>

namespace okosu
{

namespace
{

// Registers that random instructions never write: the trap handler's, and two that point into the
// data.
constexpr unsigned kK0 = 26, kK1 = 27, kLow = 28, kMiddle = 29, kTarget = 30;
constexpr unsigned kHandlerWords = 32;
constexpr uint32_t kRfe = 0x42000010;

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
        // Stack slots of four kilobytes over all of the data, whose guard the program turns on and
        // off.
        load_address(kTarget, kDataBase + 4 * data_words_);
        emit(to_cop2(true, kTarget, 0));
        emit(i(0x09, 0, kTarget, 12));
        emit(to_cop2(true, kTarget, 1));
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

    static uint32_t from_cop(unsigned cop, unsigned rt, unsigned reg)
    {
        return (0x10 | cop) << 26 | rt << 16 | reg << 11;
    }
    static uint32_t to_cop0(unsigned rt, unsigned reg)
    {
        return 0x40800000 | rt << 16 | reg << 11;
    }
    static uint32_t to_cop2(bool control, unsigned rt, unsigned reg)
    {
        return (control ? 0x48c00000 : 0x48800000) | rt << 16 | reg << 11;
    }

    // Goes on behind the instruction that trapped (of one in a delay slot, behind its branch), at
    // the one that was interrupted, or begins anew after a jump to nowhere.
    void handler()
    {
        constexpr unsigned kEpc = 14, kCause = 13, kBad = 8, kCodes = 0x7c;

        emit(from_cop(0, kK1, kBad));
        emit(from_cop(0, kK0, kEpc));
        emit(r(0x02, 0, kK0, kK1, 16));
        emit(i(0x0e, kK1, kK1, kTextBase >> 16));
        emit(i(0x05, kK1, 0, 10));
        emit(from_cop(0, kK1, kCause));
        emit(to_cop0(0, kCause));
        emit(i(0x0c, kK1, kK1, kCodes));
        emit(r(0x02, 0, kK0, kK0, 2));
        emit(i(0x04, kK1, 0, 2));
        emit(r(0x00, 0, kK0, kK0, 2));
        emit(i(0x09, kK0, kK0, 4));
        emit(r(0x08, kK0, 0, 0));
        emit(kRfe);
        emit(0);
        emit(jump(kTextBase + 4 * 64));
        emit(kRfe);
    }

    unsigned source()
    {
        // Now and then one of the registers that hold addresses, else one of the few in use.
        return below(16) ? few_[below(6)] : below(32);
    }

    unsigned destination()
    {
        return below(16) ? few_[below(6)] : below(26);
    }

    // Any that random instructions write; 31 is what calls write.
    unsigned few_candidate()
    {
        unsigned reg = below(28);

        return reg < 26 ? reg : 31;
    }

    void one()
    {
        if (!below(40)) {
            for (unsigned &reg : few_)
                reg = few_candidate();
        }
        if (text_.size() < words_ - 24) {
            const unsigned which = below(60);

            if (which < 10)
                return control();
            if (which < 13)
                return dependence();
            if (which < 14)
                return behind_store();
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

            // An instruction without that register ignores the field.
            return r(shifts[below(3)], source(), source(), destination(), below(32));
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
            return below(2) ? exchange_part() : cop2();
        case 18:
            return below(4) ? plain_cp0() : trapping();
        default:
            return i(0x09, source(), destination(), below(65536));
        }
    }

    uint32_t address_base(unsigned &imm, unsigned align)
    {
        imm = below(0x8000) & ~(align - 1);
        // An address that is misaligned or in no memory, as of a wrong pointer.
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

        // Often the same few words are used, so that loads follow stores to the same word.
        return i(ops[which], base, source(), imm & 0x7fff & ~(below(2) ? 0u : 0x7f00u));
    }

    uint32_t exchange_part()
    {
        unsigned imm, base;

        switch (below(3)) {
        case 0:
            return to_cop2(false, source(), 4);
        case 1:
            base = address_base(imm, 4);
            return i(0x32, base, 4, imm & 0x7fff);
        default:
            return from_cop(2, destination(), 4);
        }
    }

    // Operands, results, settings and commands of SSH-s. Settings 0 and 1 say where stacks are.
    uint32_t cop2()
    {
        unsigned setting = 2 + below(30);

        switch (below(8)) {
        case 0:
        case 1:
            return to_cop2(false, source(), below(4));
        case 2:
            return to_cop2(false, source(), 16 + below(16));
        case 3:
            return to_cop2(true, source(), below(2) ? 6 : setting);
        case 4:
            return to_cop2(false, source(), below(16));
        default:
            return from_cop(2, destination(), below(32));
        }
    }

    uint32_t plain_cp0()
    {
        static const unsigned readable[] = {8, 12, 13, 14, 15, 3};
        static const unsigned writable[] = {14, 13, 12, 12, 8};

        if (!below(3))
            return to_cop0(source(), writable[below(5)]);
        return from_cop(0, destination(), readable[below(6)]);
    }

    // What traps or must not stand in a delay slot, and encodings beside those of MIPS I.
    uint32_t trapping()
    {
        static const unsigned unused[] = {0x14, 0x18, 0x1c, 0x27, 0x2f, 0x30, 0x3f};

        switch (below(12)) {
        case 0:
            return 0x0c;
        case 1:
            return 0x0d;
        case 2:
            return unused[below(7)] << 26 | below(1u << 26);
        case 3:
            return 0x46000000 | below(1u << 21);
        case 4:
            return r(0x30 | below(16), source(), source(), destination());
        case 5:
            // Halves of a command of coprocessor 0 and of an exchange.
            return below(2) ? 0x42000000 | below(32) : i(0x32, kLow, below(32), 4);
        case 6:
            return i(0x06 | below(2), source(), 1 + below(31), 1);
        case 7:
            return i(0x01, source(), 2 + below(14), 1);
        case 8:
            return (0x10 | below(2) * 2) << 26 | below(32) << 21 | below(1u << 16);
        case 9:
            return (0x31 | below(2) * 2 | below(2) * 8) << 26 | below(1u << 26);
        default:
            return r(0x20, source(), source(), destination());
        }
    }

    // An instruction that writes a register, and 1 to 3 later one that needs it: every kind of
    // result for every use.
    void dependence()
    {
        constexpr unsigned kEpc = 14, kWord = 0x7f00;
        const unsigned kind = below(8), use = below(13) % 11, between = below(3);
        const unsigned reg = kind == 0 ? 31 : few_[below(6)];
        const bool as_address = use == 0;
        // A value that is used as an address has to be a valid one.
        const unsigned from = as_address ? kLow : source();

        switch (kind) {
        case 0:
            emit(jump(here(2), true));
            break;
        case 1:
            emit(i(0x09, from, reg, 4 * below(64)));
            break;
        case 2:
            emit(i(0x2b, kMiddle, from, kWord));
            emit(i(0x23, kMiddle, reg, kWord));
            break;
        case 3:
            emit(r(0x11, from, 0, 0));
            emit(r(0x10, 0, 0, reg));
            break;
        case 4:
            emit(r(0x13, from, 0, 0));
            emit(r(0x12, 0, 0, reg));
            break;
        case 5:
            emit(to_cop0(from, kEpc));
            emit(from_cop(0, reg, kEpc));
            break;
        case 6:
            emit(to_cop2(false, from, 4));
            emit(from_cop(2, reg, 4));
            break;
        default:
            emit(from_cop(2, reg, 5 + below(10)));
        }
        for (unsigned n = 0; n < between; n++)
            emit(i(0x09, source(), other_than(reg), below(65536)));
        // A late result equals the value in `from`, so that a comparison of the two is true.
        if (kind == 2 && !below(4)) {
            emit(i(0x23, kMiddle, 1, kWord));
            // The field of that register holds the branch's condition.
            emit(i(0x12, 8, below(2), 1));
        }
        emit(user(use, reg, below(2) ? from : few_[below(6)]));
    }

    unsigned other_than(unsigned reg)
    {
        const unsigned chosen = destination();

        return chosen == reg ? (reg + 1) % 26 : chosen;
    }

    // An instruction that uses `reg` in one of its places; a condition compares it with `other`.
    uint32_t user(unsigned use, unsigned reg, unsigned other)
    {
        static const unsigned tests[] = {0x04, 0x05, 0x06, 0x07};
        const unsigned test = below(4);

        switch (use) {
        case 0:
            return i(below(2) ? 0x23 : 0x2b, reg, few_[below(6)], 0);
        case 1:
            return r(0x21, reg, few_[below(6)], destination());
        case 2:
            return r(0x23, few_[below(6)], reg, destination());
        case 3:
            return i(tests[test], reg, test < 2 ? other : 0, 1);
        case 4:
            return i(tests[test % 2], other, reg, 1);
        case 5:
            return i(0x2b, kLow, reg, 4 * below(64));
        case 6:
            return r(0x18 + below(4), reg, few_[below(6)], 0);
        case 7:
            return r(0x18 + below(4), few_[below(6)], reg, 0);
        case 8:
            return i(below(2) ? 0x22 : 0x26, kLow, reg, below(256));
        case 9:
            return r(below(2) ? 0x04 : 0x07, reg, few_[below(6)], destination());
        default:
            return below(2) ? to_cop2(false, reg, below(4)) : to_cop0(reg, 14);
        }
    }

    // A store, and at once something that must not pass it.
    void behind_store()
    {
        const unsigned at = 4 * below(64);

        emit(i(0x2b, kLow, source(), at));
        switch (below(4)) {
        case 0:
            return emit(i(0x32, kLow, 4, at));
        case 1:
            return emit(to_cop2(false, source(), 16 + below(16)));
        default:
            return emit(i(0x23, kLow, destination(), at));
        }
    }

    void control()
    {
        unsigned distance = 1 + below(6), at = static_cast<unsigned>(text_.size());
        // No branch may land between the instructions that make up a jump's target.
        unsigned kind = below(at < farthest_ ? 9 : 11);

        if (kind < 9) {
            emit(kind < 7 ? conditional(distance) : jump(here(1 + distance), kind == 8));
        } else {
            unsigned between = below(3), beside = few_[below(6)];

            load_address(kTarget, below(24)
                                      ? here(3 + between + distance) + (below(32) ? 0 : below(4))
                                      : nowhere());
            // The field of a register that a jump does not have names one that was just loaded.
            for (unsigned n = 0; n < between; n++)
                emit(i(0x23, kLow, beside, 4 * below(64)));
            emit(r(kind == 9 ? 0x08 : 0x09, below(64) ? kTarget : source(), beside,
                   kind == 9 ? 0 : few_[below(6)]));
            at += 2 + between;
        }
        farthest_ = std::max(farthest_, at + 3 + distance);
        // The delay slot: now and then another branch, whose own slot is where the first one goes.
        emit(below(24) ? plain() : conditional(distance));
    }

    // An address that holds no instruction.
    uint32_t nowhere()
    {
        return below(2) ? special_value() : kTextBase + 0x10000 + below(64);
    }

    uint32_t here(unsigned further) const
    {
        return kTextBase + 4 * static_cast<uint32_t>(text_.size() + further);
    }

    uint32_t conditional(unsigned distance)
    {
        static const unsigned ops[] = {0x04, 0x05, 0x06, 0x07};
        unsigned kind = below(7);

        if (kind < 4)
            return i(ops[kind], source(), kind < 2 ? source() : 0, distance);
        if (kind < 6)
            return i(0x01, source(), below(2) | (below(2) << 4), distance);
        return i(0x12, 8, below(2), distance);
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
