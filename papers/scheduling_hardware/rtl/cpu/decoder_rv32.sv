// SPDX-License-Identifier: Apache-2.0
// Decoder of RV32IM with Zicsr, Zifencei, Zaamo and Zalrsc, combinational; custom-0 as in doc/INTERFACES.md. Encodings: The RISC-V
// Instruction Set Manual, volume I (20240411), chapter 34. All else traps as illegal, and so does a CSR that csrs.sv does not have.

module decoder_rv32
  import cpu_pkg::*;
  import okosu_pkg::RegSwap;
(
  input  logic [31:0] instr_i,
  output decoded_t    decoded_o,
  // The instruction's constant; of no meaning where it has none.
  output logic [31:0] imm_o,
  // The registers of its operands a and b. A shift's amount is operand a, as the ALU wants it.
  output logic [4:0]  ra_o,
  output logic [4:0]  rb_o,
  // What csrs.sv says of the CSR that the instruction names.
  input  logic        csr_exists_i
);

  localparam logic [4:0] OpLoad = 5'h00;
  localparam logic [4:0] OpCustom0 = 5'h02;
  localparam logic [4:0] OpFence = 5'h03;
  localparam logic [4:0] OpImm = 5'h04;
  localparam logic [4:0] OpAuipc = 5'h05;
  localparam logic [4:0] OpStore = 5'h08;
  localparam logic [4:0] OpAmo = 5'h0b;
  localparam logic [4:0] OpOp = 5'h0c;
  localparam logic [4:0] OpLui = 5'h0d;
  localparam logic [4:0] OpBranch = 5'h18;
  localparam logic [4:0] OpJalr = 5'h19;
  localparam logic [4:0] OpJal = 5'h1b;
  localparam logic [4:0] OpSystem = 5'h1c;

  logic [4:0] op, rd, rs1, rs2;
  logic [2:0] funct3;
  logic [6:0] funct7;
  logic       is_shift;

  assign op       = instr_i[6:2];
  assign rd       = instr_i[11:7];
  assign funct3   = instr_i[14:12];
  assign rs1      = instr_i[19:15];
  assign rs2      = instr_i[24:20];
  assign funct7   = instr_i[31:25];
  assign is_shift = (op == OpImm || (op == OpOp && !funct7[0])) && funct3[1:0] == 2'd1;

  // lui adds its constant to x0. The written register of custom-0's requests travels as operand b.
  assign ra_o = op == OpLui ? 5'd0 : is_shift ? rs2 : rs1;
  assign rb_o = is_shift || op == OpCustom0 ? rs1 : rs2;

  always_comb begin
    unique case (op)
      OpLui, OpAuipc: imm_o = {instr_i[31:12], 12'd0};
      OpJal:          imm_o = {{12{instr_i[31]}}, instr_i[19:12], instr_i[20], instr_i[30:21], 1'b0};
      OpBranch:       imm_o = {{20{instr_i[31]}}, instr_i[7], instr_i[30:25], instr_i[11:8], 1'b0};
      OpStore:        imm_o = {{20{instr_i[31]}}, instr_i[31:25], instr_i[11:7]};
      OpAmo:          imm_o = '0;
      default:        imm_o = {{20{instr_i[31]}}, instr_i[31:20]};
    endcase
  end

  function automatic decoded_t trapping(logic [4:0] cause);
    decoded_t d = '0;
    d.trap  = 1'b1;
    d.cause = cause;
    return d;
  endfunction

  function automatic decoded_t operating(alu_op_e alu, logic immediate, logic [4:0] to);
    decoded_t d = '0;
    d.alu       = alu;
    d.we        = 1'b1;
    d.rd        = to;
    // An immediate shift's constant is the operand a, any other one's the operand b.
    d.shift_imm = immediate && alu inside {AluSll, AluSrl, AluSra};
    d.use_imm   = immediate && !d.shift_imm;
    d.uses_rs   = !d.shift_imm;
    d.uses_rt   = !d.use_imm;
    return d;
  endfunction

  function automatic decoded_t dividing(muldiv_e muldiv, result_e from, logic [4:0] to);
    decoded_t d = '0;
    d.muldiv  = muldiv;
    d.result  = from;
    d.we      = 1'b1;
    d.rd      = to;
    d.uses_rs = 1'b1;
    d.uses_rt = 1'b1;
    return d;
  endfunction

  function automatic decoded_t accessing(access_e access, logic [4:0] to);
    decoded_t d = '0;
    d.alu     = AluAdd;
    d.use_imm = 1'b1;
    d.access  = access;
    d.uses_rs = 1'b1;
    d.uses_rt = access >= AccessSb;
    d.we      = access < AccessSb || access >= AccessExchange;
    d.rd      = d.we ? to : 5'd0;
    d.result  = FromMemory;
    return d;
  endfunction

  function automatic decoded_t branching(branch_e branch);
    decoded_t d = '0;
    d.branch  = branch;
    d.uses_rs = branch != BranchJump;
    d.uses_rt = branch != BranchJump && branch != BranchReg;
    return d;
  endfunction

  function automatic decoded_t linking(branch_e branch, logic [4:0] to);
    decoded_t d = branching(branch);
    d.link = 1'b1;
    d.we   = 1'b1;
    d.rd   = to;
    return d;
  endfunction

  always_comb begin
    decoded_o = trapping(CauseRvIllegal);
    unique case (op)
      OpLui:   decoded_o = operating(AluAdd, 1'b1, rd);
      OpAuipc: begin
        decoded_o         = operating(AluAdd, 1'b1, rd);
        decoded_o.uses_rs = 1'b0;
        decoded_o.from_pc = 1'b1;
      end
      OpJal:   decoded_o = linking(BranchJump, rd);
      OpJalr:  if (funct3 == 3'd0) decoded_o = linking(BranchReg, rd);
      OpBranch: begin
        unique case (funct3)
          3'd0:    decoded_o = branching(BranchEq);
          3'd1:    decoded_o = branching(BranchNe);
          3'd4:    decoded_o = branching(BranchLt);
          3'd5:    decoded_o = branching(BranchGe);
          3'd6:    decoded_o = branching(BranchLtu);
          3'd7:    decoded_o = branching(BranchGeu);
          default: ;
        endcase
      end
      OpLoad: begin
        unique case (funct3)
          3'd0:    decoded_o = accessing(AccessLb, rd);
          3'd1:    decoded_o = accessing(AccessLh, rd);
          3'd2:    decoded_o = accessing(AccessLw, rd);
          3'd4:    decoded_o = accessing(AccessLbu, rd);
          3'd5:    decoded_o = accessing(AccessLhu, rd);
          default: ;
        endcase
      end
      OpStore: begin
        unique case (funct3)
          3'd0:    decoded_o = accessing(AccessSb, rd);
          3'd1:    decoded_o = accessing(AccessSh, rd);
          3'd2:    decoded_o = accessing(AccessSw, rd);
          default: ;
        endcase
      end
      OpImm: begin
        unique case (funct3)
          3'd0:    decoded_o = operating(AluAdd, 1'b1, rd);
          3'd1:    if (funct7 == 7'h00) decoded_o = operating(AluSll, 1'b1, rd);
          3'd2:    decoded_o = operating(AluSlt, 1'b1, rd);
          3'd3:    decoded_o = operating(AluSltu, 1'b1, rd);
          3'd4:    decoded_o = operating(AluXor, 1'b1, rd);
          3'd5: begin
            if (funct7 == 7'h00) decoded_o = operating(AluSrl, 1'b1, rd);
            if (funct7 == 7'h20) decoded_o = operating(AluSra, 1'b1, rd);
          end
          3'd6:    decoded_o = operating(AluOr, 1'b1, rd);
          default: decoded_o = operating(AluAnd, 1'b1, rd);
        endcase
      end
      OpOp: begin
        unique case ({funct7, funct3})
          {7'h00, 3'd0}: decoded_o = operating(AluAdd, 1'b0, rd);
          {7'h20, 3'd0}: decoded_o = operating(AluSub, 1'b0, rd);
          {7'h00, 3'd1}: decoded_o = operating(AluSll, 1'b0, rd);
          {7'h00, 3'd2}: decoded_o = operating(AluSlt, 1'b0, rd);
          {7'h00, 3'd3}: decoded_o = operating(AluSltu, 1'b0, rd);
          {7'h00, 3'd4}: decoded_o = operating(AluXor, 1'b0, rd);
          {7'h00, 3'd5}: decoded_o = operating(AluSrl, 1'b0, rd);
          {7'h20, 3'd5}: decoded_o = operating(AluSra, 1'b0, rd);
          {7'h00, 3'd6}: decoded_o = operating(AluOr, 1'b0, rd);
          {7'h00, 3'd7}: decoded_o = operating(AluAnd, 1'b0, rd);
          {7'h01, 3'd0}: decoded_o = dividing(MulDivMult, FromLo, rd);
          {7'h01, 3'd1}: decoded_o = dividing(MulDivMult, FromHi, rd);
          {7'h01, 3'd2}: decoded_o = dividing(MulDivMulsu, FromHi, rd);
          {7'h01, 3'd3}: decoded_o = dividing(MulDivMultu, FromHi, rd);
          {7'h01, 3'd4}: decoded_o = dividing(MulDivDiv, FromLo, rd);
          {7'h01, 3'd5}: decoded_o = dividing(MulDivDivu, FromLo, rd);
          {7'h01, 3'd6}: decoded_o = dividing(MulDivDiv, FromHi, rd);
          {7'h01, 3'd7}: decoded_o = dividing(MulDivDivu, FromHi, rd);
          default:       ;
        endcase
      end
      // The core's accesses reach the bus in program order, and no store reaches instructions: a fence has nothing to do.
      OpFence: if (funct3[2:1] == 2'd0) decoded_o = '0;
      OpAmo: begin
        if (funct3 == 3'd2) begin
          unique case (instr_i[31:27])
            5'h01:   decoded_o = accessing(AccessExchange, rd);
            5'h02: begin
              if (rs2 == 5'd0) begin
                decoded_o         = accessing(AccessLr, rd);
                decoded_o.uses_rt = 1'b0;
              end
            end
            5'h03:   decoded_o = accessing(AccessSc, rd);
            5'h00, 5'h04, 5'h08, 5'h0c, 5'h10, 5'h14, 5'h18, 5'h1c: begin
              decoded_o         = accessing(AccessAmo, rd);
              decoded_o.cop_reg = instr_i[31:27];
            end
            default: ;
          endcase
        end
      end
      OpSystem: begin
        if (funct3 == 3'd0) begin
          unique case (instr_i[31:7])
            {12'h000, 13'd0}: decoded_o = trapping(CauseRvCall);
            {12'h001, 13'd0}: decoded_o = trapping(CauseRvBreak);
            {12'h302, 13'd0}: begin
              decoded_o        = '0;
              decoded_o.effect = EffectRfe;
            end
            // wfi may do nothing.
            {12'h105, 13'd0}: decoded_o = '0;
            default:          ;
          endcase
        end else if (funct3[1:0] != 2'd0 && csr_exists_i) begin
          // Of csrrs and csrrc, one whose mask is x0 or 0 does not write.
          if (!(instr_i[31:30] == 2'd3 && (!funct3[1] || rs1 != 5'd0))) begin
            decoded_o         = '0;
            decoded_o.effect  = EffectCsr;
            decoded_o.result  = FromCp0;
            decoded_o.we      = 1'b1;
            decoded_o.rd      = rd;
            decoded_o.uses_rs = !funct3[2];
          end
        end
      end
      OpCustom0: begin
        unique case (funct3)
          // A write of an operand, a command or a setting; a read. There is no SWAP: amoswap takes its operand from a register.
          3'd0, 3'd2: begin
            if (funct7[6:5] == 2'd0 && rs2 == 5'd0 && rd == 5'd0 && (funct3[1] || funct7[4:0] != RegSwap)) begin
              decoded_o              = '0;
              decoded_o.effect       = EffectCop2;
              decoded_o.cop_reg      = funct7[4:0];
              decoded_o.cop2_control = funct3[1];
              decoded_o.uses_rt      = 1'b1;
            end
          end
          3'd1: begin
            if (funct7[6:5] == 2'd0 && rs2 == 5'd0 && rs1 == 5'd0 && funct7[4:0] != RegSwap) begin
              decoded_o         = '0;
              decoded_o.effect  = EffectCop2;
              decoded_o.cop_reg = funct7[4:0];
              decoded_o.result  = FromCop2;
              decoded_o.we      = 1'b1;
              decoded_o.rd      = rd;
            end
          end
          default: ;
        endcase
      end
      default: ;
    endcase
    // Instructions of 16 bits.
    if (instr_i[1:0] != 2'd3) decoded_o = trapping(CauseRvIllegal);
  end

endmodule
