// SPDX-License-Identifier: Apache-2.0
#include "core_bench.h"

#include "core_golden.h"
#include "core_switch.h"
#include "timing.h"

#include "Vcore_top.h"
#include "Vcore_top___024root.h"
#include "verilated.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <random>

namespace okosu
{

namespace
{

constexpr uint32_t kCopMultiplier = 0x9e3779b9;
constexpr unsigned kCopOperand = 0, kCopCommand = 1, kCopRead = 2, kCopControl = 3;
constexpr unsigned kMostIdleCycles = 200;
// The words at the beginning of the data that another processor stores to, now and then.
constexpr unsigned kSharedWords = 64;

struct Store {
    uint32_t addr, data;
    unsigned bytes;
};

struct CopRequest {
    unsigned kind, index;
    uint32_t data;
};

// Memory, and the stand-in for SSH-s that core_top.sv has.
class CoreOutside : public Outside
{
  public:
    CoreOutside(std::vector<uint32_t> words, Room room, Limits &limits, const uint64_t &cycles)
        : words_(std::move(words)), room_(room), limits_(limits), cycles_(cycles)
    {
    }
    uint32_t load(uint32_t addr) override
    {
        return words_[(addr - kDataBase) / 4];
    }
    void store(uint32_t addr, uint32_t data, unsigned bytes)
    {
        if (addr - kDataBase >= words_.size() * 4)
            return;
        uint32_t &word = words_[(addr - kDataBase) / 4];

        for (unsigned b = 0; b < 4; b++) {
            if (bytes >> b & 1)
                word = (word & ~(0xffu << 8 * b)) | (data & (0xffu << 8 * b));
        }
    }
    uint32_t cop2_read(unsigned index) override
    {
        requests.push_back({kCopRead, index, 0});
        return number_++ * kCopMultiplier ^ index << 27;
    }
    void cop2_write(bool control, unsigned index, uint32_t value) override
    {
        if (control)
            requests.push_back({kCopControl, index, value});
        else if (index >= 16)
            requests.push_back({kCopCommand, index - 16, value});
        else
            requests.push_back({kCopOperand, index, value});
        number_++;
        if (control && index == 0)
            limits_.stack_top = value;
        else if (control && index == 1)
            limits_.stack_log2 = value & 31;
        else if (control && index == 6)
            limits_.guard = value & 1;
    }
    Room cop2_room() override
    {
        return room_;
    }
    bool irq() override
    {
        return irq_level;
    }
    uint64_t cycle() override
    {
        return cycles_ - 1;
    }
    uint32_t word(size_t index) const
    {
        return words_[index];
    }

    bool irq_level = false;
    std::deque<CopRequest> requests;
    // Stores that retired and are not on the bus yet.
    std::deque<Store> stores;

  private:
    std::vector<uint32_t> words_;
    Room room_;
    Limits &limits_;
    const uint64_t &cycles_;
    uint32_t number_ = 0;
};

// The interrupt line: now and then high for some cycles.
class IrqLine
{
  public:
    explicit IrqLine(uint64_t seed) : on_(seed != 0), random_(seed)
    {
    }
    bool next()
    {
        if (on_ && left_-- == 0) {
            level_ = !level_;
            left_ = static_cast<unsigned>(random_() % (level_ ? 12 : 400));
        }
        return level_;
    }

  private:
    bool on_, level_ = false;
    std::mt19937_64 random_;
    unsigned left_ = 0;
};

// The other processor's stores, where the golden simulator knows what they do to a reservation.
class Neighbour
{
  public:
    explicit Neighbour(uint64_t seed) : on_(OKOSU_RV32 && seed != 0), random_(seed + 2)
    {
    }
    void ask(Vcore_top &top)
    {
        if (!on_ || top.other_valid_i || random_() % 24)
            return;
        top.other_valid_i = 1;
        top.other_addr_i = kDataBase + 4 * static_cast<uint32_t>(random_() % kSharedWords);
        top.other_data_i = static_cast<uint32_t>(random_());
    }

  private:
    bool on_;
    std::mt19937_64 random_;
};

} // namespace

struct CoreBench::Inside {
    VerilatedContext context;
    std::unique_ptr<Vcore_top> top;

    // The inputs that were set for this cycle reach the core's outputs.
    void settle()
    {
        top->clk_i = 0;
        top->eval();
    }
    void tick()
    {
        settle();
        const bool stored = top->other_valid_i && top->other_ready_o;

        top->clk_i = 1;
        top->eval();
        if (stored)
            top->other_valid_i = 0;
    }

    // What was on the bus reaches the golden simulator's memory, in the bus's order.
    std::string look_at_bus(CoreOutside &outside, CoreGolden &golden) const
    {
        const Store seen = {top->seen_addr_o, top->seen_data_o, top->seen_be_o};
        char text[96];

        // A store of no byte is a conditional one whose reservation has ended.
        if (!top->seen_store_o || !seen.bytes)
            return "";
        if (!top->seen_other_o) {
            const Store want = outside.stores.empty() ? Store{0, 0, 0} : outside.stores.front();

            if (want.addr != seen.addr || want.data != seen.data || want.bytes != seen.bytes) {
                std::snprintf(text, sizeof(text),
                              "  the bus saw a store %08x: %08x/%x, golden %08x: %08x/%x\n",
                              seen.addr, seen.data, seen.bytes, want.addr, want.data, want.bytes);
                return text;
            }
            outside.stores.pop_front();
        }
        outside.store(seen.addr, seen.data, seen.bytes);
        stored(golden, seen.addr);
        return "";
    }

