// SPDX-License-Identifier: Apache-2.0
// Decoder of MIPS I, combinational. Encodings: Kane, MIPS RISC Architecture (1988), appendix A; COP2 as in doc/INTERFACES.md.
// What is not MIPS I, and what needs a TLB or a floating-point unit, traps.

module decoder
  import cpu_pkg::*;
(
  input  logic [31:0] instr_i,
  output decoded_t    decoded_o,
  // The instruction's constant; of no meaning where it has none.
  output logic [31:0] imm_o
);

  logic [5:0] op, funct;
  logic [4:0] rs, rt, rd;

  assign op           = instr_i[31:26];
  assign rs           = instr_i[25:21];
  assign rt           = instr_i[20:16];
  assign rd           = instr_i[15:11];
  assign funct        = instr_i[5:0];

  always_comb begin
    unique case (op)
      6'h00:                      imm_o = {27'd0, instr_i[10:6]};
      6'h02, 6'h03:               imm_o = {6'd0, instr_i[25:0]};
      6'h0c, 6'h0d, 6'h0e, 6'h0f: imm_o = {16'd0, instr_i[15:0]};
      default:                    imm_o = {{16{instr_i[15]}}, instr_i[15:0]};
    endcase
  end

  function automatic decoded_t trapping(logic [4:0] cause);
    decoded_t d = '0;
    d.trap  = 1'b1;
    d.cause = cause;
    return d;
  endfunction

  function automatic decoded_t three_registers(alu_op_e alu, logic [4:0] to);
    decoded_t d = '0;
    d.alu     = alu;
    d.we      = 1'b1;
    d.rd      = to;
    d.uses_rs = 1'b1;
    d.uses_rt = 1'b1;
    return d;
  endfunction

  function automatic decoded_t with_immediate(alu_op_e alu, logic [4:0] to);
    decoded_t d = '0;
    d.alu     = alu;
    d.use_imm = 1'b1;
    d.we      = 1'b1;
    d.rd      = to;
    d.uses_rs = 1'b1;
    return d;
  endfunction

  function automatic decoded_t branching(branch_e branch, logic both);
    decoded_t d = '0;
    d.branch  = branch;
    d.uses_rs = branch != BranchJump && branch != BranchCop2True && branch != BranchCop2False;
    d.uses_rt = both;
    return d;
  endfunction

  function automatic decoded_t late(result_e from, logic [4:0] to);
    decoded_t d = '0;
    d.result = from;
    d.we     = 1'b1;
    d.rd     = to;
    return d;
  endfunction

  function automatic decoded_t accessing(access_e access, logic load, logic [4:0] to);
    decoded_t d = '0;
    d.alu     = AluAdd;
    d.use_imm = 1'b1;
    d.access  = access;
    d.uses_rs = 1'b1;
    // The halves of an unaligned load merge with what the register holds.
    d.uses_rt = !load || access == AccessLwl || access == AccessLwr;
    d.we      = load;
    d.rd      = load ? to : 5'd0;
    d.result  = FromMemory;
    return d;
  endfunction

  always_comb begin
    decoded_o = trapping(CauseReserved);
    unique case (op)
      6'h00: begin
        unique case (funct)
          6'h00, 6'h02, 6'h03: begin
            decoded_o = three_registers(funct[1:0] == 2'd0 ? AluSll : funct[0] ? AluSra : AluSrl, rd);
            decoded_o.uses_rs   = 1'b0;
            decoded_o.shift_imm = 1'b1;
          end
          6'h04: decoded_o = three_registers(AluSll, rd);
          6'h06: decoded_o = three_registers(AluSrl, rd);
          6'h07: decoded_o = three_registers(AluSra, rd);
          6'h08: decoded_o = branching(BranchReg, 1'b0);
          6'h09: begin
            decoded_o      = branching(BranchReg, 1'b0);
            decoded_o.link = 1'b1;
            decoded_o.we   = 1'b1;
            decoded_o.rd   = rd;
          end
          6'h0c: decoded_o = trapping(CauseSyscall);
          6'h0d: decoded_o = trapping(CauseBreak);
          6'h10: decoded_o = late(FromHi, rd);
          6'h12: decoded_o = late(FromLo, rd);
          6'h11, 6'h13: begin
            decoded_o         = '0;
            decoded_o.muldiv  = funct[1] ? MulDivToLo : MulDivToHi;
            decoded_o.uses_rs = 1'b1;
          end
          6'h18, 6'h19, 6'h1a, 6'h1b: begin
            decoded_o         = '0;
            decoded_o.uses_rs = 1'b1;
            decoded_o.uses_rt = 1'b1;
            unique case (funct[1:0])
              2'd0:    decoded_o.muldiv = MulDivMult;
              2'd1:    decoded_o.muldiv = MulDivMultu;
              2'd2:    decoded_o.muldiv = MulDivDiv;
              default: decoded_o.muldiv = MulDivDivu;
            endcase
          end
          6'h20, 6'h21: begin
            decoded_o          = three_registers(AluAdd, rd);
            decoded_o.overflow = !funct[0];
          end
          6'h22, 6'h23: begin
            decoded_o          = three_registers(AluSub, rd);
            decoded_o.overflow = !funct[0];
          end
          6'h24: decoded_o = three_registers(AluAnd, rd);
          6'h25: decoded_o = three_registers(AluOr, rd);
          6'h26: decoded_o = three_registers(AluXor, rd);
          6'h27: decoded_o = three_registers(AluNor, rd);
          6'h2a: decoded_o = three_registers(AluSlt, rd);
          6'h2b: decoded_o = three_registers(AluSltu, rd);
          default: ;
        endcase
      end
      6'h01: begin
        // rt: bit 0 the condition, bit 4 links. The other encodings came with MIPS II.
        if (rt[3:1] == 3'd0) begin
          decoded_o      = branching(rt[0] ? BranchGez : BranchLtz, 1'b0);
          decoded_o.link = rt[4];
          decoded_o.we   = rt[4];
          decoded_o.rd   = rt[4] ? 5'd31 : 5'd0;
        end
      end
      6'h02, 6'h03: begin
        decoded_o      = branching(BranchJump, 1'b0);
        decoded_o.link = op[0];
        decoded_o.we   = op[0];
        decoded_o.rd   = op[0] ? 5'd31 : 5'd0;
      end
      6'h04: decoded_o = branching(BranchEq, 1'b1);
      6'h05: decoded_o = branching(BranchNe, 1'b1);
      6'h06: if (rt == 5'd0) decoded_o = branching(BranchLez, 1'b0);
      6'h07: if (rt == 5'd0) decoded_o = branching(BranchGtz, 1'b0);
      6'h08, 6'h09: begin
        decoded_o          = with_immediate(AluAdd, rt);
        decoded_o.overflow = !op[0];
      end
      6'h0a: decoded_o = with_immediate(AluSlt, rt);
      6'h0b: decoded_o = with_immediate(AluSltu, rt);
      6'h0c: decoded_o = with_immediate(AluAnd, rt);
      6'h0d: decoded_o = with_immediate(AluOr, rt);
      6'h0e: decoded_o = with_immediate(AluXor, rt);
      6'h0f: begin
        decoded_o         = with_immediate(AluLui, rt);
        decoded_o.uses_rs = 1'b0;
      end
      6'h10: begin
        unique case (rs)
          5'h00: begin
            decoded_o         = late(FromCp0, rt);
            decoded_o.cop_reg = rd;
          end
          5'h04: begin
            decoded_o         = '0;
            decoded_o.effect  = EffectMtc0;
            decoded_o.cop_reg = rd;
            decoded_o.uses_rt = 1'b1;
          end
          5'h10: begin
            if (funct == 6'h10) begin
              decoded_o        = '0;
              decoded_o.effect = EffectRfe;
            end
          end
          default: ;
        endcase
      end
      6'h12: begin
        unique case (rs)
          5'h00: begin
            decoded_o         = late(rd == 5'd4 ? FromSwap : FromCop2, rt);
            decoded_o.effect  = rd == 5'd4 ? EffectNone : EffectCop2;
            decoded_o.cop_reg = rd;
          end
          5'h04, 5'h06: begin
            decoded_o              = '0;
            decoded_o.effect       = rd == 5'd4 && !rs[1] ? EffectSetSwap : EffectCop2;
            decoded_o.cop_reg      = rd;
            decoded_o.cop2_control = rs[1];
            decoded_o.not_in_slot  = rd[4] && !rs[1];
            decoded_o.uses_rt      = 1'b1;
          end
          5'h08: begin
            if (rt == 5'd0) decoded_o = branching(BranchCop2False, 1'b0);
            if (rt == 5'd1) decoded_o = branching(BranchCop2True, 1'b0);
          end
          default: ;
        endcase
      end
      6'h11, 6'h13: decoded_o = trapping(CauseCoprocessor);
      6'h20: decoded_o = accessing(AccessLb, 1'b1, rt);
      6'h21: decoded_o = accessing(AccessLh, 1'b1, rt);
      6'h22: decoded_o = accessing(AccessLwl, 1'b1, rt);
      6'h23: decoded_o = accessing(AccessLw, 1'b1, rt);
      6'h24: decoded_o = accessing(AccessLbu, 1'b1, rt);
      6'h25: decoded_o = accessing(AccessLhu, 1'b1, rt);
      6'h26: decoded_o = accessing(AccessLwr, 1'b1, rt);
      6'h28: decoded_o = accessing(AccessSb, 1'b0, rt);
      6'h29: decoded_o = accessing(AccessSh, 1'b0, rt);
      6'h2a: decoded_o = accessing(AccessSwl, 1'b0, rt);
      6'h2b: decoded_o = accessing(AccessSw, 1'b0, rt);
      6'h2e: decoded_o = accessing(AccessSwr, 1'b0, rt);
      6'h32: begin
        if (rt == 5'd4) begin
          decoded_o             = accessing(AccessExchange, 1'b0, rt);
          decoded_o.uses_rt     = 1'b0;
          decoded_o.not_in_slot = 1'b1;
        end
      end
      6'h31, 6'h33, 6'h39, 6'h3b: decoded_o = trapping(CauseCoprocessor);
      default: ;
    endcase
  end

endmodule
