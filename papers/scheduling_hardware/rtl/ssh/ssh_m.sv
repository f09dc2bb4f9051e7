// SPDX-License-Identifier: Apache-2.0
// SSH-m: the global thread table, the ready lists, the policy, joins, barriers and waiting, in hardware.
//
//   scheduler bus --> FIFO --> message_unit ----> waiting_unit <--> memory bus (compare, hand-off), snooped stores
//                                   |                 |
//                    tables: thread_table, list_unit, pe_table, deadline_unit   <-- ready_unit: the policies
//                                   |
//   scheduler bus <-- register <-- dispatcher
//
// The tables serve one engine a cycle, whose action (ssh_pkg::action_t) takes effect at the cycle's end. In this order: the ready unit
// while it sorts a thread in, the dispatcher while it searches a list, the waiting unit; messages and the dispatcher take turns, so
// neither starves the other. Pools of ids are refilled when nothing else is to be done, or before they are empty.
//
// With `Staged` an action takes three cycles instead, for a higher clock, and the next one begins behind it: the engine is chosen and
// its rows are read (look), it acts on them and sends its message (act), and threads and lists are changed (write; left out where
// nothing changes). Choices of the PE table, entries of watched words and the deadline that the scan found are those of a cycle ago.
//
// A thread is in exactly one state (ssh_pkg::thread_state_e) and in at most one list. Its context is in a bank of its home PE
// (`has_home`) until that PE says RELEASED; a thread that becomes ready before that in SOFT mode is held back.

