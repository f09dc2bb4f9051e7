// SPDX-License-Identifier: Apache-2.0
// What SSH-m does towards the PEs by itself: dispatches ready threads to prefetch slots, refills pools of ids, recalls threads from
// slots, and lets running threads make way for those of a higher priority.
//
// Dispatching looks at the highest ready list that is not empty, from its head on, for a thread that suits a PE with a free slot: one
// without a home, or at home there. It looks at one thread a cycle, at most ScanSteps behind the head (with policy affinity
// AffinitySteps); then, if a PE is idle, the head has to move: its home saves it (EVICT), and it comes back by RELEASED. `scans_o` keeps
// the lists from changing meanwhile. A dispatch takes one cycle of the tables; the second message, `tail_o`, of a thread that is new or
// whose command failed, follows in the next.
//
// Where priorities count (`ranks_i`) and the head's is higher than the lowest one that runs, it is urgent: it goes into the slot of
// the PE that runs the lowest, or of its home if that runs a lower one, from which a thread of a lower priority is recalled before.
// A PE that runs a thread of a lower priority than the one in its slot is told (PREEMPT).
//
// With `Staged` a grant is for what was chosen a cycle ago; nothing that the choice depends on changes meanwhile.

module dispatcher
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter bit Staged = 1'b0
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  policy_e          policy_i,
  input  logic             ranks_i,

  input  logic             can_send_i,
  output logic             want_o,
  // The wanted action cannot wait until there are no messages; only the refilling of pools can.
  output logic             presses_o,
  output logic             scans_o,
  input  logic             grant_i,
  input  logic             stirs_i,
  output tid_t             a_tid_o,
  output list_t            list_o,
  // The ready list that is looked at, if any: known before the choice.
  output logic [$clog2(ReadyLists)-1:0] ready_list_o,
  output tid_t             walk_o,
  // The head of that list, for the choice of the rows; the others are what was read.
  input  tid_t             look_head_i,
  input  tid_t             a_tid_i,
  input  thread_t          a_i,
  // The thread at the list's head, and the one behind it.
  input  thread_t          b_i,
  input  tid_t             head_i,
  input  tid_t             next_i,
  input  logic             last_i,
  input  logic [ReadyLists-1:0] empties_i,
  output action_t          action_o,
  output logic             tail_valid_o,
  output sched_msg_t       tail_o,
  input  logic             tail_taken_i,

  input  logic             alloc_i,
  input  logic             alloc_fresh_i,
  input  tid_t             alloc_tid_i,
  output logic             take_o,

  // Facts from the PE table.
  output pe_t              home_o,
  input  logic             home_has_slot_i,
  input  logic             home_idle_i,
  input  logic             home_recalling_i,
  input  prio_t            home_prio_i,
  input  prio_t            home_slot_prio_i,
  input  tid_t             home_slot_tid_i,
  input  logic             place_i,
  input  logic             place_idle_i,
  input  pe_t              place_pe_i,
  input  logic             wants_ids_i,
  input  logic             lacks_ids_i,
  input  pe_t              ids_pe_i,
  input  logic             recall_i,
  input  pe_t              recall_pe_i,
  input  tid_t             recall_tid_i,
  input  logic             low_i,
  input  pe_t              low_pe_i,
  input  prio_t            low_prio_i,
  input  logic             preempt_i,
  input  pe_t              preempt_pe_i,
  input  tid_t             preempt_tid_i,
  output logic             fill_o,
  output pe_t              fill_pe_o,
  output logic             recalling_o,
  output pe_t              recalling_pe_o,
  output logic             preempting_o,
  output logic             granted_o
);

  localparam logic [3:0] ScanSteps = 4'd4;
  localparam logic [3:0] AffinitySteps = 4'd15;

  logic       scans_q, scans_d;
  logic       settled_q, settled_d;   // dispatching was tried, and nothing has changed since
  logic       stirred_q;
  logic [3:0] steps_q, steps_d;
  list_t      list_q;
  tid_t       subject_q, prev_q;
  logic       tail_valid_q;
  sched_msg_t tail_q, tail_d;

  // The choice of the action.

  // The highest ready list that is not empty, by fours.
  list_t           ready_list;
  logic            any_ready;
  logic [3:0]      some;
  logic [3:0][1:0] inner;
  logic [1:0]      four;
  always_comb begin
    for (int unsigned n = 0; n < ReadyLists / 4; n++) begin
      some[n]   = empties_i[4*n+:4] != '1;
      inner[n] = !empties_i[4*n+3] ? 2'd3 : !empties_i[4*n+2] ? 2'd2 : {1'b0, !empties_i[4*n+1]};
    end
    four       = some[3] ? 2'd3 : some[2] ? 2'd2 : {1'b0, some[1]};
    ready_list = list_t'({four, inner[four]});
    any_ready  = |some;
  end

  logic urgent, dispatch_next, ids_next, recall_next;
  assign urgent        = ranks_i && !place_idle_i && low_i && prio_t'(ready_list) > low_prio_i && !scans_q;
  assign dispatch_next = any_ready && !settled_q && (place_i || urgent);
  assign ids_next      = wants_ids_i && alloc_i;
  assign recall_next   = recall_i && (!any_ready || (ranks_i && settled_q));
  assign want_o        = can_send_i && (scans_q || preempt_i || dispatch_next || ids_next || recall_next);
  assign presses_o     = can_send_i && (preempt_i || dispatch_next || (ids_next && lacks_ids_i) || recall_next);
  assign scans_o       = scans_q;

  // The rows of the tables that are read.

  logic gives_id;
  assign gives_id = !scans_q && !preempt_i && !dispatch_next && ids_next;
  assign list_o   = scans_q ? list_q : gives_id ? FreeList : ready_list;
  assign ready_list_o = ($clog2(ReadyLists))'(scans_q ? list_q : ready_list);
  assign a_tid_o  = scans_q ? subject_q : gives_id ? alloc_tid_i : look_head_i;
  assign walk_o   = scans_q ? subject_q : look_head_i;

  // What a grant is for.
  typedef struct packed {
    logic urgent;
    logic dispatches;
    logic gives_id;
    logic recalls;
  } choice_t;
  choice_t choice, chosen;
  assign choice = '{urgent: urgent, dispatches: dispatch_next, gives_id: gives_id, recalls: !dispatch_next && recall_next};
  if (Staged) begin : gen_chosen
    always_ff @(posedge clk_i) chosen <= choice;
  end else begin : gen_no_chosen
    assign chosen = choice;
  end

  assign home_o   = a_i.has_home ? a_i.home : low_pe_i;

  logic suits, home_lower;
  assign suits      = !a_i.has_home || (home_has_slot_i && (home_idle_i || !place_idle_i));
  assign home_lower = home_prio_i < a_i.prio;

  // The action.

  logic    place, evict, recall_there, needs_tail;
  action_t act;
  assign action_o     = act;
  assign tail_valid_o = tail_valid_q;
  assign tail_o       = tail_q;

  always_comb begin
    place        = 1'b0;
    evict        = 1'b0;
    recall_there = 1'b0;
    scans_d      = scans_q;
    settled_d    = settled_q;
    steps_d      = steps_q;
    if (grant_i && (scans_q || (!preempt_i && chosen.dispatches))) begin
      scans_d = 1'b0;
      steps_d = '0;
      if (chosen.urgent) begin
        if (home_idle_i) settled_d = 1'b1;
        else if (!home_lower) begin
          evict     = a_i.has_home;
          settled_d = !a_i.has_home;
        end else if (home_has_slot_i) place = 1'b1;
        else begin
          recall_there = home_slot_prio_i < a_i.prio && !home_recalling_i;
          settled_d    = 1'b1;
        end
      end else if (suits) begin
        place = 1'b1;
      end else if (!last_i && steps_q != (policy_i == PolicyAffinity ? AffinitySteps : ScanSteps)) begin
        scans_d = 1'b1;
        steps_d = steps_q + 4'd1;
      end else if (place_idle_i) begin
        evict = 1'b1;
      end else begin
        settled_d = 1'b1;
      end
    end
  end

  always_comb begin
    take_o         = 1'b0;
    fill_o         = 1'b0;
    fill_pe_o      = a_i.has_home ? a_i.home : chosen.urgent ? low_pe_i : place_pe_i;
    recalling_o    = 1'b0;
    recalling_pe_o = recall_pe_i;
    preempting_o   = 1'b0;
    granted_o      = 1'b0;
    act            = '0;
    act.tid        = a_tid_i;
    act.entry      = a_i;
    act.prev       = prev_q;
    if (place) begin
      fill_o          = 1'b1;
      act.write       = 1'b1;
      act.entry.state = ThreadDispatched;
      act.op          = scans_q ? ListUnlink : ListPop;
      act.send        = 1'b1;
      act.more        = needs_tail;
      act.msg         = message(MsgDispatch0, fill_pe_o, a_tid_i, {2'd0, !needs_tail, a_i.cold, a_i.generation},
                                a_i.word0);
    end else if (evict) begin
      act.write       = 1'b1;
      act.tid         = head_i;
      act.entry       = b_i;
      act.entry.state = ThreadHeld;
      act.op          = ListPop;
      act.send        = 1'b1;
      act.msg         = message(MsgEvict, b_i.home, head_i, '0, '0);
    end else if (recall_there) begin
      recalling_o    = 1'b1;
      recalling_pe_o = home_o;
      act.send       = 1'b1;
      act.msg        = message(MsgRecall, home_o, home_slot_tid_i, '0, '0);
    end else if (grant_i && !scans_q && preempt_i) begin
      preempting_o = 1'b1;
      act.send     = 1'b1;
      act.msg      = message(MsgPreempt, preempt_pe_i, preempt_tid_i, '0, '0);
    end else if (grant_i && chosen.gives_id) begin
      take_o               = 1'b1;
      granted_o            = 1'b1;
      act.write            = 1'b1;
      act.entry            = '0;
      act.entry.state      = ThreadGranted;
      act.entry.generation = alloc_fresh_i ? gen_t'(1) : a_i.generation;
      act.op               = alloc_fresh_i ? ListNone : ListPop;
      act.send             = 1'b1;
      act.msg              = message(MsgGrant, ids_pe_i, a_tid_i, {4'd0, act.entry.generation}, '0);
    end else if (grant_i && !scans_q && chosen.recalls) begin
      recalling_o = 1'b1;
      act.send    = 1'b1;
      act.msg     = message(MsgRecall, recall_pe_i, recall_tid_i, '0, '0);
    end
  end
  assign needs_tail = a_i.cold || a_i.err != ErrNone;
  assign tail_d     = message(MsgDispatch1, fill_pe_o, a_tid_i, {4'd0, a_i.err}, a_i.word1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scans_q      <= 1'b0;
      settled_q    <= 1'b1;
      stirred_q    <= 1'b0;
      steps_q      <= '0;
      tail_valid_q <= 1'b0;
    end else begin
      scans_q   <= scans_d;
      // The lowest priority in the PE table is that of a cycle ago.
      stirred_q <= stirs_i;
      settled_q <= settled_d && !stirs_i && !stirred_q;
      steps_q   <= steps_d;
      if (place) tail_valid_q <= needs_tail;
      else if (tail_taken_i) tail_valid_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (place) tail_q <= tail_d;
    if (grant_i) begin
      list_q    <= list_o;
      prev_q    <= a_tid_i;
      subject_q <= next_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      DispatcherIsGrantedOnlyWhatItWants : assert (!grant_i || want_o);
      DispatcherDispatchesOnlyReadyThreads : assert (!place || a_i.state == ThreadReady);
      DispatcherMovesOnlyReadyThreads : assert (!evict || (b_i.state == ThreadReady && b_i.has_home));
      DispatcherKeepsBothMessagesTogether : assert (!(act.send && tail_valid_q));
      DispatcherAllocatesForGrants : assert (!take_o || alloc_i);
    end
  end
`endif

endmodule
