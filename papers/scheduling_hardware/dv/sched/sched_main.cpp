// SPDX-License-Identifier: Apache-2.0
// sched-lockstep FIRST_SEED SEEDS MESSAGES: SSH-m and its golden model hear the
// same random PEs and memory bus, until MESSAGES for each seed have passed;
// every message of SSH-m is checked, and its tables whenever it is at rest; that
// it does in time what it has to do; and that in the end all threads can end.
// Prints the seeds and how often each command had each outcome. Exit status 1 at
// the first difference, with what led there; 3 if an outcome was never reached.
#include "sched_model.h"
#include "sched_pes.h"
#include "sched_reach.h"

#include "Vsched_top.h"
#include "verilated.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace okosu
{

namespace
{

constexpr unsigned kReadyLists = 16, kFreeList = 16, kFirstWatchList = 17;
// Limits in cycles: for SSH-m to do its work, to send its next message, and to end all threads of a
// machine that is drained.
constexpr uint64_t kOverdue = 6000, kSilence = 30000, kDrainTime = 400000;
constexpr unsigned kDutyEvery = 64, kShown = 40;
constexpr unsigned kRead = 0, kExchange = 2;
// The operations of list_op_e (rtl/ssh/ssh_pkg.sv).
constexpr unsigned kPushTail = 1, kPushHead = 2, kPop = 3, kUnlink = 4, kInsert = 5, kMoveTail = 6,
                   kMoveHead = 7;

SchedMachine built()
{
    return {NUM_PES, THREADS, WATCHES, 4, CONTEXT == 0};
}

// Element `index`, `width` bits (a divisor of 32), of a port: up to 64 bits are a number, more an
// array.
template <typename Number> uint32_t element(const Number &port, unsigned index, unsigned width)
{
    return static_cast<uint32_t>(uint64_t{port} >> index * width & ((uint64_t{1} << width) - 1));
}
template <std::size_t N> uint32_t element(const VlWide<N> &port, unsigned index, unsigned width)
{
    uint32_t word = port[index * width / 32];

    return static_cast<uint32_t>(word >> index * width % 32 & ((uint64_t{1} << width) - 1));
}

void set_message(uint64_t &port, unsigned, uint64_t message)
{
    port = message;
}
template <std::size_t N> void set_message(VlWide<N> &port, unsigned pe, uint64_t message)
{
    port[2 * pe] = static_cast<uint32_t>(message);
    port[2 * pe + 1] = static_cast<uint32_t>(message >> 32);
}

// The last events, printed with a difference.
struct Event {
    uint64_t cycle;
    const char *what;
    uint64_t value;
    bool is_message;
};

class Bench
{
  public:
    Bench(uint64_t seed, int argc, char **argv);
    ~Bench();
    void run(uint64_t messages);
    void show() const;
    uint64_t messages() const
    {
        return messages_;
    }
    uint64_t cycles() const
    {
        return now_ - begin_;
    }
    const SchedModel &model() const
    {
        return model_;
    }

  private:
    void cycle();
    void drive_bus();
    void observe();
    void observe_lists_before();
    void observe_lists_after();
    void compare_tables();
    void check_list(const std::deque<unsigned> &want, unsigned list, std::vector<unsigned> &seen);
    void check_duties();
    void note(const char *what, uint64_t value, bool is_message = false);

    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Vsched_top> top_;
    SchedModel model_;
    SchedPes pes_;
    std::mt19937_64 random_;
    uint64_t now_, begin_, messages_ = 0;
    std::deque<Message> buffer_;
    bool spoke_ = false, changed_ = true;
    uint64_t heard_at_;
    // The transaction on the memory bus: cycles that are left of it, and whose it
    // is.
    unsigned left_ = 0;
    bool own_ = false;
    std::optional<Store> store_;
    std::map<Duty, uint64_t> due_;
    std::deque<Event> events_;
};

Bench::Bench(uint64_t seed, int argc, char **argv)
    : context_(std::make_unique<VerilatedContext>()), model_(built()), pes_(model_, seed),
      random_(seed ^ 0x5eed)
{
    static const uint64_t kBegins[] = {0, (uint64_t{1} << 32) - 20000, uint64_t{1} << 42};

    context_->commandArgs(argc, argv);
    context_->randReset(2);
    context_->randSeed(static_cast<int>(seed & 0x7fffffff) + 1);
    top_ = std::make_unique<Vsched_top>(context_.get());
    now_ = begin_ = heard_at_ = kBegins[seed % 3];
    top_->rst_ni = 0;
    for (int n = 0; n < 4; n++) {
        top_->clk_i = n & 1;
        top_->eval();
    }
    top_->rst_ni = 1;
}

Bench::~Bench()
{
    top_->final();
}

void Bench::note(const char *what, uint64_t value, bool is_message)
{
    events_.push_back({now_, what, value, is_message});
    if (events_.size() > kShown)
        events_.pop_front();
    changed_ = true;
}

void Bench::show() const
{
    for (const Event &event : events_) {
        std::fprintf(stderr, "  %8" PRIu64 " %-8s ", event.cycle - begin_, event.what);
        if (event.is_message)
            std::fprintf(stderr, "%s\n", Message::unpack(event.value).text().c_str());
        else
            std::fprintf(stderr, "%" PRIx64 "\n", event.value);
    }
}

// The memory bus: a transaction of SSH-m's or a store of a PE, and none in
// between for a while.
void Bench::drive_bus()
{
    top_->mem_ready_i = 0;
    top_->snoop_valid_i = 0;
    if (left_ == 0) {
        if (!store_)
            store_ = pes_.store();
        own_ = top_->mem_valid_o && (!store_ || random_() % (pes_.bursts() ? 32 : 2) == 0);
        if (own_)
            left_ = 3;
        else if (store_)
            left_ = 2;
        else
            return;
    }
    if (--left_ > 0)
        return;
    top_->snoop_valid_i = 1;
    if (own_) {
        top_->mem_ready_i = 1;
        top_->mem_rdata_i = model_.word(top_->mem_addr_o);
        top_->snoop_store_i = top_->mem_kind_o != kRead;
        top_->snoop_addr_i = top_->mem_addr_o;
        top_->snoop_data_i = top_->mem_kind_o == kRead ? top_->mem_rdata_i : top_->mem_wdata_o;
        top_->snoop_be_i = 15;
    } else {
        top_->snoop_store_i = 1;
        top_->snoop_addr_i = store_->address;
        top_->snoop_data_i = store_->data;
        top_->snoop_be_i = store_->bytes;
    }
}

void Bench::cycle()
{
    top_->cycle_i = now_;
    top_->pe_valid_i = 0;
    top_->pe_more_i = 0;
    pes_.step(now_);
    for (unsigned pe = 0; pe < NUM_PES; pe++) {
        const Message *offer = pes_.offer(pe);

        if (!offer)
            continue;
        top_->pe_valid_i |= 1u << pe;
        top_->pe_more_i |= (pes_.more(pe) ? 1u : 0u) << pe;
        set_message(top_->pe_msg_i, pe, offer->pack());
    }
    drive_bus();
    top_->look_i = 0;
    top_->clk_i = 0;
    top_->eval();
    observe();
    if ((now_ & (kDutyEvery - 1)) == 0)
        check_duties();
    top_->clk_i = 1;
    top_->eval();
    now_++;
}

void Bench::observe()
{
    if (top_->said_valid_o && !spoke_) {
        note("says", top_->said_o, true);
        messages_++;
        model_.said(Message::unpack(top_->said_o));
    }
    spoke_ = top_->said_valid_o && !top_->said_ready_o;
    model_.tick();
    if (changed_ && top_->settled_o && model_.settled())
        compare_tables();
    if (top_->taken_o) {
        note("takes", top_->taken_addr_o);
        model_.took(top_->taken_addr_o);
    }
    if (top_->snoop_valid_i && !own_) {
        note("store", top_->snoop_addr_i);
        model_.stored(top_->snoop_addr_i, top_->snoop_data_i, top_->snoop_be_i);
        store_.reset();
    }
    if (top_->found_o) {
        note("finds", 0);
        model_.found();
    }
    if (top_->claimed_o) {
        note("watches", top_->claimed_addr_o);
        model_.armed(top_->claimed_addr_o);
    }
    if (top_->mem_ready_i) {
        note("compares", top_->mem_addr_o);
        model_.compared(top_->mem_addr_o, top_->mem_kind_o == kExchange, top_->mem_wdata_o);
    }
    observe_lists_before();
    if (top_->popped_o) {
        if (buffer_.empty())
            throw Difference("SSH-m takes a message that there is not");

        Message message = buffer_.front();

        note("hears", message.pack(), true);
        messages_++;
        heard_at_ = now_;
        buffer_.pop_front();
        model_.heard(message);
    }
    if (top_->expired_o) {
        note("expires", top_->expired_tid_o);
        model_.expired(top_->expired_tid_o, now_);
    }
    observe_lists_after();
    if (!top_->bus_valid_o)
        return;

    Message message = Message::unpack(top_->bus_msg_o);

    if (top_->bus_from_master_o)
        return pes_.hear(message, now_);
    buffer_.push_back(message);
    for (unsigned pe = 0; pe < NUM_PES; pe++) {
        if (top_->pe_ready_o >> pe & 1)
            pes_.sent(pe);
    }
}

// A thread is taken out of a list by what was known before this cycle's
// message, and put into one by what it says.
void Bench::observe_lists_before()
{
    if (top_->list_from_o >= kReadyLists || (top_->list_op_o != kPop && top_->list_op_o != kUnlink))
        return;

    const std::deque<unsigned> &ready = model_.ready(top_->list_from_o);
    size_t place = 0;

    if (top_->list_op_o == kUnlink) {
        while (place < ready.size() && ready[place] != top_->list_prev_o)
            place++;
        place++;
    }
    if (place >= ready.size())
        throw Difference("takes a thread out of a ready list where there is none");
    note("removes", ready[place]);
    model_.removed(top_->list_from_o, static_cast<unsigned>(place));
}

void Bench::observe_lists_after()
{
    if (top_->list_to_o >= kReadyLists)
        return;

    int place = 0;

    switch (top_->list_op_o) {
    case kPushTail:
    case kMoveTail:
        place = -1;
        break;
    case kPushHead:
    case kMoveHead:
        place = -2;
        break;
    case kInsert:
        place = top_->list_prev_o;
        break;
    default:
        return;
    }
    note("readies", top_->list_tid_o);
    model_.readied(top_->list_tid_o, top_->list_to_o, place);
}

// Compares the tables: each thread is in the state and in the list that the model says, and in no
// other.

void Bench::check_list(const std::deque<unsigned> &want, unsigned list, std::vector<unsigned> &seen)
{
    bool empty = element(top_->empty_o, list, 1);
    unsigned at = element(top_->head_o, list, 8);

    if (empty != want.empty())
        throw Difference("list " + std::to_string(list) + " is empty, or should be");
    for (unsigned n = 0; n < want.size(); n++) {
        if (at != want[n] || seen[at]++)
            throw Difference("list " + std::to_string(list) + " has another thread at place " +
                             std::to_string(n) + ": " + std::to_string(at));
        if (n + 1 < want.size())
            at = element(top_->next_o, at, 8);
    }
    if (!want.empty() && at != element(top_->tail_o, list, 8))
        throw Difference("list " + std::to_string(list) + " ends elsewhere");
}

void Bench::compare_tables()
{
    std::vector<unsigned> seen(THREADS);
    unsigned watched = 0;

    changed_ = false;
    top_->look_i = 1;
    top_->eval();
    for (unsigned list = 0; list < kReadyLists; list++)
        check_list(model_.ready(list), list, seen);
    check_list(model_.freed(), kFreeList, seen);
    for (unsigned n = 0; n < WATCHES; n++) {
        bool valid = element(top_->watched_o, n, 1);
        auto watch = model_.watches().find(element(top_->watch_addr_o, n, 32));

        if (!valid) {
            check_list({}, kFirstWatchList + n, seen);
            continue;
        }
        watched++;
        if (watch == model_.watches().end())
            throw Difference("a word is watched for nobody");
        check_list(watch->second.waiters, kFirstWatchList + n, seen);
    }
    if (watched != model_.watches().size())
        throw Difference("a word is not watched");
    for (unsigned tid = 0; tid < model_.fresh(); tid++) {
        unsigned state = element(top_->states_o, tid, 4);
        State want = model_.thread(tid).state;
        bool listed = want == State::Free || want == State::Ready || want == State::Waiting;

        if (state != static_cast<unsigned>(want) || listed != (seen[tid] == 1))
            throw Difference("thread " + std::to_string(tid) + " is in state " +
                             std::to_string(state) + ", not " +
                             std::to_string(static_cast<unsigned>(want)));
    }
    top_->look_i = 0;
}

void Bench::check_duties()
{
    std::map<Duty, uint64_t> due;

    for (Duty &duty : model_.duties(now_)) {
        auto since = due_.find(duty);

        due[duty] = since == due_.end() ? now_ : since->second;
    }
    if (!buffer_.empty()) {
        Duty duty = {"an ear for", buffer_.front().pack(), messages_};
        auto since = due_.find(duty);

        due[duty] = since == due_.end() ? now_ : since->second;
    }
    for (const auto &[duty, since] : due) {
        if (now_ - since > kOverdue)
            throw Difference(duty.what + " " + std::to_string(duty.whom) + " is overdue");
    }
    due_.swap(due);
    if (now_ - heard_at_ > kSilence)
        throw Difference("nobody says anything any more:" + model_.left());
}

// Runs some rounds, each until all of its threads have ended.
void Bench::run(uint64_t messages)
{
    while (messages_ < messages) {
        uint64_t round = messages_ + 1000 + random_() % 9000;

        pes_.drain(false);
        while (messages_ < round)
            cycle();
        pes_.drain(true);
        for (uint64_t end = now_ + kDrainTime; !pes_.drained() || !buffer_.empty(); cycle()) {
            if (now_ == end)
                throw Difference("not all threads end:" + model_.left());
        }
    }
}

} // namespace

} // namespace okosu

