// SPDX-License-Identifier: Apache-2.0
// What SSH-m knows of each PE: whether it runs a thread and of what priority, what is in its prefetch slot, how many ids its pool holds.
//
// Marks: a PE that goes idle because its thread waits at a barrier, with nothing in its slot (`mark_i`, `marks_o`), notes that
// thread and the barrier's watch. `release_i` fills the slots of all PEs so marked for a watch at once with the threads noted, as the one
// message RELEASE tells the PEs; `direct_o` then says of a thread that it was one of these. Filling a slot ends a mark.
//
// Choices, combinational, each in turn over the PEs that qualify:
//   place_*    where a thread without a home goes: an idle PE with a free slot, else any with a free slot; `place_idle_o`: it is idle
//   grant_*    whose pool is not full; where ids are few (small pools), only of those who have created a thread before;
//              `lacks_o`: some pool is nearly empty
//   recall_*   who runs a thread and holds another one in its slot, while some PE has nothing at all, or (`ranks_i`: priorities
//              count) while another PE runs a thread of a lower priority than the one in the slot
//   low_*      who runs the thread of the lowest priority, of those that need not make way yet
//   preempt_*  who runs a thread of a lower priority than the one in its slot, and has not been told
// With `Staged` they are those of a cycle ago, and those of the cycle before an engine acts (`hold_i`) are still there when it does.

