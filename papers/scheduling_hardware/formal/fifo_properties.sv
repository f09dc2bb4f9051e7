// SPDX-License-Identifier: Apache-2.0
// Words come out in the order in which they went in, each once, none dropped. One word, whichever, is followed on its way: it comes
// out behind exactly those that were before it.

module fifo_properties #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 4,
  parameter int unsigned CountWidth = $clog2(Depth + 1)
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic                  valid_i,
  input logic                  ready_o,
  input logic [Width-1:0]      data_i,
  input logic                  valid_o,
  input logic                  ready_i,
  input logic [Width-1:0]      data_o,
  input logic [CountWidth-1:0] room_o
);

  // Not driven, so free in each cycle: whether the word that goes in now is the one to follow.
  logic                  follow;
  logic                  push, pop;
  logic                  inside_q;
  logic [Width-1:0]      word_q;
  logic [CountWidth-1:0] before_q, held_q;
  logic                  started_q = 1'b0;

  assign push = valid_i && ready_o;
  assign pop  = valid_o && ready_i;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    held_q    <= rst_ni ? held_q + CountWidth'(push) - CountWidth'(pop) : '0;
    if (!rst_ni) begin
      inside_q <= 1'b0;
    end else if (inside_q) begin
      if (pop) inside_q <= before_q != '0;
      before_q <= before_q - CountWidth'(pop);
    end else if (push && follow) begin
      inside_q <= 1'b1;
      word_q   <= data_i;
      before_q <= held_q - CountWidth'(pop);
    end
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    else if (rst_ni) begin
      FollowedWordComesInItsTurn : assert (!inside_q || before_q != '0 || (valid_o && data_o == word_q));
      FollowedWordIsAmongThoseHeld : assert (!inside_q || before_q < held_q);
      ShowsAWordIfItHoldsOne : assert (valid_o == (held_q != '0));
      TakesAWordIfItHasRoom : assert (ready_o == (held_q != CountWidth'(Depth)));
      RoomIsWhatIsLeft : assert (room_o == CountWidth'(Depth) - held_q);
    end
  end

endmodule

bind fifo fifo_properties #(
  .Width(Width),
  .Depth(Depth)
) u_properties (
  .*
);
