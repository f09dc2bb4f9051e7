// SPDX-License-Identifier: Apache-2.0
// First-in first-out buffer with valid/ready on both sides. A word is at the output in the cycle after it came in.
// `room_o` is how many more words fit. Never drops a word and never shows one twice (proved in formal/fifo.sby).

module fifo #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 4,
  // Derived from the parameters above; not to be set.
  parameter int unsigned CountWidth = $clog2(Depth + 1)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  valid_i,
  output logic                  ready_o,
  input  logic [Width-1:0]      data_i,
  output logic                  valid_o,
  input  logic                  ready_i,
  output logic [Width-1:0]      data_o,
  output logic [CountWidth-1:0] room_o
);

  localparam int unsigned IndexWidth = Depth > 1 ? $clog2(Depth) : 1;

  logic [Width-1:0]      mem_q[Depth];
  logic [IndexWidth-1:0] write_q, read_q;
  logic [CountWidth-1:0] count_q;
  logic                  push, pop;

  assign ready_o = count_q != CountWidth'(Depth);
  assign valid_o = count_q != '0;
  assign data_o  = mem_q[read_q];
  assign room_o  = CountWidth'(Depth) - count_q;
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;

  function automatic logic [IndexWidth-1:0] behind(logic [IndexWidth-1:0] index);
    return index == IndexWidth'(Depth - 1) ? '0 : index + IndexWidth'(1);
  endfunction

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
      count_q <= '0;
    end else begin
      if (push) write_q <= behind(write_q);
      if (pop) read_q <= behind(read_q);
      count_q <= count_q + CountWidth'(push) - CountWidth'(pop);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) mem_q[write_q] <= data_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) FifoHoldsNoMoreThanItsDepth : assert (count_q <= CountWidth'(Depth));
  end
`endif

endmodule