    // The request that SSH-s's stand-in heard, if the golden simulator made the same.
    std::string wrong_request(CoreOutside &outside) const
    {
        char text[96];

        if (outside.requests.empty() && !top->cop2_answered_o)
            return "";
        CopRequest want{9, 0, 0};

        if (!outside.requests.empty())
            want = outside.requests.front();
        outside.requests.clear();
        if (top->cop2_answered_o && want.kind == top->cop2_kind_o &&
            want.index == top->cop2_index_o &&
            (want.kind == kCopRead || want.data == top->cop2_data_o))
            return "";
        std::snprintf(text, sizeof(text),
                      "  coprocessor 2 heard %d (%u %u %08x), golden (%u %u %08x)\n",
                      top->cop2_answered_o, top->cop2_kind_o, top->cop2_index_o, top->cop2_data_o,
                      want.kind, want.index, want.data);
        return text;
    }
};

CoreBench::CoreBench() : inside_(std::make_unique<Inside>())
{
    inside_->context.fatalOnError(false);
    inside_->context.randReset(2);
    inside_->top = std::make_unique<Vcore_top>(&inside_->context);
}

CoreBench::~CoreBench()
{
    inside_->top->final();
}

CoreRun CoreBench::run(const std::vector<uint32_t> &text, const std::vector<uint32_t> &data,
                       const CoreWorld &world, uint64_t instructions, const CoreTold &told)
{
    Vcore_top &top = *inside_->top;
    uint32_t *const rtl_text = &top.rootp->core_top__DOT__u_imem__DOT__mem_q[0];
    uint32_t *const rtl_data = &top.rootp->core_top__DOT__u_memory__DOT__mem_q[0];
    Limits limits;
    CoreRun run;
    IrqLine irq(world.seed);
    Timing timing;
    Neighbour neighbour(world.seed);
    ThreadState thread;
    unsigned idle = 0;

    std::fill_n(rtl_text, kCoreTextWords, 0);
    std::fill_n(rtl_data, kCoreDataWords, 0);
    std::copy(text.begin(), text.end(), rtl_text);
    std::copy(data.begin(), data.end(), rtl_data);
    limits.text_words = kCoreTextWords;
    limits.data_words = kCoreDataWords;
    const std::vector<uint32_t> words(rtl_data, rtl_data + kCoreDataWords);
    const std::vector<uint32_t> whole_text(rtl_text, rtl_text + kCoreTextWords);
    limits.hart = OKOSU_RV32;
    CoreOutside outside(words, world.room ? Room::kYes : Room::kNo, limits, run.cycles);
    CoreGolden golden(whole_text.data(), limits);
    CoreSwitch ssh(top, world.seed, [this, &run, &outside, &golden] {
        inside_->tick();
        run.cycles++;
        run.difference += inside_->look_at_bus(outside, golden);
    });

    top.irq_i = 0;
    top.other_valid_i = 0;
    top.cop2_room_i = world.room;
    top.rst_ni = 0;
    inside_->tick();
    inside_->tick();
    top.rst_ni = 1;
    while (run.instructions < instructions && !run.ended) {
        top.irq_i = outside.irq_level = irq.next();
        ssh.ask();
        neighbour.ask(top);
        inside_->settle();
        timing.spent(top.at_pc_o, top.waits_memory_o, top.waits_sched_o);
        inside_->tick();
        run.cycles++;
        if (inside_->context.gotError()) {
            run.difference = "  an assertion of the RTL failed\n";
            return run;
        }
        run.ended = top.exit_o;
        run.status = top.status_o;
        if (!port_bits(top.retire_o, kRetireValidAt, 1)) {
            if (top.cop2_answered_o)
                run.difference = inside_->wrong_request(outside);
            if (++idle > kMostIdleCycles)
                run.difference = "  nothing retires any more\n";
            run.difference += inside_->look_at_bus(outside, golden);
            run.difference += ssh.look(golden, thread);
            if (ssh.moved()) {
                timing.begin();
                moved(golden);
            }
            if (!run.difference.empty())
                return run;
            continue;
        }
        idle = 0;
        const Effect core = retired_effect(top.retire_o, 0);
        const Effect want = golden.step(thread, outside, core);

        if (want.stores && !want.traps)
            outside.stores.push_back({want.addr & ~3u, want.data, want.bytes});
        if (differs(core, want))
            run.difference = "  core   " + in_words(core) + "\n  golden " + in_words(want) + "\n";
        run.difference += inside_->wrong_request(outside);
        run.difference += inside_->look_at_bus(outside, golden);
        run.difference += timing.note(core, run.cycles);
        run.difference += ssh.look(golden, thread);
        if (ssh.moved()) {
            timing.begin();
            moved(golden);
        }
        if (!run.difference.empty())
            return run;
        if (told)
            told(core, run.cycles);
        run.traps += want.traps;
        run.instructions++;
    }
    for (unsigned n = 0; n < kCoreDataWords; n++) {
        if (rtl_data[n] != outside.word(n))
            run.difference = "  memory differs\n";
    }
    return run;
}

} // namespace okosu
