// SPDX-License-Identifier: Apache-2.0
// What SSH-m does on a PE's message: creation, exit, join, yield, priorities and deadlines itself; what has to do with watched words
// (WAIT, WAKE, BARRIER) it hands to the waiting unit, whole, in one cycle of `wait_start_o`.
//
// Messages are taken in order, most in one cycle. `want_o` says that the one at the FIFO's head can be dealt with now; `grant_i`
// gives it the cycle: the tables' readers a and b, one action, and the message leaves the FIFO (`pop_o`).
// Blocking: the reply 255 goes out only with the write of the thread's state, so its waking, which comes through here, too,
// cannot be lost.

module message_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       valid_i,
  input  sched_msg_t in_i,
  // As a group's only message it wants an answer at once; it is the waiting unit's.
  input  logic       asks_i,
  input  logic       waits_i,
  output logic       pop_o,
  input  logic       can_send_i,

  output logic       want_o,
  input  logic       grant_i,
  output tid_t       a_tid_o,
  output tid_t       b_tid_o,
  input  thread_t    a_i,
  input  thread_t    b_i,
  output logic [31:0] handle_o,
  input  logic       known_i,
  output action_t    action_o,

  input  logic       alloc_i,
  input  logic       alloc_fresh_i,
  input  tid_t       alloc_tid_i,
  output logic       take_o,

  output logic       stop_o,
  output logic       start_o,
  output logic       rank_o,
  output pe_t        at_o,
  output tid_t       at_tid_o,
  output prio_t      at_prio_o,
  input  logic       told_i,
  output logic       recalled_o,
  output logic       recall_done_o,
  // An id of the PE's pool was used; or the pool was empty and the PE asks for an id.
  output logic       created_o,
  output logic       asks_o,

  output logic       due_we_o,
  output logic       goal_we_o,
  output tid_t       deadline_tid_o,
  output time_t      deadline_o,

  // The message at hand is the last one of a WAIT, or WAKE or BARRIER, which is handed over by `wait_start_o`.
  output logic       wait_next_o,
  output logic       wait_start_o,
  input  logic       wait_ready_i,
  output sched_msg_t wait_first_o,
  output logic [31:0] wait_value_o,
  output logic       wait_timed_o,

  output policy_e    policy_o
);

  typedef enum logic [2:0] {
    StIdle,
    StCreate,
    StWait,
    StWaitTime,
    StDeadline,
    StJoiner,
    StBlock
  } state_e;

  state_e      state_q, state_d;
  sched_msg_t  first_q, first_d;   // the first message of a group
  logic [31:0] value_q, value_d;   // the word of the second message, or the value that a thread returns to its joiner
  tid_t        joiner_q, joiner_d;
  policy_e     policy_q, policy_d;

  assign policy_o = policy_q;

  // Whether the message can be processed now.

  always_comb begin
    unique case (state_q)
      StIdle:     want_o = valid_i && !(asks_i && !can_send_i) && !(waits_i && !wait_ready_i);
      StCreate:   want_o = valid_i && !(first_q.aux[11] && !can_send_i);
      StWait:     want_o = valid_i && (first_q.aux[8] || wait_ready_i);
      StWaitTime: want_o = valid_i && wait_ready_i;
      StDeadline: want_o = valid_i && can_send_i;
      StBlock:    want_o = can_send_i;
      default:    want_o = 1'b1;
    endcase
  end

  // The rows of the tables that are read.

  logic without_id;
  // The PE's pool was empty (bit 11): its thread asks for an id, and gets it as an answer.
  assign without_id = first_q.aux[11];

  always_comb begin
    unique case (state_q)
      StCreate: a_tid_o = without_id ? alloc_tid_i : first_q.tid;
      StJoiner: a_tid_o = joiner_q;
      StBlock:  a_tid_o = first_q.tid;
      default:  a_tid_o = in_i.tid;
    endcase
  end
  assign handle_o = state_q == StDeadline ? first_q.data : in_i.data;
  assign b_tid_o  = handle_o[TidWidth-1:0];

  // Watched words.

  assign wait_first_o = state_q == StIdle ? in_i : first_q;
  assign wait_value_o = state_q == StWait ? in_i.data : value_q;
  assign wait_timed_o = state_q == StWaitTime;
  assign wait_next_o  = valid_i && ((state_q == StIdle && waits_i) || (state_q == StWait && !first_q.aux[8]) ||
                                    state_q == StWaitTime);
  assign wait_start_o = grant_i && wait_next_o;

  // State machine.

  action_t act;
  assign action_o = act;

  always_comb begin
    state_d        = state_q;
    first_d        = first_q;
    value_d        = value_q;
    joiner_d       = joiner_q;
    policy_d       = policy_q;
    pop_o          = 1'b0;
    take_o         = 1'b0;
    stop_o         = 1'b0;
    start_o        = 1'b0;
    rank_o         = 1'b0;
    at_o           = in_i.pe;
    at_tid_o       = in_i.tid;
    at_prio_o      = a_i.prio;
    recalled_o     = 1'b0;
    recall_done_o  = 1'b0;
    created_o      = 1'b0;
    asks_o         = 1'b0;
    due_we_o       = 1'b0;
    goal_we_o      = 1'b0;
    deadline_tid_o = first_q.tid;
    deadline_o     = {in_i.aux, in_i.data};
    act            = '0;
    act.tid        = a_tid_o;
    act.entry      = a_i;
    act.to         = FreeList;

    if (grant_i) begin
      pop_o = 1'b1;
      unique case (state_q)
        StIdle: begin
          first_d = in_i;
          unique case (in_i.op)
            MsgStart: begin
              act.write          = 1'b1;
              act.stirs          = 1'b1;
              act.entry.state    = ThreadRunning;
              act.entry.cold     = 1'b0;
              act.entry.has_home = 1'b1;
              act.entry.home     = in_i.pe;
              start_o            = 1'b1;
            end
            MsgReleased: begin
              act.write          = 1'b1;
              act.stirs          = 1'b1;
              act.entry.has_home = 1'b0;
              act.ready          = a_i.state == ThreadHeld;
              act.at_tail        = a_i.timed;
            end
            MsgRecalled, MsgKept: begin
              recall_done_o = 1'b1;
              recalled_o    = in_i.op == MsgRecalled;
              act.stirs     = 1'b1;
              act.write     = recalled_o;
              act.ready     = recalled_o;
              act.at_head   = 1'b1;
            end
            MsgCreate0:   state_d = StCreate;
            MsgWait0:     state_d = StWait;
            MsgDeadline0: state_d = StDeadline;
            MsgPolicy:    policy_d = policy_e'(in_i.aux[2:0]);
            MsgExit: begin
              stop_o               = 1'b1;
              act.write            = 1'b1;
              act.stirs            = 1'b1;
              act.entry.has_home   = 1'b0;
              act.entry.has_joiner = 1'b0;
              if (a_i.has_joiner || a_i.detached) begin
                act.entry.state      = ThreadFree;
                act.entry.generation = a_i.generation + gen_t'(1);
                act.op               = ListPushTail;
              end else begin
                act.entry.state = ThreadZombie;
                act.entry.word0 = in_i.data;
              end
              value_d  = in_i.data;
              joiner_d = a_i.joiner;
              if (a_i.has_joiner) state_d = StJoiner;
            end
            MsgJoin, MsgDetach: begin
              act.send  = 1'b1;
              act.msg   = message(MsgReply, in_i.pe, in_i.tid, '0, '0);
              act.tid   = b_tid_o;
              act.entry = b_i;
              if (!known_i) begin
                act.msg.aux = {4'd0, ErrSrch};
              end else if (in_i.op == MsgJoin && (b_tid_o == in_i.tid || (a_i.has_joiner && a_i.joiner == b_tid_o))) begin
                act.msg.aux = {4'd0, ErrDeadlk};
              end else if (b_i.detached || b_i.has_joiner) begin
                act.msg.aux = {4'd0, ErrInval};
              end else if (b_i.state == ThreadZombie) begin
                act.msg.data         = in_i.op == MsgJoin ? b_i.word0 : '0;
                act.write            = 1'b1;
                act.entry.state      = ThreadFree;
                act.entry.generation = b_i.generation + gen_t'(1);
                act.op               = ListPushTail;
              end else if (in_i.op == MsgDetach) begin
                act.write          = 1'b1;
                act.entry.detached = 1'b1;
              end else begin
                act.send             = 1'b0;
                act.write            = 1'b1;
                act.entry.has_joiner = 1'b1;
                act.entry.joiner     = in_i.tid;
                state_d              = StBlock;
              end
            end
            MsgYield: begin
              stop_o          = 1'b1;
              act.write       = 1'b1;
              act.ready       = 1'b1;
              // A thread that makes way for one of a higher priority has not had its turn yet.
              act.at_head     = told_i;
              act.at_tail     = 1'b1;
              act.entry.word0 = in_i.data;
              act.entry.err   = in_i.aux[7:0];
            end
            MsgSetPrio: begin
              act.send       = 1'b1;
              act.msg        = message(MsgReply, in_i.pe, in_i.tid, known_i ? '0 : {4'd0, ErrSrch}, '0);
              act.write      = known_i;
              act.stirs      = 1'b1;
              act.tid        = b_tid_o;
              act.entry      = b_i;
              act.entry.prio = in_i.aux[PrioWidth-1:0];
              rank_o         = known_i && b_i.state == ThreadRunning;
              at_o           = b_i.home;
              at_prio_o      = in_i.aux[PrioWidth-1:0];
            end
            default: ;
          endcase
        end

        // The argument of a new thread.
        StCreate: begin
          state_d              = StIdle;
          take_o               = without_id && alloc_i;
          created_o            = !without_id;
          asks_o               = without_id;
          at_o                 = first_q.pe;
          goal_we_o            = take_o || created_o;
          deadline_tid_o       = a_tid_o;
          deadline_o           = '1;
          act.write            = goal_we_o;
          act.ready            = goal_we_o;
          act.entry            = '0;
          act.entry.generation = without_id && alloc_fresh_i ? gen_t'(1) : a_i.generation;
          act.entry.prio       = first_q.aux[PrioWidth-1:0];
          act.entry.detached   = first_q.aux[4];
          act.entry.cold       = 1'b1;
          act.entry.word0      = first_q.data;
          act.entry.word1      = in_i.data;
          act.op               = take_o && !alloc_fresh_i ? ListPop : ListNone;
          act.send             = without_id;
          act.msg              = message(MsgReply, first_q.pe, first_q.tid, '0, {16'd0, act.entry.generation, a_tid_o});
          if (!goal_we_o) act.msg = message(MsgReply, first_q.pe, first_q.tid, {4'd0, ErrAgain}, '0);
        end

        // The value that a waiting thread expects, and then, if it set one, its deadline.
        StWait: begin
          value_d = in_i.data;
          state_d = first_q.aux[8] ? StWaitTime : StIdle;
        end
        StWaitTime: begin
          due_we_o = 1'b1;
          state_d  = StIdle;
        end

        // The second message of DEADLINE.
        StDeadline: begin
          goal_we_o      = known_i;
          deadline_tid_o = b_tid_o;
          act.send       = 1'b1;
          act.msg        = message(MsgReply, first_q.pe, first_q.tid, known_i ? '0 : {4'd0, ErrSrch}, '0);
          state_d        = StIdle;
        end

        // The joiner of the thread that has ended goes on.
        StJoiner: begin
          pop_o           = 1'b0;
          act.write       = 1'b1;
          act.ready       = 1'b1;
          act.entry.word0 = value_q;
          act.entry.err   = ErrNone;
          state_d         = StIdle;
        end

        // A joining thread blocks, and its PE is told so.
        default: begin
          pop_o           = 1'b0;
          stop_o          = 1'b1;
          at_o            = first_q.pe;
          at_tid_o        = first_q.tid;
          act.write       = 1'b1;
          act.stirs       = 1'b1;
          act.entry.state = ThreadJoining;
          act.send        = 1'b1;
          act.msg         = message(MsgReply, first_q.pe, first_q.tid, {4'd0, ErrBlocked}, '0);
          state_d         = StIdle;
        end
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q  <= StIdle;
      policy_q <= PolicyFifo;
    end else begin
      state_q  <= state_d;
      policy_q <= policy_d;
    end
  end

  always_ff @(posedge clk_i) begin
    first_q  <= first_d;
    value_q  <= value_d;
    joiner_q <= joiner_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni && grant_i) begin
      MessageUnitIsGrantedOnlyWhatItWants : assert (want_o);
      MessageUnitStartsOnlyWhatWasDispatched : assert (!start_o || a_i.state == ThreadDispatched);
      MessageUnitStopsOnlyWhatRuns : assert (!stop_o || a_i.state == ThreadRunning);
      MessageUnitWakesOnlyAJoiner : assert (state_q != StJoiner || a_i.state == ThreadJoining);
      MessageUnitGivesAThreadOneJoiner :
      assert (!(state_q == StIdle && state_d == StBlock) || (!b_i.has_joiner && b_i.state != ThreadZombie));
      MessageUnitCreatesOnlyWithAnIdThatIsGranted :
      assert (!(state_q == StCreate && !without_id) || a_i.state == ThreadGranted);
    end
  end
`endif

endmodule
