// SPDX-License-Identifier: Apache-2.0
// SSH-m: the global thread table, the ready lists, the policy, joins, barriers and waiting, in hardware.
//
// Messages from the scheduler bus go through a FIFO; a state machine answers them one at a time, most in one cycle. Between
// messages it serves, in this order: stores to watched words, dispatching ready threads to prefetch slots, refilling the PEs' pools
// of ids, recalls, and waits whose time has come. A message and one of these take turns, so neither starves the other.
//
// A thread is in exactly one state (ssh_pkg::thread_state_e) and in at most one list. Its context is in a bank of its home PE
// (`has_home`) until that PE says RELEASED; a thread that becomes ready before that in SOFT mode is held back.
// Blocking: the reply 255 goes out only after the thread's state says so, so its waking, which comes through here too, cannot be lost.

module ssh_m
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned NumPes   = 8,
  parameter int unsigned Threads  = 256,
  parameter int unsigned Watches  = 16,
  parameter int unsigned PoolSize = 4,
  parameter ctx_mode_e   CtxMode  = CtxBanked
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [43:0] cycle_i,

  input  logic        bus_valid_i,
  input  sched_msg_t  bus_msg_i,
  output logic        bus_room_o,
  output logic        bus_valid_o,
  output logic        bus_more_o,
  output sched_msg_t  bus_msg_o,
  input  logic        bus_ready_i,

  output logic        mem_valid_o,
  output mem_req_t    mem_req_o,
  input  logic        mem_ready_i,
  input  mem_rsp_t    mem_rsp_i,
  input  mem_snoop_t  snoop_i
);

  localparam int unsigned WatchWidth = $clog2(Watches);
  localparam int unsigned IndexWidth = $clog2(Threads);
  localparam int unsigned FreeList = ReadyLists;
  localparam int unsigned FirstWatchList = ReadyLists + 1;
  localparam int unsigned Lists = FirstWatchList + Watches;
  localparam int unsigned ListWidth = $clog2(Lists);
  // How far a ready list is searched for a thread that suits a PE before one is made to move.
  localparam logic [2:0] ScanSteps = 3'd4;
  localparam logic [1:0] KindBarrier = 2'd3;

  typedef logic [ListWidth-1:0] list_t;
  typedef logic [WatchWidth-1:0] watch_t;

  typedef enum logic [3:0] {
    StIdle,
    StCreate,
    StWait,
    StWaitTime,
    StFind,
    StBlock,
    StCompare,
    StReady,
    StPlace,
    StDrain,
    StScan,
    StDispatch,
    StUnlink,
    StDeadline,
    StReply
  } state_e;

  state_e state_q, state_d, back_q, back_d;
  // Low in the first cycle after reset.
  logic   booted_q;

  // ---- Incoming messages ----

  localparam int unsigned FifoDepth = 8;
  logic       in_valid, in_pop;
  sched_msg_t in;
  logic [3:0] in_room;
  logic       unused_in_ready;
  fifo #(
    .Width($bits(sched_msg_t)),
    .Depth(FifoDepth)
  ) u_in (
    .clk_i,
    .rst_ni,
    .valid_i(bus_valid_i),
    .ready_o(unused_in_ready),
    .data_i (bus_msg_i),
    .valid_o(in_valid),
    .ready_i(in_pop),
    .data_o (in),
    .room_o (in_room)
  );
  // Room for the longest group: once a PE has begun to speak, SSH-m, which cannot speak itself meanwhile, must hear it out.
  assign bus_room_o = in_room >= 4'd3;

  // ---- Thread table ----

  // Three readers: the one who speaks or is acted on (a), the other one of a pair (b), and the clock's scan (c).
  thread_t     table_q[Threads];
  logic [43:0] deadline_q[Threads];
  thread_t     a, b, c, w_entry;
  tid_t        a_tid, b_tid, w_tid, c_tid_q;
  logic        w_en;
  // Ids that were never used come from a counter, so that the table needs no reset.
  logic [IndexWidth:0] fresh_q, fresh_d;
  logic        deadline_we;
  logic [43:0] deadline_d;

  assign a = table_q[a_tid[IndexWidth-1:0]];
  assign b = table_q[b_tid[IndexWidth-1:0]];
  assign c = table_q[c_tid_q[IndexWidth-1:0]];

  // ---- Lists, watches, PEs ----

  list_op_e         list_op;
  list_t            list;
  tid_t             list_tid, list_prev, list_head, free_head, walk, walk_next;
  logic             list_empty, walk_last;
  logic [Lists-1:0] empties;
  list_unit #(
    .Threads(Threads),
    .Lists  (Lists),
    .SideList(FreeList)
  ) u_lists (
    .clk_i,
    .rst_ni,
    .op_i     (list_op),
    .list_i   (list),
    .tid_i    (list_tid),
    .prev_i   (list_prev),
    .head_o   (list_head),
    .empty_o  (list_empty),
    .empties_o(empties),
    .side_head_o(free_head),
    .walk_i   (walk),
    .next_o   (walk_next),
    .last_o   (walk_last)
  );

  logic        found, has_free, claim, release_watch, hit, take_hit;
  watch_t      found_index, free_index, hit_index, watch_q, watch_d, watch_read;
  logic [31:0] find_addr, watch_addr;
  logic [1:0]  claim_kind, watch_kind;
  logic [3:0]  hit_count;
  logic [11:0] arrivals_q[Watches];
  logic        arrivals_we;
  logic [11:0] arrivals_d;
  watch_unit #(
    .Watches(Watches)
  ) u_watches (
    .clk_i,
    .rst_ni,
    .snoop_i,
    .find_addr_i    (find_addr),
    .found_o        (found),
    .index_o        (found_index),
    .free_o         (has_free),
    .free_index_o   (free_index),
    .claim_i        (claim),
    .claim_kind_i   (claim_kind),
    .release_i      (release_watch),
    .release_index_i(watch_q),
    .read_index_i   (watch_read),
    .read_addr_o    (watch_addr),
    .read_kind_o    (watch_kind),
    .hit_o          (hit),
    .hit_index_o    (hit_index),
    .hit_count_o    (hit_count),
    .take_i         (take_hit)
  );

  logic pe_stop, pe_start, pe_fill, pe_recalled, pe_recall_done, pe_recalling, pe_granted, pe_created;
  logic home_has_slot, home_idle, place, place_idle, wants_grant, wants_recall;
  pe_t  place_pe, grant_pe, recall_pe, home_pe, fill_pe, spoke_pe;
  tid_t recall_tid, fill_tid;
  // Who blocks has spoken before: `in` is another PE's message by then.
  assign spoke_pe = state_q == StBlock ? from_pe_q : in.pe;
  pe_table #(
    .NumPes  (NumPes),
    .PoolSize(PoolSize)
  ) u_pes (
    .clk_i,
    .rst_ni,
    .stop_i         (pe_stop),
    .start_i        (pe_start),
    .at_i           (spoke_pe),
    .fill_i         (pe_fill),
    .fill_pe_i      (fill_pe),
    .fill_tid_i     (fill_tid),
    .recalled_i     (pe_recalled),
    .recall_done_i  (pe_recall_done),
    .recalling_i    (pe_recalling),
    .granted_i      (pe_granted),
    .created_i      (pe_created),
    .home_i         (home_pe),
    .home_has_slot_o(home_has_slot),
    .home_idle_o    (home_idle),
    .place_o        (place),
    .place_idle_o   (place_idle),
    .place_pe_o     (place_pe),
    .grant_o        (wants_grant),
    .grant_pe_o     (grant_pe),
    .recall_o       (wants_recall),
    .recall_pe_o    (recall_pe),
    .recall_tid_o   (recall_tid)
  );

  // ---- Outgoing messages ----

  logic       out_valid_q, out_more_q, send, send_more, can_send;
  sched_msg_t out_q, out;
  assign can_send    = !out_valid_q || bus_ready_i;
  assign bus_valid_o = out_valid_q;
  assign bus_more_o  = out_more_q;
  assign bus_msg_o   = out_q;

  // ---- Registers of the state machine ----

  sched_msg_t  first_q, first_d;       // the first message of a pair
  tid_t        subject_q, subject_d;   // the thread that StReady, StBlock or StDispatch is about
  tid_t        prev_q, prev_d;         // in a list, the one before it
  tid_t        from_q, from_d;         // the thread to be answered
  pe_t         from_pe_q, from_pe_d;
  logic [31:0] value_q, value_d;       // RES of a wake or reply, or the value expected
  logic [7:0]  err_q, err_d;
  logic        results_q, results_d;   // StReady: value and err are what the thread's command returns
  logic        at_head_q, at_head_d;
  logic [11:0] left_q, left_d;         // StDrain: how many more to wake
  logic [11:0] woken_q, woken_d;
  logic        answer_q, answer_d;     // StDrain: a WAKE command waits for its reply
  logic        timed_q, timed_d, claimed_q, claimed_d, mutex_hit_q, mutex_hit_d;
  logic [2:0]  steps_q, steps_d;
  list_t       list_q, list_d;
  policy_e     policy_q, policy_d;
  logic        turn_q, turn_d;
  logic        settled_q, settled_d;   // dispatching was tried, and nothing has changed since
  pe_t         to_q, to_d;

  // ---- Helpers ----

  handle_t target;
  logic    target_known;
  assign target       = handle_t'(in.data[15:0]);
  assign target_known = {1'b0, target.tid[IndexWidth-1:0]} < fresh_q && 32'(target.tid) < Threads && in.data[31:16] == '0 &&
                        b.generation == target.generation && b.state != ThreadFree && b.state != ThreadGranted;

  // The highest ready list that is not empty.
  list_t ready_list;
  logic  any_ready;
  always_comb begin
    ready_list = '0;
    any_ready  = 1'b0;
    for (int unsigned l = 0; l < ReadyLists; l++) begin
      if (!empties[l]) begin
        ready_list = list_t'(l);
        any_ready  = 1'b1;
      end
    end
  end

  logic has_fresh, can_alloc;
  assign has_fresh = 32'(fresh_q) != Threads;
  assign can_alloc = has_fresh || !empties[FreeList];

  function automatic list_t list_of(watch_t watch);
    return list_t'(FirstWatchList) + list_t'(watch);
  endfunction

  function automatic sched_msg_t message(msg_op_e op, pe_t pe, tid_t tid, logic [11:0] aux, logic [31:0] data);
    return '{op: op, pe: pe, tid: tid, aux: aux, data: data};
  endfunction

  // ---- What is looked at ----

  // One thread a cycle is looked at for a wait whose time has come; the scan stands until it is dealt with.
  logic expired;
  assign expired = {1'b0, c_tid_q[IndexWidth-1:0]} < fresh_q && c.state == ThreadWaiting && c.timed &&
                   deadline_q[c_tid_q[IndexWidth-1:0]] <= cycle_i;

  logic dispatch_next, grant_next;
  assign dispatch_next = any_ready && place && !settled_q;
  assign grant_next    = wants_grant && can_alloc;

  logic serve_message;
  assign serve_message = in_valid && (!turn_q || !(hit || dispatch_next || grant_next));

  // The id that was free longest; ids that were never used come first.
  tid_t alloc_tid;
  assign alloc_tid = has_fresh ? tid_t'(fresh_q) : free_head;
  assign find_addr = first_q.data;

  always_comb begin
    a_tid = subject_q;
    unique case (state_q)
      StIdle:   a_tid = serve_message ? in.tid : alloc_tid;
      StCreate: a_tid = first_q.aux[11] ? alloc_tid : first_q.tid;
      StBlock:  a_tid = from_q;
      default: ;
    endcase
  end

  always_comb begin
    list       = list_q;
    watch_read = watch_q;
    unique case (state_q)
      StIdle: begin
        list = list_t'(FreeList);
        if (!serve_message) begin
          if (hit) watch_read = hit_index;
          else if (dispatch_next) list = ready_list;
          else if (!grant_next && expired) list = list_of(c.watch[WatchWidth-1:0]);
        end
      end
      StCreate:         list = list_t'(FreeList);
      StBlock, StDrain: list = list_of(watch_q);
      StReady:          list = policy_q == PolicyPriority ? list_t'(a.prio) : '0;
      default: ;
    endcase
  end

  always_comb begin
    unique case (state_q)
      StScan:     b_tid = list_head;
      StDeadline: b_tid = first_q.data[TidWidth-1:0];
      default:    b_tid = target.tid;
    endcase
  end
  assign walk = state_q == StPlace || state_q == StUnlink ? prev_q : subject_q;

  assign mem_valid_o = state_q == StCompare;
  assign mem_req_o   = '{
    kind: watch_kind == WaitMutex ? MemExchange : MemRead,
    we: 1'b0,
    addr: watch_addr,
    wdata: 32'd1,
    be: 4'b1111,
    len: 6'd0
  };

  // ---- State machine ----

  always_comb begin
    state_d        = state_q;
    back_d         = back_q;
    first_d        = first_q;
    subject_d      = subject_q;
    prev_d         = prev_q;
    from_d         = from_q;
    from_pe_d      = from_pe_q;
    value_d        = value_q;
    err_d          = err_q;
    results_d      = results_q;
    at_head_d      = at_head_q;
    left_d         = left_q;
    woken_d        = woken_q;
    answer_d       = answer_q;
    timed_d        = timed_q;
    claimed_d      = claimed_q;
    mutex_hit_d    = mutex_hit_q;
    steps_d        = steps_q;
    list_d         = list_q;
    policy_d       = policy_q;
    turn_d         = turn_q;
    settled_d      = settled_q;
    to_d           = to_q;
    watch_d        = watch_q;
    fresh_d        = fresh_q;

    in_pop         = 1'b0;
    send           = 1'b0;
    send_more      = 1'b0;
    out            = '0;
    w_en           = 1'b0;
    w_tid          = a_tid;
    w_entry        = a;
    list_op        = ListNone;
    list_tid       = subject_q;
    list_prev      = prev_q;
    claim          = 1'b0;
    claim_kind     = first_q.aux[1:0];
    release_watch  = 1'b0;
    take_hit       = 1'b0;
    arrivals_we    = 1'b0;
    arrivals_d     = '0;
    deadline_we    = 1'b0;
    deadline_d     = {in.aux, in.data};
    pe_stop        = 1'b0;
    pe_start       = 1'b0;
    pe_fill        = 1'b0;
    pe_recalled    = 1'b0;
    pe_recall_done = 1'b0;
    pe_recalling   = 1'b0;
    pe_granted     = 1'b0;
    pe_created     = 1'b0;
    home_pe        = a.home;
    fill_pe        = to_q;
    fill_tid       = subject_q;

    unique case (state_q)
      StIdle: begin
        results_d   = 1'b0;
        at_head_d   = 1'b0;
        answer_d    = 1'b0;
        mutex_hit_d = 1'b0;
        claimed_d   = 1'b0;
        timed_d     = 1'b0;
        woken_d     = '0;
        back_d      = StIdle;
        if (!booted_q) begin
          // Thread 0, which PE 0 runs from the start.
          w_en    = 1'b1;
          w_tid   = '0;
          w_entry = '{state: ThreadRunning, generation: gen_t'(1), has_home: 1'b1, default: '0};
        end else if (serve_message) begin
          turn_d    = 1'b1;
          from_d    = in.tid;
          from_pe_d = in.pe;
          subject_d = in.tid;
          first_d   = in;
          unique case (in.op)
            MsgStart: begin
              in_pop           = 1'b1;
              w_en             = 1'b1;
              w_entry.state    = ThreadRunning;
              w_entry.cold     = 1'b0;
              w_entry.has_home = 1'b1;
              w_entry.home     = in.pe;
              pe_start         = 1'b1;
              settled_d        = 1'b0;
            end
            MsgReleased: begin
              in_pop           = 1'b1;
              w_en             = 1'b1;
              w_entry.has_home = 1'b0;
              settled_d        = 1'b0;
              if (a.state == ThreadHeld) state_d = StReady;
            end
            MsgRecalled, MsgKept: begin
              in_pop         = 1'b1;
              pe_recall_done = 1'b1;
              settled_d      = 1'b0;
              if (in.op == MsgRecalled) begin
                pe_recalled = 1'b1;
                at_head_d   = 1'b1;
                state_d     = StReady;
              end else if (a.state == ThreadHeld && a.has_home && a.home == in.pe) begin
                // It was to be evicted, and cannot be now.
                at_head_d = 1'b1;
                state_d   = StReady;
              end
            end
            MsgCreate0: begin
              in_pop  = 1'b1;
              state_d = StCreate;
            end
            MsgExit: begin
              in_pop             = 1'b1;
              pe_stop            = 1'b1;
              settled_d          = 1'b0;
              w_en               = 1'b1;
              w_entry.has_home   = 1'b0;
              w_entry.has_joiner = 1'b0;
              if (a.has_joiner || a.detached) begin
                w_entry.state      = ThreadFree;
                w_entry.generation = a.generation + gen_t'(1);
                list_op            = ListPushTail;
                list_tid           = in.tid;
              end else begin
                w_entry.state = ThreadZombie;
                w_entry.word0 = in.data;
              end
              if (a.has_joiner) begin
                subject_d = a.joiner;
                value_d   = in.data;
                err_d     = ErrNone;
                results_d = 1'b1;
                state_d   = StReady;
              end
            end
            MsgJoin, MsgDetach: begin
              if (can_send) begin
                in_pop  = 1'b1;
                send    = 1'b1;
                out     = message(MsgReply, in.pe, in.tid, '0, '0);
                w_tid   = target.tid;
                w_entry = b;
                if (!target_known) begin
                  out.aux = {4'd0, ErrSrch};
                end else if (in.op == MsgJoin && target.tid == in.tid) begin
                  out.aux = {4'd0, ErrDeadlk};
                end else if (in.op == MsgJoin && a.has_joiner && a.joiner == target.tid) begin
                  out.aux = {4'd0, ErrDeadlk};
                end else if (b.detached || b.has_joiner) begin
                  out.aux = {4'd0, ErrInval};
                end else if (b.state == ThreadZombie) begin
                  out.data           = in.op == MsgJoin ? b.word0 : '0;
                  w_en               = 1'b1;
                  w_entry.state      = ThreadFree;
                  w_entry.generation = b.generation + gen_t'(1);
                  list_op            = ListPushTail;
                  list_tid           = target.tid;
                end else if (in.op == MsgDetach) begin
                  w_en             = 1'b1;
                  w_entry.detached = 1'b1;
                end else begin
                  // The reply waits until the joiner's own state is written, too.
                  send               = 1'b0;
                  w_en               = 1'b1;
                  w_entry.has_joiner = 1'b1;
                  w_entry.joiner     = in.tid;
                  state_d            = StBlock;
                end
              end
            end
            MsgYield: begin
              in_pop        = 1'b1;
              pe_stop       = 1'b1;
              settled_d     = 1'b0;
              w_en          = 1'b1;
              w_entry.word0 = in.data;
              w_entry.err   = in.aux[7:0];
              state_d       = StReady;
            end
            MsgWait0: begin
              in_pop  = 1'b1;
              state_d = StWait;
            end
            MsgWake, MsgBarrier: begin
              in_pop     = 1'b1;
              state_d    = StFind;
            end
            MsgSetPrio: begin
              if (can_send) begin
                in_pop       = 1'b1;
                send         = 1'b1;
                out          = message(MsgReply, in.pe, in.tid, target_known ? '0 : {4'd0, ErrSrch}, '0);
                w_en         = target_known;
                w_tid        = target.tid;
                w_entry      = b;
                w_entry.prio = in.aux[PrioWidth-1:0];
              end
            end
            MsgDeadline0: begin
              in_pop  = 1'b1;
              state_d = StDeadline;
            end
            MsgPolicy: begin
              in_pop   = 1'b1;
              policy_d = policy_e'(in.aux[2:0]);
            end
            default: in_pop = 1'b1;
          endcase
        end else begin
          turn_d = 1'b0;
          if (hit) begin
            take_hit = 1'b1;
            watch_d  = hit_index;
            left_d   = hit_count == '1 ? '1 : {8'd0, hit_count};
            value_d  = '0;
            err_d    = ErrNone;
            unique case (watch_kind)
              WaitMutex: begin
                mutex_hit_d = 1'b1;
                state_d     = StCompare;
              end
              WaitFlag: begin
                left_d  = '1;
                state_d = StDrain;
              end
              default: state_d = StDrain;
            endcase
          end else if (dispatch_next) begin
            list_d    = ready_list;
            subject_d = list_head;
            steps_d   = '0;
            state_d   = StScan;
          end else if (grant_next) begin
            if (can_send) begin
              list_op            = has_fresh ? ListNone : ListPop;
              w_en               = 1'b1;
              w_tid              = a_tid;
              w_entry            = '0;
              w_entry.state      = ThreadGranted;
              w_entry.generation = has_fresh ? gen_t'(1) : a.generation;
              if (has_fresh) fresh_d = fresh_q + 1'b1;
              pe_granted         = 1'b1;
              send               = 1'b1;
              out                = message(MsgGrant, grant_pe, a_tid, {4'd0, w_entry.generation}, '0);
            end
          end else if (!any_ready && wants_recall && can_send) begin
            pe_recalling = 1'b1;
            send         = 1'b1;
            out          = message(MsgRecall, recall_pe, recall_tid, '0, '0);
          end else if (expired) begin
            subject_d = c_tid_q;
            watch_d   = c.watch[WatchWidth-1:0];
            list_d    = list_of(c.watch[WatchWidth-1:0]);
            value_d   = '0;
            err_d     = ErrTimedout;
            prev_d    = list_head;
            state_d   = StUnlink;
          end
        end
      end

      // The argument of a new thread; aux[11] of the first message: the PE had no id left and asks for one.
      StCreate: begin
        if (in_valid && (can_send || !first_q.aux[11])) begin
          in_pop = 1'b1;
          if (first_q.aux[11]) begin
            list_op = has_fresh || !can_alloc ? ListNone : ListPop;
            send    = 1'b1;
          end else begin
            pe_created = 1'b1;
          end
          w_en               = 1'b1;
          w_tid              = a_tid;
          w_entry            = '0;
          w_entry.generation = first_q.aux[11] && has_fresh ? gen_t'(1) : a.generation;
          w_entry.prio       = first_q.aux[PrioWidth-1:0];
          w_entry.detached   = first_q.aux[4];
          w_entry.cold       = 1'b1;
          w_entry.word0      = first_q.data;
          w_entry.word1      = in.data;
          subject_d          = a_tid;
          state_d            = StReady;
          out                = message(MsgReply, first_q.pe, first_q.tid, '0, {16'd0, w_entry.generation, a_tid});
          if (first_q.aux[11] && !can_alloc) begin
            out     = message(MsgReply, first_q.pe, first_q.tid, {4'd0, ErrAgain}, '0);
            w_en    = 1'b0;
            state_d = StIdle;
          end else if (first_q.aux[11] && has_fresh) begin
            fresh_d = fresh_q + 1'b1;
          end
        end
      end

      // The value that a waiting thread expects, and then, if it set one, its deadline.
      StWait: begin
        if (in_valid) begin
          in_pop  = 1'b1;
          value_d = in.data;
          timed_d = first_q.aux[8];
          state_d = first_q.aux[8] ? StWaitTime : StFind;
        end
      end
      StWaitTime: begin
        if (in_valid) begin
          in_pop      = 1'b1;
          deadline_we = 1'b1;
          state_d     = StFind;
        end
      end

      // The watched word: an entry that is there, or a new one.
      StFind: begin
        watch_d = found ? found_index : free_index;
        err_d   = ErrNone;
        unique case (first_q.op)
          MsgWake: begin
            answer_d = 1'b1;
            value_d  = '0;
            left_d   = first_q.aux;
            state_d  = found ? StDrain : StReply;
          end
          MsgBarrier: begin
            claim_kind  = KindBarrier;
            arrivals_we = 1'b1;
            arrivals_d  = found ? arrivals_q[found_index] - 12'd1 : first_q.aux - 12'd1;
            value_d     = '0;
            if (!found && first_q.aux <= 12'd1) begin
              value_d     = 32'd1;
              arrivals_we = 1'b0;
              state_d     = StReply;
            end else if (!found && !has_free) begin
              err_d       = ErrAgain;
              arrivals_we = 1'b0;
              state_d     = StReply;
            end else if (found && arrivals_q[found_index] == 12'd1) begin
              // The last one: all others go on, and it is told that it was the last.
              left_d   = '1;
              answer_d = 1'b1;
              state_d  = StDrain;
            end else begin
              claim   = !found;
              state_d = StBlock;
            end
          end
          default: begin
            if (found || has_free) begin
              claim     = !found;
              claimed_d = !found;
              state_d   = StCompare;
            end else begin
              err_d   = ErrAgain;
              value_d = '0;
              state_d = StReply;
            end
          end
        endcase
      end

      // The word itself, by the memory bus: compared, or for a mutex exchanged with 1.
      StCompare: begin
        if (mem_ready_i) begin
          if (mutex_hit_q) begin
            left_d  = 12'd1;
            state_d = mem_rsp_i.rdata == '0 ? StDrain : StIdle;
          end else if (watch_kind == WaitMutex ? mem_rsp_i.rdata == '0 : mem_rsp_i.rdata != value_q) begin
            err_d         = watch_kind == WaitMutex ? ErrNone : ErrAgain;
            value_d       = '0;
            release_watch = claimed_q;
            state_d       = StReply;
          end else begin
            state_d = StBlock;
          end
        end
      end

      // The thread that spoke blocks, at watch_q or as a joiner, and is told so.
      StBlock: begin
        w_tid   = from_q;
        w_entry = a;
        if (can_send) begin
          w_en      = 1'b1;
          pe_stop   = 1'b1;
          settled_d = 1'b0;
          if (first_q.op == MsgJoin) begin
            w_entry.state = ThreadJoining;
          end else begin
            w_entry.state = ThreadWaiting;
            w_entry.watch = 6'(watch_q);
            w_entry.timed = timed_q;
            list_op       = ListPushTail;
            list_tid      = from_q;
          end
          send    = 1'b1;
          out     = message(MsgReply, from_pe_q, from_q, {4'd0, ErrBlocked}, '0);
          state_d = StIdle;
        end
      end

      // subject_q becomes ready, or is held back until its context is saved.
      StReady: begin
        w_en     = 1'b1;
        w_tid    = subject_q;
        w_entry  = a;
        list_d   = list;
        list_tid = subject_q;
        if (results_q) begin
          w_entry.word0 = value_q;
          w_entry.err   = err_q;
        end
        w_entry.timed = 1'b0;
        settled_d     = 1'b0;
        state_d       = back_q;
        if (a.has_home && CtxMode == CtxSoft) begin
          w_entry.state = ThreadHeld;
        end else begin
          w_entry.state = ThreadReady;
          if (policy_q == PolicyEdf && !list_empty && !at_head_q) begin
            // Behind the last one whose deadline is not later.
            w_entry.state = ThreadHeld;
            prev_d        = list_head;
            steps_d       = '0;
            state_d       = StPlace;
          end else begin
            list_op = at_head_q || policy_q == PolicyLifo ? ListPushHead : ListPushTail;
          end
        end
      end

      // Earliest deadline first: walks the list from prev_q on. steps_q is 0 while prev_q is the head itself.
      StPlace: begin
        w_tid    = subject_q;
        w_entry  = a;
        list_tid = subject_q;
        w_entry.state = ThreadReady;
        if (steps_q == '0 && deadline_q[subject_q[IndexWidth-1:0]] < deadline_q[prev_q[IndexWidth-1:0]]) begin
          list_op = ListPushHead;
          w_en    = 1'b1;
          state_d = back_q;
        end else if (walk_last || deadline_q[subject_q[IndexWidth-1:0]] < deadline_q[walk_next[IndexWidth-1:0]]) begin
          list_op   = ListInsert;
          list_prev = prev_q;
          w_en      = 1'b1;
          state_d   = back_q;
        end else begin
          prev_d  = walk_next;
          steps_d = 3'd1;
        end
      end

      // Wakes up to left_q of those who wait at watch_q, each through StReady.
      StDrain: begin
        if (list_empty) begin
          release_watch = 1'b1;
          state_d       = answer_q ? StReply : StIdle;
          if (answer_q) value_d = first_q.op == MsgBarrier ? 32'd1 : 32'(woken_q);
        end else if (left_q == '0) begin
          state_d = answer_q ? StReply : StIdle;
          if (answer_q) value_d = 32'(woken_q);
        end else begin
          list_op   = ListPop;
          subject_d = list_head;
          results_d = 1'b1;
          value_d   = '0;
          left_d    = left_q - 12'd1;
          woken_d   = woken_q + 12'd1;
          back_d    = StDrain;
          state_d   = StReady;
        end
      end

      StReply: begin
        if (can_send) begin
          send    = 1'b1;
          out     = message(MsgReply, from_pe_q, from_q, {4'd0, err_q}, value_q);
          state_d = StIdle;
        end
      end

      // Looks for a ready thread that suits a PE with a free slot: one without a home, or at home there.
      StScan: begin
        w_tid   = subject_q;
        w_entry = a;
        if (!place) begin
          settled_d = 1'b1;
          state_d   = StIdle;
        end else if (!a.has_home || (home_has_slot && (home_idle || !place_idle))) begin
          w_en          = 1'b1;
          w_entry.state = ThreadDispatched;
          to_d          = a.has_home ? a.home : place_pe;
          list_op       = steps_q == '0 ? ListPop : ListUnlink;
          pe_fill       = 1'b1;
          fill_pe       = to_d;
          state_d       = StDispatch;
        end else if (!walk_last && steps_q != ScanSteps) begin
          prev_d    = subject_q;
          subject_d = walk_next;
          steps_d   = steps_q + 3'd1;
        end else if (place_idle && can_send) begin
          // Nothing suits. The first one moves: its home saves it, and it comes back by RELEASED.
          w_tid         = list_head;
          w_entry       = b;
          w_en          = 1'b1;
          w_entry.state = ThreadHeld;
          list_op       = ListPop;
          send          = 1'b1;
          out           = message(MsgEvict, b.home, list_head, '0, '0);
          state_d       = StIdle;
        end else if (!place_idle) begin
          settled_d = 1'b1;
          state_d   = StIdle;
        end
      end

      // Two messages; steps_q is 7 when the first is out.
      StDispatch: begin
        if (can_send) begin
          send = 1'b1;
          if (steps_q != '1) begin
            send_more = 1'b1;
            steps_d   = '1;
            out       = message(MsgDispatch0, to_q, subject_q, {3'd0, a.cold, a.generation}, a.word0);
          end else begin
            out     = message(MsgDispatch1, to_q, subject_q, {4'd0, a.err}, a.word1);
            state_d = StIdle;
          end
        end
      end

      // Takes subject_q out of the middle of its list; prev_q walks there from the head.
      StUnlink: begin
        list_prev = prev_q;
        results_d = 1'b1;
        if (prev_q == subject_q) begin
          list_op = ListPop;
          if (walk_last) release_watch = 1'b1;
          state_d = StReady;
        end else if (walk_next == subject_q) begin
          list_op = ListUnlink;
          state_d = StReady;
        end else begin
          prev_d = walk_next;
        end
      end

      // The second message of DEADLINE.
      StDeadline: begin
        if (in_valid && can_send) begin
          in_pop      = 1'b1;
          deadline_we = b.generation == first_q.data[TidWidth+:GenWidth] && b.state != ThreadFree;
          send        = 1'b1;
          out         = message(MsgReply, first_q.pe, first_q.tid, deadline_we ? '0 : {4'd0, ErrSrch}, '0);
          state_d     = StIdle;
        end
      end

      default: state_d = StIdle;
    endcase
  end

  tid_t deadline_tid;
  assign deadline_tid = state_q == StDeadline ? first_q.data[TidWidth-1:0] : first_q.tid;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q     <= StIdle;
      back_q      <= StIdle;
      fresh_q     <= 1;
      policy_q    <= PolicyFifo;
      turn_q      <= 1'b0;
      settled_q   <= 1'b1;
      out_valid_q <= 1'b0;
      out_more_q  <= 1'b0;
      c_tid_q     <= '0;
      booted_q    <= 1'b0;
    end else begin
      state_q     <= state_d;
      back_q      <= back_d;
      fresh_q     <= fresh_d;
      policy_q    <= policy_d;
      turn_q      <= turn_d;
      settled_q   <= settled_d;
      booted_q    <= 1'b1;
      if (can_send) begin
        out_valid_q <= send;
        out_more_q  <= send_more;
      end
      if (!expired) c_tid_q <= 32'(c_tid_q) == Threads - 1 ? '0 : c_tid_q + tid_t'(1);
    end
  end


  always_ff @(posedge clk_i) begin
    if (w_en) table_q[w_tid[IndexWidth-1:0]] <= w_entry;
    if (deadline_we) deadline_q[deadline_tid[IndexWidth-1:0]] <= deadline_d;
    if (arrivals_we) arrivals_q[watch_d] <= arrivals_d;
    if (send && can_send) out_q <= out;
    first_q     <= first_d;
    subject_q   <= subject_d;
    prev_q      <= prev_d;
    from_q      <= from_d;
    from_pe_q   <= from_pe_d;
    value_q     <= value_d;
    err_q       <= err_d;
    results_q   <= results_d;
    at_head_q   <= at_head_d;
    left_q      <= left_d;
    woken_q     <= woken_d;
    answer_q    <= answer_d;
    timed_q     <= timed_d;
    claimed_q   <= claimed_d;
    mutex_hit_q <= mutex_hit_d;
    steps_q     <= steps_d;
    list_q      <= list_d;
    to_q        <= to_d;
    watch_q     <= watch_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && booted_q) begin
      SshMNeverLosesAMessage : assert (!bus_valid_i || in_room != '0);
      SshMDispatchesOnlyReadyThreads : assert (!pe_fill || a.state == ThreadReady);
      SshMWakesOnlyBlockedThreads :
      assert (!(state_q == StReady && results_q) || a.state == ThreadJoining || a.state == ThreadWaiting);
      SshMSendsOnlyWhenItCan : assert (!send || can_send);
    end
  end
`endif

endmodule
