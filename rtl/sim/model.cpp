// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include "Vmachine.h"
#include "verilated.h"
#include "verilated_syms.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

#include <cstring>
#include <type_traits>

namespace okosu
{

namespace
{

// The bits of retire_t, from its end; see rtl/pkg/okosu_pkg.sv.
enum : unsigned {
    kAddressAt = 36,
    kCauseAt = 70,
    kTrapAt = 75,
    kInstructionAt = 114,
    kPcAt = 146,
    kThreadAt = 178,
    kValidAt = 186,
    kRetireBits = 187,
};
constexpr unsigned kCountBits = 48;

// Bits of a port, which is a number or an array of words as its width demands. At most 57.
template <typename Port> uint64_t bits(const Port &port, unsigned low, unsigned width)
{
    const uint64_t mask = (uint64_t{1} << width) - 1;

    if constexpr (std::is_integral_v<Port>) {
        return port >> low & mask;
    } else {
        const unsigned word = low / 32, shift = low % 32;
        uint64_t found = port[word] >> shift;

        for (unsigned have = 32 - shift, next = word + 1; have < width; have += 32, next++)
            found |= uint64_t{port[next]} << have;
        return found & mask;
    }
}

uint32_t *memory(const VerilatedContext &context, const std::string &place)
{
    const VerilatedScope *scope = context.scopeFind(("TOP.machine." + place).c_str());

    return static_cast<uint32_t *>(scope->varFind("mem_q")->datap());
}

} // namespace

struct Model::Inside {
    VerilatedContext context;
    std::unique_ptr<Vmachine> top;
    const uint32_t *shared = nullptr;
#if VM_TRACE_FST
    VerilatedFstC waves;
#endif

    void edge(bool up)
    {
        top->clk_i = up;
        top->eval();
#if VM_TRACE_FST
        if (waves.isOpen()) {
            waves.dump(context.time());
            context.timeInc(1);
        }
#endif
    }
};

Model::Model(bool random, unsigned seed, [[maybe_unused]] const std::string &fst)
    : inside_(std::make_unique<Inside>())
{
    VerilatedContext &context = inside_->context;

    context.randReset(random ? 2 : 0);
    context.randSeed(static_cast<int>(seed));
    context.fatalOnError(false);
#if VM_TRACE_FST
    context.traceEverOn(true);
#endif
    inside_->top = std::make_unique<Vmachine>(&context);
    inside_->shared = memory(context, "u_memory");
#if VM_TRACE_FST
    if (!fst.empty()) {
        inside_->top->trace(&inside_->waves, 99);
        inside_->waves.open(fst.c_str());
    }
#endif
}

Model::~Model()
{
#if VM_TRACE_FST
    inside_->waves.close();
#endif
    inside_->top->final();
}

unsigned Model::pes()
{
    return OKOSU_PES;
}

uint32_t Model::text_bytes()
{
    return OKOSU_IMEM_WORDS * 4;
}

uint32_t Model::data_bytes()
{
    return OKOSU_DMEM_WORDS * 4;
}

void Model::start(const Program &program)
{
    Vmachine &top = *inside_->top;

    for (unsigned s = 1; s < kSectionsN; s++) {
        const std::string name = std::string("__text_") + kSectionSymbols[s];

        top.section_start_i[s - 1] = program.symbol(name + "_start").value_or(0);
        top.section_end_i[s - 1] = program.symbol(name + "_end").value_or(0);
    }
    for (const Segment &segment : program.segments) {
        auto fill = [&](const std::string &place, uint32_t base) {
            auto *bytes = reinterpret_cast<uint8_t *>(memory(inside_->context, place));

            std::memcpy(bytes + (segment.address - base), segment.bytes.data(),
                        segment.bytes.size());
        };

        if (segment.address >= kDataBase)
            fill("u_memory", kDataBase);
        for (unsigned pe = 0; segment.address < kDataBase && pe < pes(); pe++)
            fill("gen_pe[" + std::to_string(pe) + "].u_pe.u_imem", kTextBase);
    }
    top.rst_ni = 0;
    step();
    step();
    top.rst_ni = 1;
}

void Model::step()
{
    inside_->edge(false);
    inside_->edge(true);
}

bool Model::prints(unsigned &stream, char &byte) const
{
    stream = inside_->top->stream_o;
    byte = static_cast<char>(inside_->top->char_o);
    return inside_->top->print_o;
}

bool Model::ends(uint32_t &status) const
{
    status = inside_->top->status_o;
    return inside_->top->exit_o;
}

bool Model::message(Message &out) const
{
    const uint64_t said = inside_->top->sched_msg_o;

    if (!inside_->top->sched_valid_o)
        return false;
    out.from_master = inside_->top->sched_from_master_o;
    out.op = said >> 58;
    out.pe = said >> 52 & 63;
    out.tid = said >> 44 & 255;
    out.aux = said >> 32 & 0xfff;
    out.data = static_cast<uint32_t>(said);
    return true;
}

bool Model::retires(unsigned pe, Retired &out) const
{
    const auto &port = inside_->top->retire_o;
    const unsigned base = pe * kRetireBits;

    if (!bits(port, base + kValidAt, 1))
        return false;
    out.thread = bits(port, base + kThreadAt, 8);
    out.pc = bits(port, base + kPcAt, 32);
    out.instruction = bits(port, base + kInstructionAt, 32);
    out.traps = bits(port, base + kTrapAt, 1);
    out.cause = bits(port, base + kCauseAt, 5);
    out.address = bits(port, base + kAddressAt, 32);
    return true;
}

bool Model::memory_busy() const
{
    return inside_->top->mem_active_o;
}

uint32_t Model::word(uint32_t address) const
{
    return inside_->shared[(address - kDataBase) / 4];
}

uint64_t Model::running() const
{
    return inside_->top->running_o;
}

unsigned Model::thread(unsigned pe) const
{
    return bits(inside_->top->tid_o, 8 * pe, 8);
}

uint64_t Model::count(unsigned pe, unsigned number) const
{
    return bits(inside_->top->count_o, ((3 * kSectionsN + 1) * pe + number) * kCountBits,
                kCountBits);
}

bool Model::broken() const
{
    return inside_->context.gotError();
}

} // namespace okosu
