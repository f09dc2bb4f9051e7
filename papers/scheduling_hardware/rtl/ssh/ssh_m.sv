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
  // Room for the longest group of messages: once a PE has begun a group, SSH-m, which cannot send meanwhile, must take
  // all of it.
  assign bus_room_o = in_room >= 4'd3;

  // The engine that has the tables in this cycle.

  logic m_want, w_want, d_want, d_presses, d_scans, r_busy, m_grant, w_grant, d_grant, turn_q;
  assign w_grant = booted_q && !r_busy && !d_scans && w_want;
  assign m_grant = booted_q && !r_busy && !d_scans && !w_want && m_want && !(turn_q && d_presses);
  assign d_grant = booted_q && !r_busy && d_want && (d_scans || !(w_want || m_grant));
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) turn_q <= 1'b0;
    else if (m_grant || d_grant) turn_q <= m_grant;
  end

  // The tables, and their rows that are read.

  action_t m_act, w_act, d_act, granted_act, act;
  tid_t    m_a_tid, m_b_tid, w_a_tid, d_a_tid, a_tid, b_tid, c_tid;
  thread_t a, b, c, boot_entry;
  logic    c_used, due, expired;
  list_t   w_list, d_list, list;
  tid_t    w_walk, d_walk, r_walk, r_tid, walk, walk_next, list_head, free_head;
  logic    list_empty, walk_last, before_walk, before_next;
  logic [Lists-1:0] empties;
  logic [31:0]      handle;
  logic    known, m_take, d_take, alloc, alloc_fresh;
  tid_t    alloc_tid;
  policy_e policy;

  always_comb begin
    a_tid = m_a_tid;
    if (r_busy) a_tid = r_tid;
    else if (d_grant) a_tid = d_a_tid;
    else if (w_grant) a_tid = w_a_tid;
  end
  always_comb begin
    list = FreeList;
    if (r_busy) list = '0;
    else if (d_grant) list = d_list;
    else if (w_grant) list = w_list;
  end
  always_comb begin
    walk = w_walk;
    if (r_busy) walk = r_walk;
    else if (d_grant) walk = d_walk;
  end
  assign b_tid = d_grant ? list_head : m_b_tid;

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
    .a_tid_i      (a_tid),
    .a_o          (a),
    .b_tid_i      (b_tid),
    .b_o          (b),
    .c_tid_i      (c_tid),
    .c_o          (c),
    .c_used_o     (c_used),
    .write_i      (act.write || !booted_q),
    .write_tid_i  (booted_q ? act.tid : '0),
    .write_entry_i(booted_q ? act.entry : boot_entry),
    .handle_i     (handle),
    .known_o      (known),
    .take_i       (m_take || d_take),
    .free_empty_i (empties[ReadyLists]),
    .free_head_i  (free_head),
    .alloc_o      (alloc),
    .alloc_fresh_o(alloc_fresh),
    .alloc_tid_o  (alloc_tid)
  );

  list_unit #(
    .Threads (Threads),
    .Lists   (Lists),
    .SideList(ReadyLists)
  ) u_lists (
    .clk_i,
    .rst_ni,
    .op_i       (act.op),
    .list_i     (list[ListWidth-1:0]),
    .to_i       (act.to[ListWidth-1:0]),
    .tid_i      (act.tid),
    .prev_i     (act.prev),
    .head_o     (list_head),
    .empty_o    (list_empty),
    .empties_o  (empties),
    .side_head_o(free_head),
    .walk_i     (walk),
    .next_o     (walk_next),
    .last_o     (walk_last)
  );

  ready_unit #(
    .CtxMode(CtxMode)
  ) u_ready (
    .clk_i,
    .rst_ni,
    .policy_i     (policy),
    .act_i        (m_grant || w_grant || d_grant),
    .action_i     (granted_act),
    .action_o     (act),
    .busy_o       (r_busy),
    .new_tid_o    (r_tid),
    .walk_o       (r_walk),
    .empty_i      (empties[0]),
    .head_i       (list_head),
    .next_i       (walk_next),
    .last_i       (walk_last),
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
    .hold_i         (expired),
    .new_tid_i      (r_tid),
    .first_tid_i    (r_walk),
    .second_tid_i   (walk_next),
    .before_first_o (before_walk),
    .before_second_o(before_next)
  );
  assign expired = c_used && c.state == ThreadWaiting && c.timed && due;

  // PEs.

  logic  m_stop, w_stop, pe_start, pe_rank, m_told, w_mark, w_marked, pe_recalled, pe_recall_done, pe_created, pe_asks;
  logic  pe_fill, pe_recalling, pe_preempting, pe_granted, pe_release, release_any, direct;
  logic  home_has_slot, home_idle, home_recalling, place, place_idle, wants_ids, lacks_ids, wants_recall, low, preempt, ranks;
  pe_t   m_at, w_at, fill_pe, recalling_pe, home, place_pe, ids_pe, recall_pe, low_pe, preempt_pe;
  tid_t  m_at_tid, w_at_tid, home_slot_tid, recall_tid, preempt_tid;
  prio_t m_at_prio, home_prio, home_slot_prio, low_prio;
  logic [5:0] w_watch;
  assign ranks = policy == PolicyPriority;

  pe_table #(
    .NumPes  (NumPes),
    .PoolSize(PoolSize)
  ) u_pes (
    .clk_i,
    .rst_ni,
    .ranks_i         (ranks),
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
    .fill_tid_i      (act.tid),
    .fill_prio_i     (act.entry.prio),
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

  logic        wait_start, wait_ready, wait_timed;
  sched_msg_t  wait_first;
  logic [31:0] wait_value;
  message_unit u_messages (
    .clk_i,
    .rst_ni,
    .valid_i       (in_valid),
    .in_i          (in),
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
    .wait_start_o  (wait_start),
    .wait_ready_i  (wait_ready),
    .wait_first_o  (wait_first),
    .wait_value_o  (wait_value),
    .wait_timed_o  (wait_timed),
    .policy_o      (policy)
  );

  waiting_unit #(
    .Watches(Watches),
    .CtxMode(CtxMode)
  ) u_waiting (
    .clk_i,
    .rst_ni,
    .snoop_i,
    .start_i        (wait_start),
    .ready_o        (wait_ready),
    .first_i        (wait_first),
    .value_i        (wait_value),
    .timed_i        (wait_timed),
    .expired_i      (expired),
    .expired_tid_i  (c_tid),
    .expired_watch_i(c.watch),
    .can_send_i     (can_send),
    .want_o         (w_want),
    .grant_i        (w_grant),
    .a_tid_o        (w_a_tid),
    .list_o         (w_list),
    .walk_o         (w_walk),
    .a_i            (a),
    .head_i         (list_head),
    .empty_i        (list_empty),
    .next_i         (walk_next),
    .last_i         (walk_last),
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

  dispatcher u_dispatcher (
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
    .walk_o          (d_walk),
    .a_i             (a),
    .b_i             (b),
    .head_i          (list_head),
    .next_i          (walk_next),
    .last_i          (walk_last),
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
    .act_i    (act),
    .list_i   (list),
    .head_i   (list_head),
    .empties_i(empties),
    .rests_i  (u_waiting.rests),
    .watched_i(u_waiting.u_watches.valid_q)
  );

  always_ff @(posedge clk_i) begin
    if (rst_ni && booted_q) begin
      SshMNeverLosesAMessage : assert (!bus_valid_i || in_room != '0);
      SshMSendsOnlyWhenItCan : assert (!act.send || can_send);
      SshMServesOneEngineACycle : assert ($onehot0({r_busy, m_grant, w_grant, d_grant}));
    end
  end
`endif

endmodule
