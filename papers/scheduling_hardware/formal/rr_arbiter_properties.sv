// SPDX-License-Identifier: Apache-2.0
// Whoever goes on asking is granted after at most NumReqs - 1 grants to others; one at a time, and only who asked.

module rr_arbiter_properties #(
  parameter int unsigned NumReqs = 4,
  parameter int unsigned IndexWidth = NumReqs > 1 ? $clog2(NumReqs) : 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic [NumReqs-1:0]    req_i,
  input logic                  advance_i,
  input logic [NumReqs-1:0]    gnt_o,
  input logic [IndexWidth-1:0] index_o,
  input logic                  any_o
);

  // Grants to others since each one began to ask.
  logic [NumReqs-1:0][IndexWidth:0] others_q;
  logic [NumReqs-1:0]               passed_over;
  logic                             started_q = 1'b0;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    for (int unsigned r = 0; r < NumReqs; r++) begin
      if (!rst_ni || !req_i[r] || (advance_i && gnt_o[r])) others_q[r] <= '0;
      else if (advance_i) others_q[r] <= others_q[r] + (IndexWidth + 1)'(1);
    end
  end

  always_comb begin
    for (int unsigned r = 0; r < NumReqs; r++) passed_over[r] = 32'(others_q[r]) >= NumReqs;
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    else if (rst_ni) begin
      GrantsAtMostOne : assert ($onehot0(gnt_o));
      GrantsOnlyWhoAsked : assert ((gnt_o & ~req_i) == '0);
      GrantsIfAnyAsks : assert (|gnt_o == |req_i && any_o == |req_i);
      IndexIsOfTheGranted : assert (!any_o || gnt_o == NumReqs'(1) << index_o);
      WaitIsBounded : assert (passed_over == '0);
    end
  end

endmodule

bind rr_arbiter rr_arbiter_properties #(
  .NumReqs(NumReqs)
) u_properties (
  .*
);
