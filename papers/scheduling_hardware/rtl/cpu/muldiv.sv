// SPDX-License-Identifier: Apache-2.0
// Multiplier and divider, beside the pipeline.
//
// An operation is taken in a cycle with `start_i` (never while `busy_o`); HI and LO hold the result when busy falls: 4 cycles
// later for a product, 34 for a quotient. mthi and mtlo take one cycle. There is one pair HI, LO for each register bank;
// the bank must not change while busy.
//
// Division by zero and overflow give what an R3000 gives: dividend in HI, and in LO -1 (1 where a signed dividend is negative);
// -2^31 / -1 = -2^31, remainder 0. On RISC-V (`Rv32`) a quotient by zero is always -1; there HI and LO are the unit's own.

module muldiv
  import cpu_pkg::*;
#(
  parameter int unsigned Banks = 1,
  parameter bit          Rv32  = 1'b0,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 start_i,
  input  muldiv_e              op_i,
  input  logic [31:0]          a_i,
  input  logic [31:0]          b_i,
  input  logic [BankWidth-1:0] bank_i,
  output logic                 busy_o,
  output logic [31:0]          hi_o,
  output logic [31:0]          lo_o,

  // Another bank's HI (index 0) and LO (1), for saving and restoring contexts.
  input  logic [BankWidth-1:0] port_bank_i,
  input  logic                 port_lo_i,
  input  logic                 port_we_i,
  input  logic [31:0]          port_wdata_i,
  output logic [31:0]          port_rdata_o
);

  localparam logic [5:0] MultiplyCycles = 6'd4;
  localparam logic [5:0] DivideCycles = 6'd34;

  logic [31:0] hi_q[Banks];
  logic [31:0] lo_q[Banks];
  logic [5:0]  left_q;
  logic        busy_q, dividing_q, negate_quotient_q, negate_remainder_q;
  logic [63:0] work_q;
  logic [31:0] divisor_q;

  logic        is_signed, a_signed, by_zero;
  logic [31:0] a_abs, b_abs;
  logic [63:0] product;
  logic [32:0] shifted_less;
  logic [63:0] shifted;

  assign is_signed = op_i == MulDivMult || op_i == MulDivDiv;
  assign a_signed  = is_signed || op_i == MulDivMulsu;
  assign by_zero   = b_i == '0;
  assign a_abs     = is_signed && a_i[31] ? -a_i : a_i;
  assign b_abs     = is_signed && b_i[31] ? -b_i : b_i;

  // A product takes its cycles in turn: the factors are kept, their halves multiplied, and what that gave is added up.
  logic        a_minus_q, b_minus_q;
  logic [31:0] low_q, high_q;
  logic [33:0] middle_q, a_low, a_high, b_low, b_high;
  assign a_low   = {18'd0, work_q[15:0]};
  assign b_low   = {18'd0, divisor_q[15:0]};
  assign a_high  = {{18{a_minus_q}}, work_q[31:16]};
  assign b_high  = {{18{b_minus_q}}, divisor_q[31:16]};
  assign product = {high_q, low_q} + {{14{middle_q[33]}}, middle_q, 16'd0};
  always_ff @(posedge clk_i) begin
    low_q    <= 32'(a_low * b_low);
    middle_q <= 34'($signed(a_low) * $signed(b_high)) + 34'($signed(a_high) * $signed(b_low));
    high_q   <= 32'($signed(a_high) * $signed(b_high));
  end

  // One bit of the quotient a cycle (restoring division).
  assign shifted      = {work_q[62:0], 1'b0};
  assign shifted_less = {1'b0, shifted[63:32]} - {1'b0, divisor_q};

  // What the unit itself writes; it never writes a bank that is saved or restored.
  logic        ends, hi_we, lo_we;
  logic [31:0] hi_d, lo_d;
  assign ends  = busy_q && left_q == 6'd1;
  assign hi_we = ends || (start_i && op_i == MulDivToHi);
  assign lo_we = ends || (start_i && op_i == MulDivToLo);
  assign hi_d  = !busy_q ? a_i : dividing_q && negate_remainder_q ? -work_q[63:32] : work_q[63:32];
  assign lo_d  = !busy_q ? a_i : dividing_q && negate_quotient_q ? -work_q[31:0] : work_q[31:0];

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic port_here, here;
    assign port_here = port_we_i && port_bank_i == BankWidth'(b);
    assign here      = bank_i == BankWidth'(b);
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        hi_q[b] <= '0;
        lo_q[b] <= '0;
      end else begin
        if (port_here && !port_lo_i) hi_q[b] <= port_wdata_i;
        else if (here && hi_we) hi_q[b] <= hi_d;
        if (port_here && port_lo_i) lo_q[b] <= port_wdata_i;
        else if (here && lo_we) lo_q[b] <= lo_d;
      end
    end
  end

  assign busy_o       = busy_q;
  assign hi_o         = hi_q[bank_i];
  assign lo_o         = lo_q[bank_i];
  assign port_rdata_o = port_lo_i ? lo_q[port_bank_i] : hi_q[port_bank_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      left_q             <= '0;
      busy_q             <= 1'b0;
      dividing_q         <= 1'b0;
      negate_quotient_q  <= 1'b0;
      negate_remainder_q <= 1'b0;
      a_minus_q          <= 1'b0;
      b_minus_q          <= 1'b0;
      work_q             <= '0;
      divisor_q          <= '0;
    end else begin
      if (start_i) begin
        unique case (op_i)
          MulDivMult, MulDivMultu, MulDivMulsu: begin
            work_q     <= {32'd0, a_i};
            divisor_q  <= b_i;
            a_minus_q  <= a_signed && a_i[31];
            b_minus_q  <= is_signed && b_i[31];
            left_q     <= MultiplyCycles;
            busy_q     <= 1'b1;
            dividing_q <= 1'b0;
          end
          MulDivDiv, MulDivDivu: begin
            work_q             <= {32'd0, a_abs};
            divisor_q          <= b_abs;
            left_q             <= DivideCycles;
            busy_q             <= 1'b1;
            dividing_q         <= 1'b1;
            // By zero the loop gives a quotient of all ones and the dividend as remainder; only a negative dividend
            // changes the quotient's sign, as in hardware.
            negate_quotient_q  <= is_signed && (a_i[31] ^ (b_i[31] && !by_zero)) && !(Rv32 && by_zero);
            negate_remainder_q <= is_signed && a_i[31];
          end
          default: ;
        endcase
      end else if (busy_o) begin
        left_q <= left_q - 6'd1;
        busy_q <= left_q != 6'd1;
        if (dividing_q && left_q > 6'd2) begin
          work_q <= shifted_less[32] ? shifted : {shifted_less[31:0], shifted[31:1], 1'b1};
        end
        if (!dividing_q && left_q == MultiplyCycles - 6'd1) work_q <= product;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) MulDivIsNotStartedWhileBusy : assert (!start_i || !busy_o);
  end
`endif

endmodule
