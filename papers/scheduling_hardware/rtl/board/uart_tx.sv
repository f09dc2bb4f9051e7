// SPDX-License-Identifier: Apache-2.0
// A serial transmitter: 8 bits, the lowest first, no parity, one stop bit, Divisor cycles a bit.
// A byte is taken with valid and ready, which is high between frames; the line, `tx_o`, is high when it idles.

module uart_tx #(
  parameter int unsigned Divisor = 108
) (
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       valid_i,
  output logic       ready_o,
  input  logic [7:0] data_i,
  output logic       tx_o
);

  localparam int unsigned CountWidth = $clog2(Divisor);

  // The bits that are still to be sent, with the stop bit above them and ones shifted in; left_q counts those of the frame.
  logic [8:0]            bits_q;
  logic [3:0]            left_q;
  logic [CountWidth-1:0] count_q;
  logic                  tick;

  assign ready_o = left_q == '0;
  assign tick    = count_q == CountWidth'(Divisor - 1);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tx_o    <= 1'b1;
      bits_q  <= '1;
      left_q  <= '0;
      count_q <= '0;
    end else if (ready_o) begin
      count_q <= '0;
      if (valid_i) begin
        tx_o   <= 1'b0;
        bits_q <= {1'b1, data_i};
        left_q <= 4'd10;
      end
    end else begin
      count_q <= tick ? '0 : count_q + CountWidth'(1);
      if (tick) begin
        {bits_q, tx_o} <= {1'b1, bits_q};
        left_q         <= left_q - 4'd1;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      UartTxLineIdlesHigh : assert (!ready_o || tx_o);
      UartTxFrameHasTenBits : assert (left_q <= 4'd10);
    end
  end
`endif

endmodule
