// SPDX-License-Identifier: Apache-2.0
// Waiting at words: WAIT, WAKE and BARRIER, stores to watched words, and waits whose time has come. One of these at a time.
//
// A WAIT claims an entry of the watch unit first and compares the word afterwards, by the memory bus: a store in between is
// counted in the entry. Others' messages go on meanwhile; the compare needs nobody's cycle. For a mutex it is an exchange with
// 1, and a store of 0 later is answered with another one: who wins it has the mutex handed to it.
// The last to come to a barrier is answered at once, and with the one message RELEASE every PE goes on that has been idle since its
// thread came there; then all are taken off the list, one a cycle, those who did not go on by themselves to the ready lists.
// Until that is done no other message is dealt with, so their STARTs find the table as it must be.
//
// `want_o` and `grant_i`: a cycle with the tables and one action, as in message_unit. With `Staged` the grant comes later than what it
// was decided on, so a message that can be taken up keeps stores and deadlines waiting, and the entry of its word is looked up ahead.

module waiting_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned Watches = 16,
  parameter ctx_mode_e   CtxMode = CtxBanked,
  parameter bit          Staged  = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  mem_snoop_t  snoop_i,

  // Grants are for this cycle. A message for this unit is at hand; it is here.
  input  logic        acts_i,
  input  logic        next_start_i,
  input  logic        start_i,
  output logic        ready_o,
  input  sched_msg_t  first_i,
  input  logic [31:0] value_i,
  input  logic        timed_i,

  // The thread that the scan for deadlines stands at, and whether its wait has to end.
  input  logic        expired_i,
  input  tid_t        expired_tid_i,
  input  logic [5:0]  expired_watch_i,

  input  logic        can_send_i,
  output logic        want_o,
  input  logic        grant_i,
  output tid_t        a_tid_o,
  output list_t       list_o,
  output tid_t        walk_o,
  // The head of that list, for the choice of the rows; the others are what was read.
  input  tid_t        look_head_i,
  input  tid_t        a_tid_i,
  input  thread_t     a_i,
  input  tid_t        head_i,
  input  logic        empty_i,
  input  tid_t        walk_i,
  input  tid_t        next_i,
  input  logic        last_i,
  output action_t     action_o,

  // The change of a PE, for the PE table.
  output logic        stop_o,
  output logic        mark_o,
  output pe_t         at_o,
  output tid_t        at_tid_o,
  output logic [5:0]  watch_o,
  input  logic        marked_i,
  output logic        release_o,
  input  logic        release_any_i,
  input  logic        direct_i,

  output logic        mem_valid_o,
  output mem_req_t    mem_req_o,
  input  logic        mem_ready_i,
  input  mem_rsp_t    mem_rsp_i
);

  localparam int unsigned IndexWidth = Watches > 1 ? $clog2(Watches) : 1;
  localparam logic [1:0] KindBarrier = 2'd3;
  typedef logic [IndexWidth-1:0] index_t;

  typedef enum logic [2:0] {
    StIdle,
    StFind,
    StCompare,
    StBlock,
    StReply,
    StDrain,
    StUnlink,
    StLate
  } state_e;

  state_e      state_q, state_d;
  sched_msg_t  first_q, first_d;
  logic [31:0] value_q, value_d;      // the expected value; in an answer, RES
  logic [7:0]  err_q, err_d;
  logic        timed_q, timed_d;
  logic        claimed_q, claimed_d;  // the entry was not there before
  logic        handing_q, handing_d;  // StCompare: a mutex was unlocked
  logic        answers_q, answers_d;  // StDrain: a WAKE waits for its answer
  logic [11:0] left_q, left_d;        // StDrain: how many more to wake
  logic [11:0] woken_q, woken_d;
  index_t      watch_q, watch_d;
  tid_t        subject_q, subject_d;  // the thread whose deadline has passed
  tid_t        prev_q, prev_d;
  logic        begins_q, begins_d;    // StUnlink: at the list's head
  logic        turn_q, turn_d;

  // Watched words.

  logic        found_now, found, has_free, claim, release_watch, hit, take_hit;
  index_t      found_index_now, found_index, free_index, hit_index;
  logic [31:0] watch_addr;
  logic [1:0]  claim_kind, watch_kind, hit_kind;
  logic [3:0]  hit_count;
  watch_unit #(
    .Watches(Watches)
  ) u_watches (
    .clk_i,
    .rst_ni,
    .snoop_i,
    .find_addr_i    (first_q.data),
    .found_o        (found_now),
    .index_o        (found_index_now),
    .free_o         (has_free),
    .free_index_o   (free_index),
    .claim_i        (claim),
    .claim_kind_i   (claim_kind),
    .release_i      (release_watch),
    .release_index_i(watch_q),
    .read_index_i   (state_q == StFind ? found_index : watch_q),
    .read_addr_o    (watch_addr),
    .read_kind_o    (watch_kind),
    .hit_o          (hit),
    .hit_index_o    (hit_index),
    .hit_count_o    (hit_count),
    .hit_kind_o     (hit_kind),
    .take_i         (take_hit)
  );

  // The word was there a cycle ago already, and nobody but this unit changes the entries' words.
  if (Staged) begin : gen_find
    always_ff @(posedge clk_i) begin
      found       <= found_now;
      found_index <= found_index_now;
    end
  end else begin : gen_no_find
    assign found       = found_now;
    assign found_index = found_index_now;
  end

  // How many are still to come to the barrier of an entry.
  logic [11:0] arrivals_q[Watches];
  logic [11:0] arrivals, arrivals_d;
  logic        arrivals_we;
  assign arrivals = arrivals_q[found_index];

  assign mem_valid_o = state_q == StCompare;
  assign mem_req_o   = '{
    kind: watch_kind == WaitMutex ? MemExchange : MemRead,
    we: 1'b0,
    addr: watch_addr,
    wdata: 32'd1,
    be: 4'b1111,
    len: 6'd0
  };

  // The rows of the tables that are read, and when.

  // Messages take turns with stores and deadlines.
  logic rests, expire, booked;
  assign rests   = state_q == StIdle;
  assign ready_o = rests && ((Staged && acts_i) || !(turn_q && (hit || expired_i)));
  assign booked  = Staged && next_start_i && ready_o;
  assign expire  = rests && !start_i && !booked && !hit && expired_i;

  assign list_o = list_of_watch(6'(watch_q));
  always_comb begin
    unique case (state_q)
      StBlock: a_tid_o = first_q.tid;
      StDrain: a_tid_o = look_head_i;
      default: a_tid_o = subject_q;
    endcase
  end
  assign walk_o = state_q == StUnlink && !begins_q ? prev_q : look_head_i;
  always_comb begin
    unique case (state_q)
      StIdle, StCompare:        want_o = 1'b0;
      StFind, StBlock, StReply: want_o = can_send_i;
      default:                  want_o = 1'b1;
    endcase
  end

  assign at_o     = first_q.pe;
  assign at_tid_o = first_q.tid;
  assign watch_o  = state_q == StFind ? 6'(found_index) : 6'(watch_q);

  logic is_barrier, is_other, last_comes;
  assign is_barrier = first_q.op == MsgBarrier;
  // A barrier's word cannot be waited at by WAIT, nor a word of WAIT used as a barrier.
  assign is_other   = found && (watch_kind == KindBarrier) != is_barrier;
  assign last_comes = is_barrier && (found ? arrivals == 12'd1 : first_q.aux <= 12'd1);

  // State machine.

  action_t act;
  assign action_o = act;

  always_comb begin
    state_d       = state_q;
    first_d       = first_q;
    value_d       = value_q;
    err_d         = err_q;
    timed_d       = timed_q;
    claimed_d     = claimed_q;
    handing_d     = handing_q;
    answers_d     = answers_q;
    left_d        = left_q;
    woken_d       = woken_q;
    watch_d       = watch_q;
    subject_d     = subject_q;
    prev_d        = prev_q;
    begins_d      = 1'b0;
    turn_d        = turn_q;
    claim         = 1'b0;
    claim_kind    = is_barrier ? KindBarrier : first_q.aux[1:0];
    release_watch = 1'b0;
    take_hit      = 1'b0;
    arrivals_we   = 1'b0;
    arrivals_d    = (found ? arrivals : first_q.aux) - 12'd1;
    stop_o        = 1'b0;
    mark_o        = 1'b0;
    release_o     = 1'b0;
    act           = '0;
    act.tid       = a_tid_i;
    act.entry     = a_i;
    act.to        = list_o;

    unique case (state_q)
      StIdle: begin
        claimed_d = 1'b0;
        handing_d = 1'b0;
        answers_d = 1'b0;
        woken_d   = '0;
        err_d     = ErrNone;
        value_d   = value_i;
        timed_d   = timed_i;
        first_d   = first_i;
        if (start_i) begin
          turn_d  = 1'b1;
          state_d = StFind;
        end else if (hit && !booked) begin
          turn_d   = 1'b0;
          first_d  = '0;
          take_hit = 1'b1;
          watch_d  = hit_index;
          left_d   = hit_count == '1 || hit_kind == WaitFlag ? '1 : {8'd0, hit_count};
          state_d  = StDrain;
          if (hit_kind == WaitMutex) begin
            handing_d = 1'b1;
            left_d    = 12'd1;
            state_d   = StCompare;
          end
        end else if (expire) begin
          turn_d    = 1'b0;
          first_d   = '0;
          watch_d   = index_t'(expired_watch_i);
          subject_d = expired_tid_i;
          begins_d  = 1'b1;
          state_d   = StUnlink;
        end
      end

      // The entry of the word: one that is there, or a new one.
      StFind: begin
        if (grant_i) begin
          watch_d = found ? found_index : free_index;
          if (first_q.op == MsgWake) begin
            answers_d = 1'b1;
            value_d   = '0;
            left_d    = first_q.aux;
            state_d   = found && !is_other && first_q.aux != '0 ? StDrain : StReply;
          end else if (is_other || (!found && !has_free && !last_comes)) begin
            err_d   = ErrAgain;
            value_d = '0;
            left_d  = '0;
            state_d = StReply;
          end else if (last_comes) begin
            value_d   = 32'd1;
            left_d    = found ? '1 : '0;
            release_o = found;
            act.send  = found && release_any_i;
            act.msg   = message(MsgRelease, '0, '0, '0, {26'd0, watch_o});
            state_d   = StReply;
          end else begin
            claim       = !found;
            claimed_d   = !found;
            arrivals_we = is_barrier;
            left_d      = '0;
            state_d     = is_barrier ? StBlock : StCompare;
          end
        end
      end

      // The word itself, by the memory bus: compared, or for a mutex exchanged with 1.
      StCompare: begin
        if (mem_ready_i) begin
          if (handing_q) begin
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

      // The thread that sent the message blocks at watch_q, and its PE is told so.
      StBlock: begin
        if (grant_i) begin
          stop_o          = 1'b1;
          mark_o          = is_barrier && CtxMode != CtxSoft;
          act.write       = 1'b1;
          act.stirs       = 1'b1;
          act.entry.state = ThreadWaiting;
          act.entry.watch = 6'(watch_q);
          act.entry.timed = timed_q;
          act.op          = ListPushTail;
          act.send        = 1'b1;
          act.msg         = message(MsgReply, first_q.pe, first_q.tid, {4'd0, ErrBlocked},
                                    mark_o && marked_i ? {1'b1, 25'd0, 6'(watch_q)} : '0);
          state_d         = StIdle;
        end
      end

      // The thread that sent the message gets its answer. The other threads of its barrier are still in the list.
      StReply: begin
        if (grant_i) begin
          act.send = 1'b1;
          act.msg  = message(MsgReply, first_q.pe, first_q.tid, {4'd0, err_q}, value_q);
          state_d  = is_barrier && left_q != '0 ? StDrain : StIdle;
        end
      end

      // Wakes up to left_q of the threads that wait at watch_q.
      StDrain: begin
        if (grant_i) begin
          release_watch   = last_i;
          left_d          = left_q - 12'd1;
          woken_d         = woken_q + 12'd1;
          value_d         = 32'(woken_d);
          act.write       = 1'b1;
          act.op          = ListPop;
          act.entry.word0 = '0;
          act.entry.err   = ErrNone;
          act.entry.state = ThreadDispatched;
          act.ready       = !(is_barrier && direct_i);
          if (last_i || left_q == 12'd1) state_d = answers_q ? StReply : StIdle;
        end
      end

      // Takes subject_q out of the middle of its list; prev_q walks there from the head.
      StUnlink: begin
        prev_d          = next_i;
        act.prev        = walk_i;
        act.entry.word0 = '0;
        act.entry.err   = ErrTimedout;
        if (grant_i && begins_q && head_i == subject_q) begin
          act.write     = 1'b1;
          act.ready     = 1'b1;
          act.op        = ListPop;
          release_watch = last_i;
          state_d       = StIdle;
        end else if (grant_i && next_i == subject_q) begin
          act.write       = 1'b1;
          act.entry.state = ThreadHeld;
          act.op          = ListUnlink;
          state_d         = StLate;
        end else if (!grant_i) begin
          prev_d   = prev_q;
          begins_d = begins_q;
        end
      end

      // The thread has left the list.
      default: begin
        if (grant_i) begin
          act.write       = 1'b1;
          act.ready       = 1'b1;
          act.entry.word0 = '0;
          act.entry.err   = ErrTimedout;
          state_d         = StIdle;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= StIdle;
      turn_q  <= 1'b0;
    end else begin
      state_q <= state_d;
      turn_q  <= turn_d;
    end
  end

  always_ff @(posedge clk_i) begin
    if (arrivals_we) arrivals_q[watch_d] <= arrivals_d;
    first_q   <= first_d;
    value_q   <= value_d;
    err_q     <= err_d;
    timed_q   <= timed_d;
    claimed_q <= claimed_d;
    handing_q <= handing_d;
    answers_q <= answers_d;
    left_q    <= left_d;
    woken_q   <= woken_d;
    watch_q   <= watch_d;
    subject_q <= subject_d;
    prev_q    <= prev_d;
    begins_q  <= begins_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WaitingUnitIsStartedOnlyWhenReady : assert (!start_i || ready_o);
      WaitingUnitIsGrantedOnlyWhatItWants : assert (!grant_i || want_o);
      WaitingUnitBlocksOnlyWhoRuns : assert (!stop_o || a_i.state == ThreadRunning);
      WaitingUnitWakesOnlyWhoWaits :
      assert (!act.ready || a_i.state == (state_q == StLate ? ThreadHeld : ThreadWaiting));
      WaitingUnitWakesAtTheWordWaitedFor : assert (!act.ready || index_t'(a_i.watch) == watch_q);
      // Hence a mutex that SSH-m takes, in answer to a store of 0, is always handed to a thread.
      WaitingUnitWakesOnlyWhereSomebodyWaits : assert (!(state_q == StDrain && grant_i) || !empty_i);
    end
  end
`endif

endmodule
