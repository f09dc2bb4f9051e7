// SPDX-License-Identifier: Apache-2.0
// Which thread's context lies in which place of a PE's own context memory (LOCAL); the memory itself is the context engine's.
//
// `find_tid_i` is looked up combinationally (`found_o`, `found_index_o`). `claim_i` gives the first free place (`free_o`,
// `free_index_o`) to `claim_tid_i`, marked for eviction if `claim_marked_i` is high; `release_i` frees `release_index_i`, and
// `release_found_i` the place that was found. `evict_i` marks the place of `evict_tid_i`, if it has one. `leave_o` names a place
// (`leave_index_o`, `leave_tid_o`) whose context is to go to memory: one that is marked, or if none is free the next in turn, but
// never that of `find_tid_i` while `keep_i` is high; `leave_taken_i` says that it is on its way.

module context_directory
  import okosu_pkg::*;
#(
  parameter int unsigned Places = 16,
  // Derived from the parameters above; not to be set.
  parameter int unsigned PlaceWidth = Places > 1 ? $clog2(Places) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  tid_t                  find_tid_i,
  input  logic                  keep_i,
  output logic                  found_o,
  output logic [PlaceWidth-1:0] found_index_o,
  output logic                  free_o,
  output logic [PlaceWidth-1:0] free_index_o,

  input  logic                  claim_i,
  input  logic [PlaceWidth-1:0] claim_index_i,
  input  tid_t                  claim_tid_i,
  input  logic                  claim_marked_i,
  input  logic                  release_found_i,
  input  logic                  release_i,
  input  logic [PlaceWidth-1:0] release_index_i,

  input  logic                  evict_i,
  input  tid_t                  evict_tid_i,
  output logic                  leave_o,
  output logic [PlaceWidth-1:0] leave_index_o,
  output tid_t                  leave_tid_o,
  input  logic                  leave_taken_i
);

  logic [Places-1:0] used_q, marked_q;
  tid_t              tid_q[Places];
  logic [Places-1:0] movable, leaving;

  always_comb begin
    found_o       = 1'b0;
    found_index_o = '0;
    free_o        = 1'b0;
    free_index_o  = '0;
    for (int unsigned n = 0; n < Places; n++) begin
      movable[n] = used_q[n];
      if (used_q[n] && tid_q[n] == find_tid_i) begin
        found_o       = 1'b1;
        found_index_o = PlaceWidth'(n);
        movable[n]    = !keep_i;
      end
      if (!used_q[Places-1-n]) begin
        free_o       = 1'b1;
        free_index_o = PlaceWidth'(Places - 1 - n);
      end
    end
  end

  always_comb begin
    leaving = movable & marked_q;
    if (leaving == '0 && !free_o) leaving = movable;
  end

  logic [Places-1:0] unused_gnt;
  rr_arbiter #(
    .NumReqs(Places)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .req_i    (leaving),
    .advance_i(leave_taken_i),
    .gnt_o    (unused_gnt),
    .index_o  (leave_index_o),
    .any_o    (leave_o)
  );
  assign leave_tid_o = tid_q[leave_index_o];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q   <= '0;
      marked_q <= '0;
    end else begin
      for (int unsigned n = 0; n < Places; n++) begin
        if (evict_i && used_q[n] && tid_q[n] == evict_tid_i) marked_q[n] <= 1'b1;
      end
      if (claim_i) begin
        used_q[claim_index_i]   <= 1'b1;
        marked_q[claim_index_i] <= claim_marked_i;
      end
      if (release_found_i) used_q[found_index_o] <= 1'b0;
      if (release_i) used_q[release_index_i] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (claim_i) tid_q[claim_index_i] <= claim_tid_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ContextDirectoryClaimsOnlyWhatIsFree : assert (!claim_i || !used_q[claim_index_i]);
      ContextDirectoryReleasesOnlyWhatIsHeld :
      assert ((!release_i || used_q[release_index_i]) && (!release_found_i || found_o));
    end
  end
`endif

endmodule
