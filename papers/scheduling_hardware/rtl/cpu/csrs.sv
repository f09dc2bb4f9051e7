// SPDX-License-Identifier: Apache-2.0
// Control and status registers of RISC-V's machine mode, the only mode that this core has (The RISC-V Instruction Set Manual, volume II,
// 20240411, chapter 3): mstatus (MIE, MPIE; MPP is M), misa, mie (MEIE), mtvec (direct), mscratch, mepc, mcause, mtval, mip (MEIP: `irq_i`),
// mcycle, minstret with their upper halves, and who the core is. What reads them sees the value before the instruction.

module csrs
  import cpu_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        irq_i,
  input  logic [31:0] hart_i,

  // For the decoder: whether there is this CSR.
  input  logic [11:0] named_i,
  output logic        exists_o,

  // The instruction in the M stage: a CSR instruction (`valid_i`), and what its register holds.
  input  logic        valid_i,
  input  logic [31:0] instr_i,
  input  logic [31:0] operand_i,
  output logic [31:0] rdata_o,

  input  logic        retires_i,
  input  logic        trap_i,
  input  logic [4:0]  trap_cause_i,
  input  logic [31:0] trap_pc_i,
  input  logic [31:0] trap_value_i,
  input  logic        mret_i,

  output logic        interrupt_o,
  output logic [31:0] vector_o,
  output logic [31:0] epc_o
);

  localparam logic [11:0] MStatus = 12'h300;
  localparam logic [11:0] MIsa = 12'h301;
  localparam logic [11:0] MIe = 12'h304;
  localparam logic [11:0] MTvec = 12'h305;
  localparam logic [11:0] MStatusH = 12'h310;
  localparam logic [11:0] MScratch = 12'h340;
  localparam logic [11:0] MEpc = 12'h341;
  localparam logic [11:0] MCause = 12'h342;
  localparam logic [11:0] MTval = 12'h343;
  localparam logic [11:0] MIp = 12'h344;
  localparam logic [11:0] MCycle = 12'hb00;
  localparam logic [11:0] MInstret = 12'hb02;
  localparam logic [11:0] MCycleH = 12'hb80;
  localparam logic [11:0] MInstretH = 12'hb82;
  localparam logic [11:0] MVendorId = 12'hf11;
  localparam logic [11:0] MArchId = 12'hf12;
  localparam logic [11:0] MImpId = 12'hf13;
  localparam logic [11:0] MHartId = 12'hf14;

  // 32 bits; A, I and M.
  localparam logic [31:0] Isa = 32'h4000_1101;
  // The core of this machine and its revision, as PRId says for the MIPS one.
  localparam logic [31:0] Implementation = 32'h0000_f001;
  // MEI, the machine's external interrupt.
  localparam logic [31:0] McauseInterrupt = 32'h8000_000b;

  logic        mie_q, mpie_q, meie_q;
  logic [31:0] vector_q, scratch_q, epc_q, cause_q, value_q;
  logic [63:0] cycle_q, instret_q;

  always_comb begin
    unique case (named_i)
      MStatus, MIsa, MIe, MTvec, MStatusH, MScratch, MEpc, MCause, MTval, MIp, MCycle, MInstret, MCycleH, MInstretH, MVendorId, MArchId,
      MImpId, MHartId: exists_o = 1'b1;
      default:         exists_o = 1'b0;
    endcase
  end

  logic [11:0] csr;
  logic [31:0] operand, wdata;
  logic        writes;
  assign csr     = instr_i[31:20];
  assign operand = instr_i[14] ? {27'd0, instr_i[19:15]} : operand_i;
  assign writes  = valid_i && (!instr_i[13] || instr_i[19:15] != 5'd0);

  always_comb begin
    unique case (csr)
      MStatus:   rdata_o = {19'd0, 2'b11, 3'd0, mpie_q, 3'd0, mie_q, 3'd0};
      MIsa:      rdata_o = Isa;
      MIe:       rdata_o = {20'd0, meie_q, 11'd0};
      MTvec:     rdata_o = vector_q;
      MScratch:  rdata_o = scratch_q;
      MEpc:      rdata_o = epc_q;
      MCause:    rdata_o = cause_q;
      MTval:     rdata_o = value_q;
      MIp:       rdata_o = {20'd0, irq_i, 11'd0};
      MCycle:    rdata_o = cycle_q[31:0];
      MCycleH:   rdata_o = cycle_q[63:32];
      MInstret:  rdata_o = instret_q[31:0];
      MInstretH: rdata_o = instret_q[63:32];
      MImpId:    rdata_o = Implementation;
      MHartId:   rdata_o = hart_i;
      default:   rdata_o = '0;
    endcase
    unique case (instr_i[13:12])
      2'd1:    wdata = operand;
      2'd2:    wdata = rdata_o | operand;
      default: wdata = rdata_o & ~operand;
    endcase
  end

  assign interrupt_o = mie_q && meie_q && irq_i;
  assign vector_o    = vector_q;
  assign epc_o       = epc_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mie_q     <= 1'b0;
      mpie_q    <= 1'b0;
      meie_q    <= 1'b0;
      vector_q  <= ExceptionVector;
      scratch_q <= '0;
      epc_q     <= '0;
      cause_q   <= '0;
      value_q   <= '0;
      cycle_q   <= '0;
      instret_q <= '0;
    end else begin
      cycle_q   <= cycle_q + 64'd1;
      instret_q <= instret_q + {63'd0, retires_i};
      if (trap_i) begin
        mpie_q  <= mie_q;
        mie_q   <= 1'b0;
        epc_q   <= trap_pc_i;
        cause_q <= trap_cause_i == CauseRvInterrupt ? McauseInterrupt : {27'd0, trap_cause_i};
        value_q <= trap_value_i;
      end else if (mret_i) begin
        mie_q  <= mpie_q;
        mpie_q <= 1'b1;
      end else if (writes) begin
        unique case (csr)
          MStatus: begin
            mie_q  <= wdata[3];
            mpie_q <= wdata[7];
          end
          MIe:       meie_q <= wdata[11];
          MTvec:     vector_q <= {wdata[31:2], 2'd0};
          MScratch:  scratch_q <= wdata;
          MEpc:      epc_q <= {wdata[31:2], 2'd0};
          MCause:    cause_q <= {wdata[31], 26'd0, wdata[4:0]};
          MTval:     value_q <= wdata;
          MCycle:    cycle_q[31:0] <= wdata;
          MCycleH:   cycle_q[63:32] <= wdata;
          // In place of counting the instruction that writes, in the other half, too.
          MInstret:  instret_q <= {instret_q[63:32], wdata};
          MInstretH: instret_q <= {wdata, instret_q[31:0]};
          default:   ;
        endcase
      end
    end
  end

  logic unused_instr;
  assign unused_instr = ^instr_i[11:0];

endmodule
