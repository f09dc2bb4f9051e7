// SPDX-License-Identifier: Apache-2.0
// How a thread becomes ready: which ready list, and where in it. The policies stand here, but for what a PE takes from the lists.
//
// Combinational, on the action of the engine whose cycle it is: an action without `ready` passes as it is. Else the thread's state is
// filled in and the list operation made one that also puts it into its list:
//   fifo, rr    list 0, behind all
//   lifo        list 0, before all; after a yield behind all
//   affinity    list 0, likewise before all if a PE still has its context, else behind all
//   priority    the list of its priority, behind all
//   edf         list 0, by goal
// With edf and others in the list, the thread is first only Held, and in the cycles that follow (`busy_o`, one for each thread
// that is passed) the unit itself walks the list and puts it in. In SOFT mode a thread whose context is not in memory yet is Held, too,
// until its PE says RELEASED.

module ready_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter ctx_mode_e CtxMode = CtxBanked
) (
  input  logic    clk_i,
  input  logic    rst_ni,
  input  policy_e policy_i,

  // Actions take effect in this cycle: the unit's own, while it is busy, and with `act_i` an engine's.
  input  logic    step_i,
  input  logic    act_i,
  input  action_t action_i,
  output action_t action_o,

  // List 0, while the unit looks at it.
  output logic    busy_o,
  output tid_t    new_tid_o,
  output tid_t    walk_o,
  input  logic    empty_i,
  input  tid_t    head_i,
  // Where the unit stands: what `walk_o` was when `next_i` and what else is said of it was read.
  input  tid_t    walk_i,
  input  tid_t    next_i,
  input  logic    last_i,
  input  logic    before_walk_i,
  input  logic    before_next_i,
  input  thread_t entry_i
);

  logic busy_q, at_head_q;
  tid_t new_q, walk_q;
  logic held, sorted, placed, to_head;

  assign busy_o    = busy_q;
  assign new_tid_o = new_q;
  // In the first cycle the head, of which a thread may also come before.
  assign walk_o    = at_head_q ? head_i : walk_q;

  assign held    = action_i.entry.has_home && CtxMode == CtxSoft;
  assign sorted  = policy_i == PolicyEdf && !empty_i;
  assign to_head = action_i.at_head ||
                   ((policy_i == PolicyLifo || (policy_i == PolicyAffinity && action_i.entry.has_home)) && !action_i.at_tail);
  assign placed  = (at_head_q && before_walk_i) || last_i || before_next_i;

  always_comb begin
    action_o = action_i;
    if (busy_q && step_i) begin
      action_o             = '0;
      action_o.write       = placed;
      action_o.tid         = new_q;
      action_o.entry       = entry_i;
      action_o.entry.state = ThreadReady;
      action_o.prev        = walk_i;
      action_o.stirs       = placed;
      if (placed) action_o.op = at_head_q && before_walk_i ? ListPushHead : ListInsert;
    end else if (action_i.ready) begin
      action_o.entry.timed = held && action_i.at_tail;
      action_o.stirs       = 1'b1;
      if (held || sorted) begin
        action_o.entry.state = ThreadHeld;
      end else begin
        action_o.entry.state = ThreadReady;
        action_o.to          = policy_i == PolicyPriority ? list_t'(action_i.entry.prio) : '0;
        if (action_i.op == ListPop) action_o.op = to_head ? ListMoveHead : ListMoveTail;
        else action_o.op = to_head ? ListPushHead : ListPushTail;
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) busy_q <= 1'b0;
    else if (busy_q) busy_q <= !(step_i && placed);
    else busy_q <= act_i && action_i.ready && sorted && !held;
  end

  always_ff @(posedge clk_i) begin
    if (!busy_q) new_q <= action_i.tid;
    if (step_i) begin
      at_head_q <= !busy_q;
      walk_q    <= next_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ReadyUnitTakesOnlyFromAHeadOrFromNoList :
      assert (!(act_i && action_i.ready) || action_i.op == ListPop || action_i.op == ListNone);
    end
  end
`endif

endmodule
