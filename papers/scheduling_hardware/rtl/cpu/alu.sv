// SPDX-License-Identifier: Apache-2.0
// Arithmetic and logic unit, combinational. Shifts take their amount from a[4:0].

module alu
  import cpu_pkg::*;
(
  input  alu_op_e     op_i,
  input  logic [31:0] a_i,
  input  logic [31:0] b_i,
  output logic [31:0] result_o,
  // What AluAdd results in, without the choice of the operation; of no meaning in others.
  output logic [31:0] sum_o,
  // A signed addition or subtraction overflowed.
  output logic        overflow_o
);

  logic        subtract, less_signed, less_unsigned;
  logic [32:0] sum;

  assign subtract      = op_i != AluAdd;
  assign sum           = {1'b0, a_i} + {1'b0, b_i ^ {32{subtract}}} + {32'd0, subtract};
  assign sum_o         = sum[31:0];
  assign overflow_o    = (a_i[31] ^ sum[31]) & ((b_i[31] ^ subtract) ^ sum[31]);
  assign less_unsigned = !sum[32];
  assign less_signed   = sum[31] ^ overflow_o;

  always_comb begin
    unique case (op_i)
      AluAdd, AluSub: result_o = sum[31:0];
      AluAnd:         result_o = a_i & b_i;
      AluOr:          result_o = a_i | b_i;
      AluXor:         result_o = a_i ^ b_i;
      AluNor:         result_o = ~(a_i | b_i);
      AluSlt:         result_o = {31'd0, less_signed};
      AluSltu:        result_o = {31'd0, less_unsigned};
      AluSll:         result_o = b_i << a_i[4:0];
      AluSrl:         result_o = b_i >> a_i[4:0];
      AluSra:         result_o = $unsigned($signed(b_i) >>> a_i[4:0]);
      default:        result_o = {b_i[15:0], 16'd0};
    endcase
  end

endmodule