module pe_table
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned NumPes   = 8,
  parameter int unsigned PoolSize = 4,
  parameter bit          Staged   = 1'b0
) (
  input  logic clk_i,
  input  logic rst_ni,
  input  logic ranks_i,
  input  logic hold_i,

  // A thread stops (at any of: exit, block, yield), or one that was dispatched starts, or gets another priority.
  input  logic       stop_i,
  input  logic       start_i,
  input  logic       rank_i,
  input  pe_t        at_i,
  input  tid_t       at_tid_i,
  input  prio_t      at_prio_i,
  input  logic       mark_i,
  input  logic [5:0] mark_watch_i,
  // Whether a thread that stops there now would be marked; whether the one that runs there was told to make way.
  input  pe_t        marks_at_i,
  output logic       marks_o,
  input  pe_t        told_at_i,
  output logic       told_o,
  // A slot is filled, or emptied by a recall; a recall or a preemption is on its way, or a recall was answered.
  input  logic       fill_i,
  input  pe_t        fill_pe_i,
  input  tid_t       fill_tid_i,
  input  prio_t      fill_prio_i,
  input  logic       recalled_i,
  input  logic       recall_done_i,
  input  logic       recalling_i,
  input  pe_t        recalling_pe_i,
  input  logic       preempting_i,
  input  logic       granted_i,
  input  logic       created_i,
  input  logic       asks_i,
  input  logic       release_i,
  input  logic [5:0] release_watch_i,
  output logic       release_any_o,
  input  pe_t        direct_pe_i,
  input  tid_t       direct_tid_i,
  output logic       direct_o,

  input  pe_t   home_i,
  output logic  home_has_slot_o,
  output logic  home_idle_o,
  output logic  home_recalling_o,
  output prio_t home_prio_o,
  output prio_t home_slot_prio_o,
  output tid_t  home_slot_tid_o,

  output logic  place_o,
  output logic  place_idle_o,
  output pe_t   place_pe_o,
  output logic  grant_o,
  output logic  lacks_o,
  output pe_t   grant_pe_o,
  output logic  recall_o,
  output pe_t   recall_pe_o,
  output tid_t  recall_tid_o,
  output logic  low_o,
  output pe_t   low_pe_o,
  output prio_t low_prio_o,
  output logic  preempt_o,
  output pe_t   preempt_pe_o,
  output tid_t  preempt_tid_o
);

  localparam int unsigned IndexWidth = NumPes > 1 ? $clog2(NumPes) : 1;
  localparam bit IdsAreFew = PoolSize < 4;
  typedef logic [IndexWidth-1:0] index_t;

  logic [NumPes-1:0] running_q, slot_q, recalling_q, told_q, marked_q, released_q;
  tid_t              running_tid_q[NumPes];
  prio_t             running_prio_q[NumPes];
  tid_t              slot_tid_q[NumPes];
  prio_t             slot_prio_q[NumPes];
  tid_t              mark_tid_q[NumPes];
  logic [5:0]        mark_watch_q[NumPes];
  logic [NumPes-1:0] creates_q;
  logic [2:0]        pool_q[NumPes];

  index_t at, fill_pe, home, recalling_pe, direct_pe;
  assign at           = index_t'(at_i);
  assign fill_pe      = index_t'(fill_pe_i);
  assign home         = index_t'(home_i);
  assign recalling_pe = index_t'(recalling_pe_i);
  assign direct_pe    = index_t'(direct_pe_i);

  // The PEs that qualify for each choice.

  logic [NumPes-1:0] idle, hungry, lacking, makes_way, stays, misplaced, recallable, releasable;
  index_t            idle_index, slot_index, grant_index, recall_index, low_q, low_d, preempt_index;
  prio_t             low_prio_d;
  logic              any_idle, any_slot, any_hungry, any_recallable, any_preempt;

  always_comb begin
    for (int unsigned p = 0; p < NumPes; p++) begin
      hungry[p]     = pool_q[p] != 3'(PoolSize) && (creates_q[p] || !IdsAreFew);
      lacking[p]    = hungry[p] && pool_q[p] < 3'd2;
      makes_way[p]  = ranks_i && running_q[p] && !slot_q[p] && slot_prio_q[p] > running_prio_q[p];
      releasable[p] = marked_q[p] && mark_watch_q[p] == release_watch_i;
    end
  end
  assign idle       = slot_q & ~running_q;
  assign stays      = running_q & ~told_q & ~makes_way;
  assign recallable = (|idle ? running_q & ~slot_q : misplaced) & ~recalling_q & ~told_q;

  // The lowest priority at which a PE runs, and the first PE that runs at it, as of the last cycle: node n of a tree has the lower one of
  // nodes 2n and 2n + 1, node 1 that of all; a PE's is Leaves + p.
  localparam int unsigned Leaves = 1 << IndexWidth;
  logic [2*Leaves-1:1] stays_at;
  prio_t               prio_at[2*Leaves];
  index_t              pe_at[2*Leaves];
  logic                right;
  always_comb begin
    for (int unsigned p = 0; p < Leaves; p++) begin
      stays_at[Leaves+p] = p < NumPes && stays[p%NumPes];
      prio_at[Leaves+p]  = running_prio_q[p%NumPes];
      pe_at[Leaves+p]    = index_t'(p);
    end
    prio_at[0] = '0;
    pe_at[0]   = '0;
    for (int unsigned n = Leaves - 1; n > 0; n--) begin
      right       = stays_at[2*n+1] && (!stays_at[2*n] || prio_at[2*n+1] < prio_at[2*n]);
      stays_at[n] = stays_at[2*n] || stays_at[2*n+1];
      prio_at[n]  = right ? prio_at[2*n+1] : prio_at[2*n];
      pe_at[n]    = right ? pe_at[2*n+1] : pe_at[2*n];
    end
    low_prio_d = stays_at[1] ? prio_at[1] : '1;
    low_d      = stays_at[1] ? pe_at[1] : '0;
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) low_o <= 1'b0;
    else low_o <= |stays;
  end
  always_ff @(posedge clk_i) begin
    low_q      <= low_d;
    low_prio_o <= low_prio_d;
  end

  always_comb begin
    for (int unsigned p = 0; p < NumPes; p++) begin
      misplaced[p] = ranks_i && running_q[p] && !slot_q[p] && !makes_way[p] && low_o && slot_prio_q[p] > low_prio_o;
    end
  end

  logic [NumPes-1:0] unused_gnt[5];
  rr_arbiter #(.NumReqs(NumPes)) u_idle (
    .clk_i, .rst_ni, .req_i(idle), .advance_i(fill_i), .gnt_o(unused_gnt[0]), .index_o(idle_index), .any_o(any_idle)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_slot (
    .clk_i, .rst_ni, .req_i(slot_q), .advance_i(fill_i), .gnt_o(unused_gnt[1]), .index_o(slot_index), .any_o(any_slot)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_grant (
    .clk_i, .rst_ni, .req_i(hungry), .advance_i(granted_i), .gnt_o(unused_gnt[2]), .index_o(grant_index), .any_o(any_hungry)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_recall (
    .clk_i, .rst_ni, .req_i(recallable), .advance_i(recalling_i), .gnt_o(unused_gnt[3]), .index_o(recall_index),
    .any_o(any_recallable)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_preempt (
    .clk_i, .rst_ni, .req_i(makes_way & ~told_q), .advance_i(preempting_i), .gnt_o(unused_gnt[4]),
    .index_o(preempt_index), .any_o(any_preempt)
  );

  // The choices.
  typedef struct packed {
    logic   place;
    logic   place_idle;
    index_t place_pe;
    logic   grant;
    logic   lacks;
    index_t grant_pe;
    logic   recall;
    index_t recall_pe;
    tid_t   recall_tid;
    logic   preempt;
    index_t preempt_pe;
    tid_t   preempt_tid;
  } choices_t;
  choices_t now, choices;
  assign now = '{
    place: any_slot,
    place_idle: any_idle,
    place_pe: any_idle ? idle_index : slot_index,
    grant: any_hungry,
    lacks: |lacking,
    grant_pe: grant_index,
    recall: any_recallable,
    recall_pe: recall_index,
    recall_tid: slot_tid_q[recall_index],
    preempt: any_preempt,
    preempt_pe: preempt_index,
    preempt_tid: running_tid_q[preempt_index]
  };
  if (Staged) begin : gen_choices
    always_ff @(posedge clk_i) begin
      if (!hold_i) choices <= now;
    end
  end else begin : gen_no_choices
    assign choices = now;
    logic unused_hold;
    assign unused_hold = hold_i;
  end

  assign place_o          = choices.place;
  assign place_idle_o     = choices.place_idle;
  assign place_pe_o       = pe_t'(choices.place_pe);
  assign grant_o          = choices.grant;
  assign lacks_o          = choices.lacks;
  assign grant_pe_o       = pe_t'(choices.grant_pe);
  assign recall_o         = choices.recall;
  assign recall_pe_o      = pe_t'(choices.recall_pe);
  assign recall_tid_o     = choices.recall_tid;
  assign low_pe_o         = pe_t'(low_q);
  assign preempt_o        = choices.preempt;
  assign preempt_pe_o     = pe_t'(choices.preempt_pe);
  assign preempt_tid_o    = choices.preempt_tid;
  assign told_o           = told_q[index_t'(told_at_i)];
  assign marks_o          = slot_q[index_t'(marks_at_i)];
  assign release_any_o    = |releasable;
  assign direct_o         = released_q[direct_pe] && slot_tid_q[direct_pe] == direct_tid_i;
  assign home_has_slot_o  = slot_q[home];
  assign home_idle_o      = !running_q[home];
  assign home_recalling_o = recalling_q[home];
  assign home_prio_o      = running_prio_q[home];
  assign home_slot_prio_o = slot_prio_q[home];
  assign home_slot_tid_o  = slot_tid_q[home];

  // The changes of the table.

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // PE 0 runs thread 0 from the start.
      running_q   <= NumPes'(1);
      slot_q      <= '1;
      recalling_q <= '0;
      told_q      <= '0;
      marked_q    <= '0;
      released_q  <= '0;
      creates_q   <= '0;
      for (int unsigned p = 0; p < NumPes; p++) pool_q[p] <= '0;
    end else begin
      if (stop_i) begin
        running_q[at] <= 1'b0;
        told_q[at]    <= 1'b0;
        marked_q[at]  <= mark_i && slot_q[at];
      end
      if (start_i) begin
        running_q[at] <= 1'b1;
        slot_q[at]    <= 1'b1;
        told_q[at]    <= 1'b0;
      end
      if (recalled_i) slot_q[at] <= 1'b1;
      if (recall_done_i) recalling_q[at] <= 1'b0;
      if (fill_i) begin
        slot_q[fill_pe]   <= 1'b0;
        marked_q[fill_pe] <= 1'b0;
      end
      if (release_i) begin
        slot_q     <= slot_q & ~releasable;
        marked_q   <= marked_q & ~releasable;
        released_q <= releasable;
      end
      if (recalling_i) recalling_q[recalling_pe] <= 1'b1;
      if (preempting_i) told_q[choices.preempt_pe] <= 1'b1;
      if (created_i) pool_q[at] <= pool_q[at] - 3'd1;
      if (created_i || asks_i) creates_q[at] <= 1'b1;
      if (granted_i) pool_q[choices.grant_pe] <= pool_q[choices.grant_pe] + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      running_tid_q[0]  <= '0;
      running_prio_q[0] <= '0;
    end
    if (start_i) begin
      running_tid_q[at]  <= at_tid_i;
      running_prio_q[at] <= at_prio_i;
    end
    if (rank_i) running_prio_q[at] <= at_prio_i;
    if (stop_i) begin
      mark_tid_q[at]   <= at_tid_i;
      mark_watch_q[at] <= mark_watch_i;
    end
    if (fill_i) begin
      slot_tid_q[fill_pe]  <= fill_tid_i;
      slot_prio_q[fill_pe] <= fill_prio_i;
    end
    for (int unsigned p = 0; p < NumPes; p++) begin
      if (release_i && releasable[p]) begin
        slot_tid_q[p]  <= mark_tid_q[p];
        slot_prio_q[p] <= running_prio_q[p];
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      PeTableFillsOnlyFreeSlots : assert (!fill_i || slot_q[fill_pe]);
      PeTableReleasesOnlyToIdlePes : assert (!release_i || (releasable & ~idle) == '0);
      PeTableFillsOrReleases : assert (!(fill_i && release_i));
      PeTableStartsOnlyWhatWasDispatched : assert (!start_i || (!slot_q[at] && slot_tid_q[at] == at_tid_i));
      PeTableChangesOnePoolAtATime : assert (!(created_i && granted_i));
      PeTablePoolsNeverUnderflow : assert (!created_i || pool_q[at] != '0);
      PeTableRecallsEachPeOnce : assert (!recalling_i || !recalling_q[recalling_pe]);
    end
  end
`endif

endmodule
