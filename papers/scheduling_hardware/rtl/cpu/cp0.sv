// SPDX-License-Identifier: Apache-2.0
// System control: the status stack, cause, EPC and BadVAddr of an R3000, without its TLB, timer and counter (it has none).
//
// Status: bit 0 IEc, 1 KUc, 2 IEp, 3 KUp, 4 IEo, 5 KUo (a trap shifts them left by two, rfe right), 15:8 interrupt mask.
// Everything runs in kernel mode; the KU bits are kept but mean nothing.
// Cause: bit 31 BD, 15:8 pending (10 from `irq_i`, 9:8 by software), 6:2 what it was.

module cp0
  import cpu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        irq_i,

  input  logic [4:0]  reg_i,
  output logic [31:0] rdata_o,
  input  logic        we_i,
  input  logic [31:0] wdata_i,

  input  logic        trap_i,
  input  logic [4:0]  trap_cause_i,
  input  logic [31:0] trap_pc_i,
  input  logic        trap_in_slot_i,
  input  logic        trap_bad_i,
  input  logic [31:0] trap_bad_addr_i,
  input  logic [1:0]  trap_cop_i,
  input  logic        rfe_i,

  output logic        interrupt_o
);

  // A processor number that no MIPS has; its low byte is the revision of this core.
  localparam logic [31:0] PrId = 32'h0000_f001;

  logic [5:0]  stack_q;
  logic [7:0]  mask_q;
  logic        in_slot_q;
  logic [1:0]  cop_q;
  logic [1:0]  software_q;
  logic [4:0]  cause_q;
  logic [31:0] epc_q, bad_q;
  logic [7:0]  pending;

  assign pending     = {5'd0, irq_i, software_q};
  assign interrupt_o = stack_q[0] && |(pending & mask_q);

  always_comb begin
    unique case (reg_i)
      5'd8:    rdata_o = bad_q;
      5'd12:   rdata_o = {16'd0, mask_q, 2'd0, stack_q};
      5'd13:   rdata_o = {in_slot_q, 1'b0, cop_q, 12'd0, pending, 1'b0, cause_q, 2'd0};
      5'd14:   rdata_o = epc_q;
      5'd15:   rdata_o = PrId;
      default: rdata_o = '0;
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stack_q    <= '0;
      mask_q     <= '0;
      in_slot_q  <= 1'b0;
      cop_q      <= '0;
      software_q <= '0;
      cause_q    <= '0;
      epc_q      <= '0;
      bad_q      <= '0;
    end else if (trap_i) begin
      stack_q   <= {stack_q[3:0], 2'b00};
      in_slot_q <= trap_in_slot_i;
      cause_q   <= trap_cause_i;
      cop_q     <= trap_cop_i;
      epc_q     <= trap_in_slot_i ? trap_pc_i - 32'd4 : trap_pc_i;
      if (trap_bad_i) bad_q <= trap_bad_addr_i;
    end else if (rfe_i) begin
      stack_q[3:0] <= stack_q[5:2];
    end else if (we_i) begin
      unique case (reg_i)
        5'd12: begin
          stack_q <= wdata_i[5:0];
          mask_q  <= wdata_i[15:8];
        end
        5'd13:   software_q <= wdata_i[9:8];
        5'd14:   epc_q <= wdata_i;
        default: ;
      endcase
    end
  end

endmodule
