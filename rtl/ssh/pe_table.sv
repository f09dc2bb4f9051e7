// SPDX-License-Identifier: Apache-2.0
// What SSH-m knows of each PE: whether it runs a thread, whether its prefetch slot is free, how many ids its pool holds.
//
// Choices, combinational, each in turn over the PEs that qualify:
//   place_*    where a thread without a home goes: an idle PE with a free slot, else any with a free slot; `place_idle_o`: it is idle
//   grant_*    whose pool is not full
//   recall_*   who runs a thread and holds another one in its slot, while some PE has nothing at all

module pe_table
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes   = 8,
  parameter int unsigned PoolSize = 4
) (
  input  logic clk_i,
  input  logic rst_ni,

  // A thread stops (at any of: exit, block, yield), or one that was dispatched starts.
  input  logic stop_i,
  input  logic start_i,
  input  pe_t  at_i,
  // A slot is filled, or emptied by a recall; a recall is on its way, or was answered.
  input  logic fill_i,
  input  pe_t  fill_pe_i,
  input  tid_t fill_tid_i,
  input  logic recalled_i,
  input  logic recall_done_i,
  input  logic recalling_i,
  input  logic granted_i,
  input  logic created_i,

  input  pe_t  home_i,
  output logic home_has_slot_o,
  output logic home_idle_o,

  output logic place_o,
  output logic place_idle_o,
  output pe_t  place_pe_o,
  output logic grant_o,
  output pe_t  grant_pe_o,
  output logic recall_o,
  output pe_t  recall_pe_o,
  output tid_t recall_tid_o
);

  localparam int unsigned IndexWidth = NumPes > 1 ? $clog2(NumPes) : 1;
  typedef logic [IndexWidth-1:0] index_t;

  logic [NumPes-1:0] running_q, slot_q, recalling_q;
  tid_t              prefetched_q[NumPes];
  logic [2:0]        pool_q[NumPes];

  logic [NumPes-1:0] idle, hungry, recallable;
  index_t            at, fill_pe, home, idle_index, slot_index, grant_index, recall_index;
  logic              any_idle;

  assign at      = index_t'(at_i);
  assign fill_pe = index_t'(fill_pe_i);
  assign home    = index_t'(home_i);
  assign idle    = slot_q & ~running_q;
  always_comb begin
    for (int unsigned p = 0; p < NumPes; p++) hungry[p] = pool_q[p] != 3'(PoolSize);
  end
  assign recallable = |idle ? running_q & ~slot_q & ~recalling_q : '0;

  logic [NumPes-1:0] unused_gnt[4];
  rr_arbiter #(.NumReqs(NumPes)) u_idle (
    .clk_i, .rst_ni, .req_i(idle), .advance_i(fill_i), .gnt_o(unused_gnt[0]), .index_o(idle_index), .any_o(any_idle)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_slot (
    .clk_i, .rst_ni, .req_i(slot_q), .advance_i(fill_i), .gnt_o(unused_gnt[1]), .index_o(slot_index), .any_o(place_o)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_grant (
    .clk_i, .rst_ni, .req_i(hungry), .advance_i(granted_i), .gnt_o(unused_gnt[2]), .index_o(grant_index), .any_o(grant_o)
  );
  rr_arbiter #(.NumReqs(NumPes)) u_recall (
    .clk_i, .rst_ni, .req_i(recallable), .advance_i(recalling_i), .gnt_o(unused_gnt[3]), .index_o(recall_index),
    .any_o(recall_o)
  );

  assign place_idle_o    = any_idle;
  assign place_pe_o      = any_idle ? pe_t'(idle_index) : pe_t'(slot_index);
  assign grant_pe_o      = pe_t'(grant_index);
  assign recall_pe_o     = pe_t'(recall_index);
  assign recall_tid_o    = prefetched_q[recall_index];
  assign home_has_slot_o = slot_q[home];
  assign home_idle_o     = !running_q[home];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      // PE 0 runs thread 0 from the start.
      running_q   <= NumPes'(1);
      slot_q      <= '1;
      recalling_q <= '0;
      for (int unsigned p = 0; p < NumPes; p++) pool_q[p] <= '0;
    end else begin
      if (stop_i) running_q[at] <= 1'b0;
      if (start_i) begin
        running_q[at] <= 1'b1;
        slot_q[at]    <= 1'b1;
      end
      if (recalled_i) slot_q[at] <= 1'b1;
      if (recall_done_i) recalling_q[at] <= 1'b0;
      if (fill_i) slot_q[fill_pe] <= 1'b0;
      if (recalling_i) recalling_q[recall_index] <= 1'b1;
      if (created_i) pool_q[at] <= pool_q[at] - 3'd1;
      if (granted_i) pool_q[grant_index] <= pool_q[grant_index] + 3'd1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fill_i) prefetched_q[fill_pe] <= fill_tid_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      PeTableFillsOnlyFreeSlots : assert (!fill_i || slot_q[fill_pe]);
      PeTableStartsOnlyWhatWasDispatched : assert (!start_i || !slot_q[at]);
      PeTableChangesOnePoolAtATime : assert (!(created_i && granted_i));
      PeTablePoolsNeverUnderflow : assert (!created_i || pool_q[at] != '0);
    end
  end
`endif

endmodule
