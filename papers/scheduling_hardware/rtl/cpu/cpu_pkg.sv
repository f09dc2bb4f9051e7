// SPDX-License-Identifier: Apache-2.0
// The decoder's output to the pipeline.

package cpu_pkg;

  typedef enum logic [3:0] {
    AluAdd, AluSub, AluAnd, AluOr, AluXor, AluNor, AluSlt, AluSltu, AluSll, AluSrl, AluSra, AluLui
  } alu_op_e;

  typedef enum logic [3:0] {
    BranchNone, BranchEq, BranchNe, BranchLez, BranchGtz, BranchLtz, BranchGez, BranchJump, BranchReg, BranchCop2True,
    BranchCop2False, BranchLt, BranchGe, BranchLtu, BranchGeu
  } branch_e;

  // From AccessSb on they store. Lr, Sc and Amo (a load, an operation and a store) are RISC-V's.
  typedef enum logic [4:0] {
    AccessNone, AccessLb, AccessLbu, AccessLh, AccessLhu, AccessLw, AccessLwl, AccessLwr, AccessLr, AccessSb, AccessSh, AccessSw,
    AccessSwl, AccessSwr, AccessExchange, AccessSc, AccessAmo
  } access_e;

  // Where a result comes from. All but FromAlu are known in the M stage only.
  typedef enum logic [2:0] {
    FromAlu, FromMemory, FromCp0, FromCop2, FromSwap, FromHi, FromLo
  } result_e;

  typedef enum logic [2:0] {
    MulDivNone, MulDivMult, MulDivMultu, MulDivDiv, MulDivDivu, MulDivToHi, MulDivToLo, MulDivMulsu
  } muldiv_e;

  // Other effects of an instruction in the M stage.
  typedef enum logic [2:0] {
    EffectNone, EffectMtc0, EffectRfe, EffectSetSwap, EffectCop2, EffectCsr
  } effect_e;

  // The instruction's constant is left out of this struct, so that it fits in 64 bits, which simulators handle faster
  // than an array.
  typedef struct packed {
    alu_op_e     alu;
    logic        use_imm;
    logic        shift_imm;
    logic        overflow;
    branch_e     branch;
    logic        link;
    // The first operand is the instruction's own address.
    logic        from_pc;
    access_e     access;
    result_e     result;
    muldiv_e     muldiv;
    effect_e     effect;
    logic        we;
    logic [4:0]  rd;
    logic        uses_rs;
    logic        uses_rt;
    // The number of a coprocessor's register, as the instruction names it; of AccessAmo the operation (funct5).
    logic [4:0]  cop_reg;
    // Whether a COP2 request goes to a control register (ctc2), which is a setting; else it is a command, a read or an operand.
    logic        cop2_control;
    // The instruction traps in a delay slot.
    logic        not_in_slot;
    logic        trap;
    logic [4:0]  cause;
  } decoded_t;

  parameter logic [4:0] CauseInterrupt = 5'd0;
  parameter logic [4:0] CauseAddressLoad = 5'd4;
  parameter logic [4:0] CauseAddressStore = 5'd5;
  parameter logic [4:0] CauseFetchBus = 5'd6;
  parameter logic [4:0] CauseDataBus = 5'd7;
  parameter logic [4:0] CauseSyscall = 5'd8;
  parameter logic [4:0] CauseBreak = 5'd9;
  parameter logic [4:0] CauseReserved = 5'd10;
  parameter logic [4:0] CauseCoprocessor = 5'd11;
  parameter logic [4:0] CauseOverflow = 5'd12;

  // RISC-V's causes: mcause, where an interrupt is told by its uppermost bit and CauseRvInterrupt's place is not used.
  parameter logic [4:0] CauseRvFetchMisaligned = 5'd0;
  parameter logic [4:0] CauseRvFetch = 5'd1;
  parameter logic [4:0] CauseRvIllegal = 5'd2;
  parameter logic [4:0] CauseRvBreak = 5'd3;
  parameter logic [4:0] CauseRvLoadMisaligned = 5'd4;
  parameter logic [4:0] CauseRvLoad = 5'd5;
  parameter logic [4:0] CauseRvStoreMisaligned = 5'd6;
  parameter logic [4:0] CauseRvStore = 5'd7;
  parameter logic [4:0] CauseRvCall = 5'd11;
  parameter logic [4:0] CauseRvInterrupt = 5'd31;

  parameter logic [31:0] ResetVector = 32'h8000_0000;
  parameter logic [31:0] ExceptionVector = 32'h8000_0080;

endpackage