module ssh_m
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned NumPes   = 8,
  parameter int unsigned Threads  = 256,
  parameter int unsigned Watches  = 16,
  parameter int unsigned PoolSize = 4,
  parameter ctx_mode_e   CtxMode  = CtxBanked,
  parameter bit          Staged   = 1'b0
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

  localparam int unsigned FifoDepth = 8;
  localparam int unsigned Lists = ReadyLists + 1 + Watches;
  localparam int unsigned ListWidth = $clog2(Lists);

  // Low in the first cycle after reset, in which thread 0, PE 0's, comes into the table.
  logic booted_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) booted_q <= 1'b0;
    else booted_q <= 1'b1;
  end

  // Incoming messages.

  logic       in_valid, in_pop;
  sched_msg_t in;
  // Known when it came: what the choice of the engine asks of a message.
  logic       bus_asks, bus_waits, in_asks, in_waits;
  assign bus_asks  = bus_msg_i.op == MsgJoin || bus_msg_i.op == MsgDetach || bus_msg_i.op == MsgSetPrio;
  assign bus_waits = bus_msg_i.op == MsgWake || bus_msg_i.op == MsgBarrier;
  logic [3:0] in_room;
  logic       unused_in_ready;
  fifo #(
    .Width($bits(sched_msg_t) + 2),
    .Depth(FifoDepth)
  ) u_in (
    .clk_i,
    .rst_ni,
    .valid_i(bus_valid_i),
    .ready_o(unused_in_ready),
    .data_i ({bus_asks, bus_waits, bus_msg_i}),
    .valid_o(in_valid),
    .ready_i(in_pop),
    .data_o ({in_asks, in_waits, in}),
    .room_o (in_room)
  );
  // Room for the longest group of messages: once a PE has begun a group, SSH-m, which cannot send meanwhile, must take
  // all of it.
  assign bus_room_o = in_room >= 4'd3;

  // The engine that has the tables in this cycle.

  logic m_want, w_want, d_want, d_presses, d_scans, r_busy, m_pick, w_pick, d_pick, m_grant, w_grant, d_grant, r_grant, turn_q;
  assign w_pick = booted_q && !r_busy && !d_scans && w_want;
  assign m_pick = booted_q && !r_busy && !d_scans && !w_want && m_want && !(turn_q && d_presses);
  assign d_pick = booted_q && !r_busy && d_want && (d_scans || !(w_want || m_pick));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= 1'b0;
    else if (m_grant || d_grant) turn_q <= m_grant;
  end

  // The tables, and their rows that are read.

  // What is read for the engine that is chosen (`look_*`), and what an engine with a grant is shown: the same, or with `Staged` that of
  // a cycle ago.
  tid_t    look_a_tid, look_b_tid, look_head, look_tail, look_walk, a_tid, head, walk, next;
  thread_t look_a, look_b, a, b;
  list_t   look_list, from;
  logic    look_last, last;
  action_t m_act, w_act, d_act, granted_act, act;
  tid_t    m_a_tid, m_b_tid, w_a_tid, d_a_tid, c_tid, expired_tid;
  thread_t c, boot_entry;
  logic    c_used, due, due_now, expired;
  logic [5:0] expired_watch;
  list_t   w_list, d_list;
  logic [$clog2(ReadyLists)-1:0] d_ready_list;
  tid_t    w_walk, d_walk, r_walk, r_tid, d_head, w_head, op_head, free_head;
  logic    op_empty, before_walk, before_next;
  logic [Lists-1:0] empties;
  tid_t [Lists-1:0] heads, tails;
  logic [31:0]      handle;
  logic    known, m_take, d_take, alloc, alloc_fresh;
  tid_t    alloc_tid;
  policy_e policy;

  // Each engine has the head of its own list before it is known whose cycle it is.
  assign d_head = heads[d_ready_list];
  assign w_head = heads[w_list[ListWidth-1:0]];
  always_comb begin
    look_a_tid = m_a_tid;
    if (r_busy) look_a_tid = r_tid;
    else if (d_pick) look_a_tid = d_a_tid;
    else if (w_pick) look_a_tid = w_a_tid;
  end
  always_comb begin
    look_list = FreeList;
    look_head = heads[ReadyLists];
    look_tail = tails[ReadyLists];
    if (r_busy) begin
      look_list = '0;
      look_head = heads[0];
      look_tail = tails[0];
    end else if (d_pick) begin
      look_list = d_list;
      look_head = d_head;
      look_tail = tails[d_ready_list];
    end else if (w_pick) begin
      look_list = w_list;
      look_head = w_head;
      look_tail = tails[w_list[ListWidth-1:0]];
    end
  end
  always_comb begin
    look_walk = w_walk;
    if (r_busy) look_walk = r_walk;
    else if (d_pick) look_walk = d_walk;
  end
  assign look_b_tid = d_pick ? d_head : m_b_tid;
  assign look_last  = look_walk == look_tail;

  // The steps of an action.

  // Whether an engine is chosen in this cycle; whether one acts; whether what it did is still to be written, as `done` with the list
  // `from`.
  logic    chooses, acts, writes;
  logic    pe_release;
  action_t done;
  if (Staged) begin : gen_steps
    typedef enum logic [1:0] {
      StepLook,
      StepAct,
      StepWrite
    } step_e;
    step_e   step_q;
    logic    m_q, w_q, d_q, r_q, changes;
    tid_t    a_tid_q, head_q, walk_q;
    thread_t a_q, b_q;
    list_t   from_q;
    logic    last_q;
    action_t act_q;

    assign chooses = step_q == StepLook && (m_pick || w_pick || d_pick || (booted_q && r_busy));
    assign acts    = step_q == StepAct;
    assign writes  = step_q == StepWrite;
    assign m_grant = acts && m_q;
    assign w_grant = acts && w_q;
    assign d_grant = acts && d_q;
    assign r_grant = acts && r_q;
    assign a_tid   = a_tid_q;
    assign a       = a_q;
    assign b       = b_q;
    assign from    = from_q;
    assign head    = head_q;
    assign walk    = walk_q;
    assign last    = last_q;
    always_comb begin
      done       = act_q;
      done.write = act_q.write && writes;
      if (!writes) done.op = ListNone;
    end
    // What the dispatcher does changes the PE table, if nothing else, and a policy what is made of that table.
    assign changes = act.write || act.stirs || d_q || pe_release || (m_q && in.op == MsgPolicy);

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        step_q <= StepLook;
      end else begin
        unique case (step_q)
          StepLook: if (chooses) step_q <= StepAct;
          StepAct:  step_q <= changes ? StepWrite : StepLook;
          default:  step_q <= StepLook;
        endcase
      end
    end
    always_ff @(posedge clk_i) begin
      if (step_q == StepLook) begin
        m_q     <= m_pick;
        w_q     <= w_pick;
        d_q     <= d_pick;
        r_q     <= r_busy;
        a_tid_q <= look_a_tid;
        a_q     <= look_a;
        b_q     <= look_b;
        from_q  <= look_list;
        head_q  <= look_head;
        walk_q  <= look_walk;
        last_q  <= look_last;
      end
      act_q <= act;
    end
  end else begin : gen_one_step
    assign chooses = 1'b0;
    assign acts    = 1'b1;
    assign writes  = 1'b0;
    assign m_grant = m_pick;
    assign w_grant = w_pick;
    assign d_grant = d_pick;
    assign r_grant = r_busy;
    assign a_tid   = look_a_tid;
    assign a       = look_a;
    assign b       = look_b;
    assign from    = look_list;
    assign head    = look_head;
    assign walk    = look_walk;
    assign last    = look_last;
    assign done    = act;
  end

  always_comb begin
    granted_act = '0;
    if (m_grant) granted_act = m_act;
    else if (w_grant) granted_act = w_act;
    else if (d_grant) granted_act = d_act;
  end

  assign boot_entry = '{state: ThreadRunning, generation: gen_t'(1), has_home: 1'b1, default: '0};
  thread_table #(
    .Threads(Threads)
  ) u_threads (
    .clk_i,
    .rst_ni,
    .a_tid_i      (look_a_tid),
    .a_o          (look_a),
    .b_tid_i      (look_b_tid),
    .b_o          (look_b),
    .c_tid_i      (c_tid),
    .c_o          (c),
    .c_used_o     (c_used),
    .write_i      (done.write || !booted_q),
    .write_tid_i  (booted_q ? done.tid : '0),
    .write_entry_i(booted_q ? done.entry : boot_entry),
    .handle_i     (handle),
    .named_i      (b),
    .known_o      (known),
    .take_i       (m_take || d_take),
    .free_empty_i (empties[ReadyLists]),
    .free_head_i  (free_head),
    .alloc_o      (alloc),
    .alloc_fresh_o(alloc_fresh),
    .alloc_tid_o  (alloc_tid)
  );

  list_unit #(
    .Staged  (Staged),
    .Threads (Threads),
    .Lists   (Lists),
    .SideList(ReadyLists)
  ) u_lists (
    .clk_i,
    .rst_ni,
    .op_i       (done.op),
    .list_i     (from[ListWidth-1:0]),
    .to_i       (done.to[ListWidth-1:0]),
    .tid_i      (done.tid),
    .prev_i     (done.prev),
    .link_i     (r_grant),
    .link_tid_i (r_tid),
    .link_next_i(next),
    .head_o     (op_head),
    .empty_o    (op_empty),
    .empties_o  (empties),
    .heads_o    (heads),
    .tails_o    (tails),
    .side_head_o(free_head),
    .walk_i     (walk),
    .next_o     (next)
  );

  ready_unit #(
    .CtxMode(CtxMode)
  ) u_ready (
    .clk_i,
    .rst_ni,
    .policy_i     (policy),
    .step_i       (acts),
    .act_i        (m_grant || w_grant || d_grant),
    .action_i     (granted_act),
    .action_o     (act),
    .busy_o       (r_busy),
    .new_tid_o    (r_tid),
    .walk_o       (r_walk),
    .empty_i      (empties[0]),
    .head_i       (heads[0]),
    .walk_i       (walk),
    .next_i       (next),
    .last_i       (last),
    .before_walk_i(before_walk),
    .before_next_i(before_next),
    .entry_i      (a)
  );

  logic  due_we, goal_we;
  tid_t  deadline_tid;
  time_t deadline;
  deadline_unit #(
    .Threads(Threads)
  ) u_deadlines (
    .clk_i,
    .rst_ni,
    .cycle_i,
    .due_we_i       (due_we),
    .goal_we_i      (goal_we || !booted_q),
    .write_tid_i    (booted_q ? deadline_tid : '0),
    .time_i         (booted_q ? deadline : '1),
    .scan_tid_o     (c_tid),
    .due_o          (due),
    .hold_i         (due_now || expired),
    .new_tid_i      (r_tid),
    .first_tid_i    (walk),
    .second_tid_i   (next),
    .before_first_o (before_walk),
    .before_second_o(before_next)
  );
  assign due_now = c_used && c.state == ThreadWaiting && c.timed && due;
  if (Staged) begin : gen_expired
    // What was found holds for the next cycle if the table does not change meanwhile; the scan stands where it found something.
    logic       expired_q;
    logic [5:0] watch_q;
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) expired_q <= 1'b0;
      else expired_q <= due_now && !writes;
    end
    always_ff @(posedge clk_i) watch_q <= c.watch;
    assign expired       = expired_q && !writes;
    assign expired_watch = watch_q;
  end else begin : gen_no_expired
    assign expired       = due_now;
    assign expired_watch = c.watch;
  end
  assign expired_tid = c_tid;

  // PEs.

  logic  m_stop, w_stop, pe_start, pe_rank, m_told, w_mark, w_marked, pe_recalled, pe_recall_done, pe_created, pe_asks;
  logic  pe_fill, pe_recalling, pe_preempting, pe_granted, release_any, direct;
  logic  home_has_slot, home_idle, home_recalling, place, place_idle, wants_ids, lacks_ids, wants_recall, low, preempt, ranks;
  pe_t   m_at, w_at, fill_pe, recalling_pe, home, place_pe, ids_pe, recall_pe, low_pe, preempt_pe;
  tid_t  m_at_tid, w_at_tid, home_slot_tid, recall_tid, preempt_tid;
  prio_t m_at_prio, home_prio, home_slot_prio, low_prio;
  logic [5:0] w_watch;
  assign ranks = policy == PolicyPriority;

  pe_table #(
    .NumPes  (NumPes),
    .PoolSize(PoolSize),
    .Staged  (Staged)
  ) u_pes (
    .clk_i,
    .rst_ni,
    .ranks_i         (ranks),
    .hold_i          (chooses),
    .stop_i          (m_stop || w_stop),
    .start_i         (pe_start),
    .rank_i          (pe_rank),
    .at_i            (w_grant ? w_at : m_at),
    .at_tid_i        (w_grant ? w_at_tid : m_at_tid),
    .at_prio_i       (m_at_prio),
    .told_at_i       (in.pe),
    .told_o          (m_told),
    .mark_i          (w_mark),
    .mark_watch_i    (w_watch),
    .marks_at_i      (w_at),
    .marks_o         (w_marked),
    .fill_i          (pe_fill),
    .fill_pe_i       (fill_pe),
    .fill_tid_i      (a_tid),
    .fill_prio_i     (a.prio),
    .recalled_i      (pe_recalled),
    .recall_done_i   (pe_recall_done),
    .recalling_i     (pe_recalling),
    .recalling_pe_i  (recalling_pe),
    .preempting_i    (pe_preempting),
    .granted_i       (pe_granted),
    .created_i       (pe_created),
    .asks_i          (pe_asks),
    .release_i       (pe_release),
    .release_watch_i (w_watch),
    .release_any_o   (release_any),
    .direct_pe_i     (a.home),
    .direct_tid_i    (a_tid),
    .direct_o        (direct),
    .home_i          (home),
    .home_has_slot_o (home_has_slot),
    .home_idle_o     (home_idle),
    .home_recalling_o(home_recalling),
    .home_prio_o     (home_prio),
    .home_slot_prio_o(home_slot_prio),
    .home_slot_tid_o (home_slot_tid),
    .place_o         (place),
    .place_idle_o    (place_idle),
    .place_pe_o      (place_pe),
    .grant_o         (wants_ids),
    .lacks_o         (lacks_ids),
    .grant_pe_o      (ids_pe),
    .recall_o        (wants_recall),
    .recall_pe_o     (recall_pe),
    .recall_tid_o    (recall_tid),
    .low_o           (low),
    .low_pe_o        (low_pe),
    .low_prio_o      (low_prio),
    .preempt_o       (preempt),
    .preempt_pe_o    (preempt_pe),
    .preempt_tid_o   (preempt_tid)
  );

  // Outgoing messages.

  logic       out_valid_q, out_more_q, out_free, can_send, tail_valid;
  sched_msg_t out_q, tail;
  assign out_free    = !out_valid_q || bus_ready_i;
  assign can_send    = out_free && !tail_valid;
  assign bus_valid_o = out_valid_q;
  assign bus_more_o  = out_more_q;
  assign bus_msg_o   = out_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      out_more_q  <= 1'b0;
    end else if (out_free) begin
      out_valid_q <= tail_valid || act.send;
      out_more_q  <= !tail_valid && act.more;
    end
  end
  always_ff @(posedge clk_i) begin
    if (out_free) out_q <= tail_valid ? tail : act.msg;
  end

  // Engines.

  logic        wait_next, wait_start, wait_ready, wait_timed;
  sched_msg_t  wait_first;
  logic [31:0] wait_value;
  message_unit u_messages (
    .clk_i,
    .rst_ni,
    .valid_i       (in_valid),
    .in_i          (in),
    .asks_i        (in_asks),
    .waits_i       (in_waits),
    .pop_o         (in_pop),
    .can_send_i    (can_send),
    .want_o        (m_want),
    .grant_i       (m_grant),
    .a_tid_o       (m_a_tid),
    .b_tid_o       (m_b_tid),
    .a_i           (a),
    .b_i           (b),
    .handle_o      (handle),
    .known_i       (known),
    .action_o      (m_act),
    .alloc_i       (alloc),
    .alloc_fresh_i (alloc_fresh),
    .alloc_tid_i   (alloc_tid),
    .take_o        (m_take),
    .stop_o        (m_stop),
    .start_o       (pe_start),
    .rank_o        (pe_rank),
    .at_o          (m_at),
    .at_tid_o      (m_at_tid),
    .at_prio_o     (m_at_prio),
    .told_i        (m_told),
    .recalled_o    (pe_recalled),
    .recall_done_o (pe_recall_done),
    .created_o     (pe_created),
    .asks_o        (pe_asks),
    .due_we_o      (due_we),
    .goal_we_o     (goal_we),
    .deadline_tid_o(deadline_tid),
    .deadline_o    (deadline),
    .wait_next_o   (wait_next),
    .wait_start_o  (wait_start),
    .wait_ready_i  (wait_ready),
    .wait_first_o  (wait_first),
    .wait_value_o  (wait_value),
    .wait_timed_o  (wait_timed),
    .policy_o      (policy)
  );

  waiting_unit #(
    .Watches(Watches),
    .CtxMode(CtxMode),
    .Staged (Staged)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .snoop_i,
    .acts_i         (acts),
    .next_start_i   (wait_next),
    .start_i        (wait_start),
    .ready_o        (wait_ready),
    .first_i        (wait_first),
    .value_i        (wait_value),
    .timed_i        (wait_timed),
    .expired_i      (expired),
    .expired_tid_i  (expired_tid),
    .expired_watch_i(expired_watch),
    .can_send_i     (can_send),
    .want_o         (w_want),
    .grant_i        (w_grant),
    .a_tid_o        (w_a_tid),
    .list_o         (w_list),
    .walk_o         (w_walk),
    .look_head_i    (w_head),
    .a_tid_i        (a_tid),
    .a_i            (a),
    .head_i         (head),
    .empty_i        (op_empty),
    .walk_i         (walk),
    .next_i         (next),
    .last_i         (last),
    .action_o       (w_act),
    .stop_o         (w_stop),
    .mark_o         (w_mark),
    .at_o           (w_at),
    .at_tid_o       (w_at_tid),
    .watch_o        (w_watch),
    .marked_i       (w_marked),
    .release_o      (pe_release),
    .release_any_i  (release_any),
    .direct_i       (direct),
    .mem_valid_o,
    .mem_req_o,
    .mem_ready_i,
    .mem_rsp_i
  );

  dispatcher #(
    .Staged(Staged)
  ) u_dispatcher (
    .clk_i,
    .rst_ni,
    .policy_i        (policy),
    .ranks_i         (ranks),
    .can_send_i      (can_send),
    .want_o          (d_want),
    .presses_o       (d_presses),
    .scans_o         (d_scans),
    .grant_i         (d_grant),
    .stirs_i         (act.stirs),
    .a_tid_o         (d_a_tid),
    .list_o          (d_list),
    .ready_list_o    (d_ready_list),
    .walk_o          (d_walk),
    .look_head_i     (d_head),
    .a_tid_i         (a_tid),
    .a_i             (a),
    .b_i             (b),
    .head_i          (head),
    .next_i          (next),
    .last_i          (last),
    .empties_i       (empties[ReadyLists-1:0]),
    .action_o        (d_act),
    .tail_valid_o    (tail_valid),
    .tail_o          (tail),
    .tail_taken_i    (out_free),
    .alloc_i         (alloc),
    .alloc_fresh_i   (alloc_fresh),
    .alloc_tid_i     (alloc_tid),
    .take_o          (d_take),
    .home_o          (home),
    .home_has_slot_i (home_has_slot),
    .home_idle_i     (home_idle),
    .home_recalling_i(home_recalling),
    .home_prio_i     (home_prio),
    .home_slot_prio_i(home_slot_prio),
    .home_slot_tid_i (home_slot_tid),
    .place_i         (place),
    .place_idle_i    (place_idle),
    .place_pe_i      (place_pe),
    .wants_ids_i     (wants_ids),
    .lacks_ids_i     (lacks_ids),
    .ids_pe_i        (ids_pe),
    .recall_i        (wants_recall),
    .recall_pe_i     (recall_pe),
    .recall_tid_i    (recall_tid),
    .low_i           (low),
    .low_pe_i        (low_pe),
    .low_prio_i      (low_prio),
    .preempt_i       (preempt),
    .preempt_pe_i    (preempt_pe),
    .preempt_tid_i   (preempt_tid),
    .fill_o          (pe_fill),
    .fill_pe_o       (fill_pe),
    .recalling_o     (pe_recalling),
    .recalling_pe_o  (recalling_pe),
    .preempting_o    (pe_preempting),
    .granted_o       (pe_granted)
  );

`ifndef SYNTHESIS
  ssh_m_checks #(
    .NumPes (NumPes),
    .Threads(Threads),
    .Lists  (Lists)
  ) u_checks (
    .clk_i,
    .rst_ni,
    .booted_i (booted_q),
    .act_i    (done),
    .list_i   (from),
    .head_i   (op_head),
    .empties_i(empties),
    .rests_i  (u_waiting.rests && !writes),
    .watched_i(u_waiting.u_watches.valid_q)
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni && booted_q) begin
      SshMNeverLosesAMessage : assert (!bus_valid_i || in_room != '0);
      SshMSendsOnlyWhenItCan : assert (!act.send || can_send);
      SshMServesOneEngineACycle : assert ($onehot0({r_grant, m_grant, w_grant, d_grant}));
    end
  end
`endif

endmodule
