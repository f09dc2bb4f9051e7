// SPDX-License-Identifier: Apache-2.0
// The bus snooping unit: a content-addressed table of watched memory words.
//
// `find_addr_i` is looked up combinationally (`found_o`, `index_o`), beside it the first free entry (`free_o`, `free_index_o`). `claim_i` takes
// a free entry for an address, `release_i` gives `release_index_i` back. Every store or exchange that the memory bus shows for a
// watched word is counted in its entry, from the cycle of its claim on: a waiter that claims the entry first and compares
// the word afterwards cannot miss a store (proved in formal/watch_unit.sby). A mutex counts only stores of 0: unlocking. The count
// saturates at 15, which means "wake all". `hit_o` and `hit_*_o` show an entry with stores to be answered, each entry in its
// turn; `take_i` clears its count but for a store of the same cycle.

module watch_unit
  import okosu_pkg::*;
#(
  parameter int unsigned Watches = 16,
  // Derived from the parameters above; not to be set.
  parameter int unsigned IndexWidth = Watches > 1 ? $clog2(Watches) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  mem_snoop_t            snoop_i,

  input  logic [31:0]           find_addr_i,
  output logic                  found_o,
  output logic [IndexWidth-1:0] index_o,
  output logic                  free_o,
  output logic [IndexWidth-1:0] free_index_o,

  input  logic                  claim_i,
  input  logic [1:0]            claim_kind_i,
  input  logic                  release_i,
  input  logic [IndexWidth-1:0] release_index_i,

  input  logic [IndexWidth-1:0] read_index_i,
  output logic [31:0]           read_addr_o,
  output logic [1:0]            read_kind_o,

  output logic                  hit_o,
  output logic [IndexWidth-1:0] hit_index_o,
  output logic [3:0]            hit_count_o,
  output logic [1:0]            hit_kind_o,
  input  logic                  take_i
);

  localparam logic [1:0] KindMutex = 2'd1;
  // A barrier's entry is only a name for its list.
  localparam logic [1:0] KindBarrier = 2'd3;

  logic [Watches-1:0] valid_q;
  logic [29:0]        addr_q[Watches];
  logic [1:0]         kind_q[Watches];
  logic [3:0]         count_q[Watches];
  logic [Watches-1:0] struck, waiting;

  always_comb begin
    found_o      = 1'b0;
    index_o      = '0;
    free_o       = 1'b0;
    free_index_o = '0;
    for (int unsigned w = 0; w < Watches; w++) begin
      if (valid_q[w] && addr_q[w] == find_addr_i[31:2]) begin
        found_o = 1'b1;
        index_o = IndexWidth'(w);
      end
      if (!valid_q[Watches-1-w]) begin
        free_o       = 1'b1;
        free_index_o = IndexWidth'(Watches - 1 - w);
      end
    end
  end

  always_comb begin
    for (int unsigned w = 0; w < Watches; w++) begin
      struck[w] = snoop_i.valid && snoop_i.is_store && valid_q[w] && addr_q[w] == snoop_i.addr[31:2] &&
                   kind_q[w] != KindBarrier && !(kind_q[w] == KindMutex && (snoop_i.data != '0 || snoop_i.be != '1));
      waiting[w] = valid_q[w] && count_q[w] != '0;
    end
  end

  logic [Watches-1:0] unused_gnt;
  rr_arbiter #(
    .NumReqs(Watches)
  ) u_turn (
    .clk_i,
    .rst_ni,
    .req_i    (waiting),
    .advance_i(take_i),
    .gnt_o    (unused_gnt),
    .index_o  (hit_index_o),
    .any_o    (hit_o)
  );
  assign hit_count_o = count_q[hit_index_o];
  assign hit_kind_o  = kind_q[hit_index_o];
  assign read_addr_o = {addr_q[read_index_i], 2'b00};
  assign read_kind_o = kind_q[read_index_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      for (int unsigned w = 0; w < Watches; w++) count_q[w] <= '0;
    end else begin
      if (claim_i) valid_q[free_index_o] <= 1'b1;
      if (release_i) valid_q[release_index_i] <= 1'b0;
      for (int unsigned w = 0; w < Watches; w++) begin
        if (claim_i && free_index_o == IndexWidth'(w)) begin
          // A store on the bus in the cycle of the claim need not be counted: the waiter compares after it.
          count_q[w] <= '0;
        end else if (take_i && hit_index_o == IndexWidth'(w)) begin
          count_q[w] <= {3'd0, struck[w]};
        end else if (struck[w] && count_q[w] != '1) begin
          count_q[w] <= count_q[w] + 4'd1;
        end
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (claim_i) begin
      addr_q[free_index_o] <= find_addr_i[31:2];
      kind_q[free_index_o] <= claim_kind_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WatchUnitClaimsOnlyWhatIsFree : assert (!claim_i || (free_o && !found_o));
      WatchUnitReleasesOnlyWhatIsHeld : assert (!release_i || valid_q[release_index_i]);
      WatchUnitTakesOnlyHits : assert (!take_i || hit_o);
    end
  end
`endif

endmodule
