// SPDX-License-Identifier: Apache-2.0
// Round-robin arbiter.
//
// Grants one of the requests, combinationally: the first at or above `next_q`, else the first of all. When `advance_i` is
// high, the turn passes behind the one granted. So a requester that holds its request is granted after at most
// NumReqs - 1 grants to others (proved in formal/rr_arbiter.sby).

module rr_arbiter #(
  parameter int unsigned NumReqs = 4,
  // Derived from the parameters above; not to be set.
  parameter int unsigned IndexWidth = NumReqs > 1 ? $clog2(NumReqs) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [NumReqs-1:0]    req_i,
  input  logic                  advance_i,
  output logic [NumReqs-1:0]    gnt_o,
  output logic [IndexWidth-1:0] index_o,
  output logic                  any_o
);

  logic [NumReqs-1:0] mask_q, mask_d;
  logic [NumReqs-1:0] above, above_first, all_first;

  // mask_q has a one at each requester whose turn has not yet passed in this round.
  assign above       = req_i & mask_q;
  assign above_first = above & (~above + NumReqs'(1));
  assign all_first   = req_i & (~req_i + NumReqs'(1));
  assign gnt_o       = |above ? above_first : all_first;
  assign any_o       = |req_i;

  always_comb begin
    index_o = '0;
    for (int unsigned i = 0; i < NumReqs; i++) begin
      if (gnt_o[i]) index_o = IndexWidth'(i);
    end
  end

  // Ones strictly above the granted bit.
  assign mask_d = advance_i && any_o ? ~(gnt_o | (gnt_o - NumReqs'(1))) : mask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) mask_q <= '0;
    else mask_q <= mask_d;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RrArbiterGrantsAtMostOne : assert ($onehot0(gnt_o));
      RrArbiterGrantsOnlyWhoAsked : assert ((gnt_o & ~req_i) == '0);
      RrArbiterGrantsIfAnyAsks : assert (any_o == |gnt_o);
    end
  end
`endif

endmodule