int main(int argc, char **argv)
{
    using namespace okosu;

    if (argc < 4) {
        std::fprintf(stderr, "usage: sched-lockstep FIRST_SEED SEEDS MESSAGES\n");
        return 2;
    }

    uint64_t first = std::strtoull(argv[1], nullptr, 10);
    uint64_t seeds = std::strtoull(argv[2], nullptr, 10);
    uint64_t each = std::strtoull(argv[3], nullptr, 10), messages = 0, cycles = 0;
    Coverage coverage;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Bench bench(seed, argc, argv);

        try {
            bench.run(each);
        } catch (const Difference &difference) {
            std::fprintf(stderr, "sched-lockstep: seed %" PRIu64 ", cycle %" PRIu64 ": %s\n", seed,
                         bench.cycles(), difference.what());
            bench.show();
            return 1;
        }
        for (const auto &[reached, times] : bench.model().coverage())
            coverage[reached] += times;
        messages += bench.messages();
        cycles += bench.cycles();
    }
    std::printf("%u PEs, %u threads, %u watches, context %u, seeds %" PRIu64 " to %" PRIu64
                ": %" PRIu64 " messages alike in %" PRIu64 " cycles\n",
                NUM_PES, THREADS, WATCHES, CONTEXT, first, first + seeds - 1, messages, cycles);
    return report(coverage, built()) ? 0 : 3;
}
