// SPDX-License-Identifier: Apache-2.0
#include "model.h"

#include "Vmachine.h"
#include "verilated.h"
#include "verilated_syms.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

#if VM_COVERAGE
#include "verilated_cov.h"
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <vector>

// Verilator's own handler ends the process, and the measurement would be lost.
void vl_fatal(const char *file, int line, const char *, const char *what)
{
    std::fprintf(stderr, "%%Error: %s:%d: %s\n", file ? file : "", line, what);
    throw okosu::ModelError(what);
}

namespace okosu
{

namespace
{

// The bits of mem_snoop_t, from its end; see rtl/pkg/okosu_pkg.sv.
enum : unsigned {
    kSnoopDataAt = 4,
    kSnoopAddressAt = 36,
    kSnoopStoresAt = 68,
    kSnoopValidAt = 69,
};

// The signal `name` of the instance `place` of the RTL.
template <typename Word>
Word *array(const VerilatedContext &context, const std::string &place, const char *name)
{
    const VerilatedScope *scope = context.scopeFind(("TOP.machine." + place).c_str());

    return static_cast<Word *>(scope->varFind(name)->datap());
}

void place(const Segment &segment, uint32_t base, uint32_t *memory)
{
    std::memcpy(reinterpret_cast<uint8_t *>(memory) + (segment.address - base),
                segment.bytes.data(), segment.bytes.size());
}

std::string pe_name(unsigned pe)
{
    return "u_cluster.gen_pe[" + std::to_string(pe) + "].u_pe.";
}

} // namespace

struct Model::Inside {
    VerilatedContext context;
    std::unique_ptr<Vmachine> top;
    const uint32_t *shared = nullptr;
    std::vector<const uint64_t *> counts;
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
    inside_->shared = array<uint32_t>(context, "u_memory", "mem_q");
    for (unsigned pe = 0; pe < pes(); pe++)
        inside_->counts.push_back(array<uint64_t>(context, pe_name(pe) + "u_counters", "count_q"));
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

void Model::write_toggles([[maybe_unused]] const std::string &path) const
{
#if VM_COVERAGE
    // Verilator tells of no failure.
    if (std::FILE *file = std::fopen(path.c_str(), "w")) {
        std::fclose(file);
        inside_->context.coveragep()->write(path.c_str());
        return;
    }
    throw std::runtime_error(path + ": " + std::strerror(errno));
#else
    throw std::runtime_error("this build does not count toggles");
#endif
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

bool Model::soft()
{
    return OKOSU_CONTEXT == 0;
}

bool Model::cached()
{
    return OKOSU_DCACHE != 0;
}

void Model::start(const Program &program)
{
    Vmachine &top = *inside_->top;

    for (unsigned s = 1; s < kSectionsN; s++) {
        const std::string name = std::string("__text_") + kSectionSymbols[s];

        top.section_start_i[s - 1] = program.symbol(name + "_start").value_or(0);
        top.section_end_i[s - 1] = program.symbol(name + "_end").value_or(0);
    }
    auto *shared = array<uint32_t>(inside_->context, "u_memory", "mem_q");

    for (unsigned pe = 0; pe < pes(); pe++) {
        auto *text = array<uint32_t>(inside_->context, pe_name(pe) + "u_imem", "mem_q");

        std::fill_n(text, text_bytes() / 4, kNoText);
        for (const Segment &segment : program.segments)
            if (segment.address < kDataBase)
                place(segment, kTextBase, text);
    }
    for (const Segment &segment : program.segments)
        if (segment.address >= kDataBase)
            place(segment, kDataBase, shared);
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

    if (!port_bits(port, base + kRetireValidAt, 1))
        return false;
    out.thread = port_bits(port, base + kRetireThreadAt, 8);
    out.pc = port_bits(port, base + kRetirePcAt, 32);
    out.instruction = port_bits(port, base + kRetireInstructionAt, 32);
    out.traps = port_bits(port, base + kRetireTrapAt, 1);
    if (!out.traps)
        return true;
    out.cause = port_bits(port, base + kRetireCauseAt, 5);
    out.address = port_bits(port, base + kRetireAddressAt, 32);
    return true;
}

uint32_t Model::written(unsigned pe) const
{
    return static_cast<uint32_t>(
        port_bits(inside_->top->retire_o, pe * kRetireBits + kRetireValueAt, 32));
}

bool Model::effect(unsigned pe, unsigned &thread, Effect &out) const
{
    const auto &port = inside_->top->retire_o;
    const unsigned base = pe * kRetireBits;

    if (!port_bits(port, base + kRetireValidAt, 1))
        return false;
    thread = static_cast<unsigned>(port_bits(port, base + kRetireThreadAt, 8));
    out = retired_effect(port, base);
    return true;
}

bool Model::transaction(Transaction &out) const
{
    const auto &port = inside_->top->snoop_o;

    if (!port_bits(port, kSnoopValidAt, 1))
        return false;
    out.stores = port_bits(port, kSnoopStoresAt, 1);
    out.address = static_cast<uint32_t>(port_bits(port, kSnoopAddressAt, 32));
    out.data = static_cast<uint32_t>(port_bits(port, kSnoopDataAt, 32));
    out.bytes = static_cast<unsigned>(port_bits(port, 0, 4));
    out.master = inside_->top->snoop_master_o;
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

const uint32_t *Model::data() const
{
    return inside_->shared;
}

const uint32_t *Model::text(unsigned pe) const
{
    return array<uint32_t>(inside_->context, pe_name(pe) + "u_imem", "mem_q");
}

uint64_t Model::running() const
{
    return inside_->top->running_o;
}

unsigned Model::thread(unsigned pe) const
{
    return port_bits(inside_->top->tid_o, 8 * pe, 8);
}

uint64_t Model::counter(unsigned pe, unsigned number) const
{
    return inside_->counts[pe][number];
}

uint64_t Model::count(unsigned pe, unsigned section, unsigned kind) const
{
    return counter(pe, 3 * section + kind);
}

uint64_t Model::idle(unsigned pe) const
{
    constexpr unsigned kLoop = kSectionsN - 1;

    return counter(pe, 3 * kSectionsN) + count(pe, kLoop, 0) + count(pe, kLoop, 1) +
           count(pe, kLoop, 2);
}

bool Model::broken() const
{
    return inside_->context.gotError();
}

} // namespace okosu
