// SPDX-License-Identifier: Apache-2.0
// Core in five stages: fetch, decode, execute, memory, write-back. One per PE; of MIPS I or, with `Rv32`, of RV32IM_Zicsr_Zaamo_Zalrsc.
// The instruction set decides on the decoder, the control registers (cp0.sv, csrs.sv) and on what is said of RISC-V below; all else is one.
//
// Instruction memory answers in the next cycle: `imem_addr_o` is the address that will be fetched, `imem_rdata_i` the word at the
// address given a cycle ago. Operands are read, and bypassed from all later stages, in decode, where branches are resolved
// too: one delay slot and no other bubble; on RISC-V, which has no slots, a branch that is taken drops the instruction that was fetched
// behind it, and so costs a cycle. What is known in the memory stage only (loads, HI, LO, coprocessors) costs a
// dependent next instruction one cycle; an access waits for one cycle behind a setting of the stacks' guard. Every effect (memory, HI and
// LO, coprocessors, traps) takes place in the memory stage, in order, so traps are precise; the stage holds everything behind it until
// its instruction is done. What is known last, which is what memory answers and whether a branch is taken, is chosen last.
//
// Switching, with SSH-s (doc/INTERFACES.md): `cop2_rsp_i.park` stops the thread behind its command, `preempt_i` before an instruction
// that is not in a delay slot, not in a trap handler and not behind a held-off operand. The core is then parked until `run_i`,
// which may come in the same cycle; it goes on at the PC of bank `run_bank_i`. `port_*` is SSH-s's way to the banks.

module core
  import okosu_pkg::*;
  import cpu_pkg::*;
#(
  parameter int unsigned ImemWords = 1024,
  parameter int unsigned DmemWords = 1024,
  parameter int unsigned Threads   = 256,
  parameter int unsigned Banks     = 1,
  parameter bit          Rv32      = 1'b0,
  // Whether memory is reached by wide_bus.sv.
  parameter bit          WideBus   = 1'b0,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  output logic [31:0]          imem_addr_o,
  input  logic [31:0]          imem_rdata_i,

  output logic                 bus_valid_o,
  output mem_req_t             bus_req_o,
  input  logic                 bus_ready_i,
  input  mem_rsp_t             bus_rsp_i,
  input  mem_snoop_t           snoop_i,

  output logic                 cop2_valid_o,
  output cop2_req_t            cop2_req_o,
  input  cop2_rsp_t            cop2_rsp_i,
  input  logic                 cop2_room_i,

  input  logic                 irq_i,
  input  logic                 preempt_i,
  output logic                 preempted_o,
  input  logic                 run_i,
  input  logic [BankWidth-1:0] run_bank_i,
  output logic                 parked_o,
  output logic [BankWidth-1:0] bank_o,

  input  logic [BankWidth-1:0] port_bank_i,
  input  logic [5:0]           port_index_i,
  input  logic                 port_we_i,
  input  logic [31:0]          port_wdata_i,
  output logic [31:0]          port_rdata_o,

  input  logic                 guard_on_i,
  input  logic [31:0]          stack_top_i,
  input  logic [4:0]           stack_log2_i,

  input  pe_t                  pe_i,
  input  tid_t                 tid_i,
  output retire_t              retire_o,
  // What this cycle is spent on, for the counters: the instruction at `at_pc_o` waits for memory or for SSH-s, or neither.
  output logic [31:0]          at_pc_o,
  output logic                 waits_memory_o,
  output logic                 waits_sched_o
);

  // Fetch.
  logic [31:0] pc_q, pc_d, pc_else;
  logic        running_q, running_d;
  logic [BankWidth-1:0] bank_q, bank_d;
  logic [31:0] bank_pc_q[Banks];

  // Decode.
  logic        d_valid_q, d_in_slot_q, d_fetch_fault_q, d_fetch_misaligned_q;
  logic [31:0] d_pc_q, d_instr_q;
  decoded_t    d_dec;
  logic [31:0] d_imm;

  // Execute.
  logic        x_valid_q, x_in_slot_q;
  // `x_a_q` is the ALU's first operand, `x_second_q` its second one; `x_b_q` is what a store stores.
  logic [31:0] x_pc_q, x_instr_q, x_a_q, x_b_q, x_second_q;
  decoded_t    x_dec_q;

  // Memory.
  // `m_may_q`: it is valid and does not trap by what was known of it before.
  logic        m_valid_q, m_may_q, m_in_slot_q, m_first_q;
  logic [31:0] m_pc_q, m_instr_q, m_alu_q, m_a_q, m_b_q;
  decoded_t    m_dec_q;
  // What it asks of SSH-s; a read, which changes nothing, if it asks nothing.
  cop2_kind_e  x_kind, m_kind_q;

  // Write-back.
  logic        w_we_q;
  logic [4:0]  w_rd_q;
  logic [31:0] w_data_q;
  logic [BankWidth-1:0] w_bank_q;

  logic [31:0] x_alu, m_result;
  logic        stall, flush, traps, hazard, d_advance, returns;
  // Where a trap goes, and where a return from one.
  logic [31:0] vector, return_pc;

  // Fetch.

  logic        f_misaligned, f_outside;
  logic [31:0] branch_target;
  logic        branch_taken;
  // The first address after reset is ResetVector: what F holds in the very first cycle was not fetched.
  logic        started_q, fetching;

  assign f_misaligned = |pc_q[1:0] || !pc_q[31] || &pc_q[31:30];
  assign f_outside    = pc_q - ResetVector >= 32'(ImemWords) * 32'd4;
  assign imem_addr_o  = pc_d;

  // Decode.

  logic [4:0]  rs, rt;
  logic [31:0] rf_a, rf_b, d_a, d_b;
  logic        csr_exists;
  if (Rv32) begin : gen_decoder_rv32
    decoder_rv32 u_decoder (
      .instr_i     (d_instr_q),
      .decoded_o   (d_dec),
      .imm_o       (d_imm),
      .ra_o        (rs),
      .rb_o        (rt),
      .csr_exists_i(csr_exists)
    );
  end else begin : gen_decoder
    decoder u_decoder (
      .instr_i  (d_instr_q),
      .decoded_o(d_dec),
      .imm_o    (d_imm)
    );
    assign rs = d_instr_q[25:21];
    assign rt = d_instr_q[20:16];
    logic unused_csr;
    assign unused_csr = csr_exists;
  end

  logic x_writes, m_writes;
  assign x_writes = x_valid_q && x_dec_q.we && !x_dec_q.trap && x_dec_q.rd != '0;
  assign m_writes = m_valid_q && m_dec_q.we && !m_dec_q.trap && m_dec_q.rd != '0;

  always_comb begin
    d_a = rf_a;
    d_b = rf_b;
    if (w_we_q && w_rd_q == rs && rs != '0) d_a = w_data_q;
    if (w_we_q && w_rd_q == rt && rt != '0) d_b = w_data_q;
    if (m_writes && m_dec_q.rd == rs) d_a = m_result;
    if (m_writes && m_dec_q.rd == rt) d_b = m_result;
    if (x_writes && x_dec_q.rd == rs) d_a = x_alu;
    if (x_writes && x_dec_q.rd == rt) d_b = x_alu;
  end

  // Settings of the stacks' guard (doc/INTERFACES.md) are made before the next address is looked at.
  logic access_waits, d_goes;
  assign access_waits = x_valid_q && x_dec_q.effect == EffectCop2 && x_dec_q.cop2_control && x_dec_q.cop_reg inside {5'd0, 5'd1, 5'd6} &&
                        d_dec.access != AccessNone;
  assign hazard = x_writes && x_dec_q.result != FromAlu &&
                  ((d_dec.uses_rs && x_dec_q.rd == rs) || (d_dec.uses_rt && x_dec_q.rd == rt));
  // What is decoded goes on if the memory stage does not hold it, which is known late.
  assign d_goes    = d_valid_q && !hazard && !access_waits;
  assign d_advance = d_goes && !stall;

  logic d_refused, d_traps, d_fetch_traps, condition, target_astray, may_branch;
  logic [31:0] d_next_pc;
  assign d_next_pc     = d_pc_q + 32'd4;
  assign d_fetch_traps = d_fetch_misaligned_q || d_fetch_fault_q;
  assign d_refused     = d_fetch_traps || d_dec.trap || (d_dec.not_in_slot && d_in_slot_q);
  assign d_traps       = d_refused || (condition && target_astray);
  // Whether the condition holds is known last: all else is looked at beside it.
  assign may_branch    = d_goes && !d_refused && !target_astray && !stall && !run_i && !traps && !returns;
  assign branch_taken  = condition && may_branch;

  // Two operands are equal (where one is compared with 0 the other one is register 0), the first is less, or SSH-s has room; or not so.
  logic by_equal, by_sign, by_less, by_room, inverted, less;
  always_comb begin
    by_equal = 1'b0;
    by_sign  = 1'b0;
    by_less  = 1'b0;
    by_room  = 1'b0;
    inverted = 1'b0;
    unique case (d_dec.branch)
      BranchEq:  by_equal = 1'b1;
      BranchNe:  {by_equal, inverted} = 2'b11;
      BranchLez: {by_equal, by_sign} = 2'b11;
      BranchGtz: {by_equal, by_sign, inverted} = 3'b111;
      BranchLtz: by_sign = 1'b1;
      BranchGez: {by_sign, inverted} = 2'b11;
      BranchLt, BranchLtu: by_less = 1'b1;
      BranchGe, BranchGeu: {by_less, inverted} = 2'b11;
      BranchJump, BranchReg: inverted = 1'b1;
      BranchCop2True:  by_room = 1'b1;
      BranchCop2False: {by_room, inverted} = 2'b11;
      default: ;
    endcase
  end
  assign condition = inverted ^ ((by_equal && d_a == d_b) || (by_sign && d_a[31]) || (by_less && less) || (by_room && cop2_room_i));

  if (Rv32) begin : gen_target_rv32
    logic [31:0] target;
    logic        signs;
    assign signs         = d_dec.branch == BranchLt || d_dec.branch == BranchGe;
    assign less          = {d_a[31] ^ signs, d_a[30:0]} < {d_b[31] ^ signs, d_b[30:0]};
    assign target        = (d_dec.branch == BranchReg ? d_a : d_pc_q) + d_imm;
    assign branch_target = {target[31:1], 1'b0};
    assign target_astray = target[1];
    logic unused_target;
    assign unused_target = ^{target[0], d_next_pc};
  end else begin : gen_target
    assign less          = 1'b0;
    assign target_astray = 1'b0;
    always_comb begin
      unique case (d_dec.branch)
        BranchReg:  branch_target = d_a;
        BranchJump: branch_target = {d_next_pc[31:28], d_imm[25:0], 2'b00};
        default:    branch_target = d_next_pc + {d_imm[29:0], 2'b00};
      endcase
    end
  end

  // Execute.

  always_comb begin
    x_kind = Cop2Read;
    if (x_valid_q && x_dec_q.effect == EffectCop2 && !x_dec_q.we && !x_dec_q.trap) begin
      x_kind = x_dec_q.cop2_control ? Cop2Control : x_dec_q.cop_reg[4] ? Cop2Command : Cop2Operand;
    end
  end

  logic        x_overflow;
  logic [31:0] x_sum;
  alu u_alu (
    .op_i      (x_dec_q.alu),
    .a_i       (x_a_q),
    .b_i       (x_second_q),
    .result_o  (x_alu),
    .sum_o     (x_sum),
    .overflow_o(x_overflow)
  );

  // Memory.

  logic        live, take_irq, take_preempt, parks, interrupt;
  logic        in_handler_q, hold_q;
  logic        access_valid, access_done, access_fault, buffered;
  logic [4:0]  access_cause;
  logic [31:0] access_result, trace_data;
  logic [3:0]  trace_be;
  logic        muldiv_busy, muldiv_start, muldiv_started_q, muldiv_answers, needs_muldiv, trace_access, m_done, is_operand, is_command, cop2_may;
  logic [31:0] hi, lo, cp0_rdata, swap_q, port_hi_lo;

  // An interrupt or a preemption comes before an instruction, and so in its first cycle here, and not between the operands of a
  // command and the command, which it would spoil.
  assign take_irq     = m_may_q && m_first_q && interrupt && !hold_q;
  assign take_preempt = m_may_q && m_first_q && preempt_i && !m_in_slot_q && !hold_q && !in_handler_q && !take_irq && !muldiv_busy;
  assign live         = m_may_q && !take_irq && !take_preempt;
  assign preempted_o  = take_preempt;

  assign access_valid = live && m_dec_q.access != AccessNone;
  lsu #(
    .DmemWords(DmemWords),
    .Threads  (Threads),
    .Rv32     (Rv32),
    .WideBus  (WideBus)
  ) u_lsu (
    .clk_i,
    .rst_ni,
    .comes_i        (!stall),
    .coming_access_i(x_dec_q.access),
    .coming_addr_i  (x_sum),
    .valid_i        (access_valid),
    .access_i       (m_dec_q.access),
    .amo_i          (m_dec_q.cop_reg),
    .addr_i         (m_alu_q),
    .rt_i           (m_b_q),
    .swap_i         (Rv32 ? m_b_q : swap_q),
    .done_o         (access_done),
    .fault_o        (access_fault),
    .cause_o        (access_cause),
    .result_o       (access_result),
    .buffered_o     (buffered),
    .guard_on_i,
    .stack_top_i,
    .stack_log2_i,
    .bus_valid_o,
    .bus_req_o,
    .bus_ready_i,
    .bus_rsp_i,
    .snoop_i,
    .drop_i         (flush),
    .trace_o        (trace_access),
    .trace_data_o   (trace_data),
    .trace_be_o     (trace_be)
  );

  // An instruction of RISC-V starts the unit and waits for it, one of MIPS does one of the two.
  assign needs_muldiv   = m_dec_q.muldiv != MulDivNone || m_dec_q.result == FromHi || m_dec_q.result == FromLo;
  assign muldiv_start   = live && m_dec_q.muldiv != MulDivNone && !muldiv_busy && !muldiv_started_q;
  assign muldiv_answers = Rv32 && m_dec_q.muldiv != MulDivNone;
  muldiv #(
    .Banks(Banks),
    .Rv32 (Rv32)
  ) u_muldiv (
    .clk_i,
    .rst_ni,
    .start_i     (muldiv_start),
    .op_i        (m_dec_q.muldiv),
    .a_i         (m_a_q),
    .b_i         (m_b_q),
    .bank_i      (bank_q),
    .busy_o      (muldiv_busy),
    .hi_o        (hi),
    .lo_o        (lo),
    .port_bank_i,
    .port_lo_i   (port_index_i[0]),
    .port_we_i   (port_we_i && port_index_i[5:1] == BankHi[5:1]),
    .port_wdata_i,
    .port_rdata_o(port_hi_lo)
  );

  logic [4:0] trap_cause;
  assign trap_cause = take_irq ? (Rv32 ? CauseRvInterrupt : CauseInterrupt) : m_dec_q.trap ? m_dec_q.cause : access_cause;
  if (Rv32) begin : gen_csrs
    logic [31:0] trap_value;
    // The address of what was not reached (of a jump: where it went, which the ALU was given) or of a breakpoint, or the instruction that
    // there is not.
    always_comb begin
      trap_value = '0;
      if (!take_irq) begin
        unique case (trap_cause)
          CauseRvFetch:   trap_value = m_pc_q;
          CauseRvBreak:   trap_value = m_pc_q;
          CauseRvIllegal: trap_value = m_instr_q;
          CauseRvCall:    trap_value = '0;
          default:        trap_value = m_alu_q;
        endcase
      end
    end
    csrs u_csrs (
      .clk_i,
      .rst_ni,
      .irq_i,
      .hart_i      (32'(pe_i)),
      .named_i     (d_instr_q[31:20]),
      .exists_o    (csr_exists),
      .valid_i     (live && m_dec_q.effect == EffectCsr),
      .instr_i     (m_instr_q),
      .operand_i   (m_a_q),
      .rdata_o     (cp0_rdata),
      .retires_i   (m_valid_q && m_done && !traps && !take_preempt),
      .trap_i      (traps),
      .trap_cause_i(trap_cause),
      .trap_pc_i   (m_pc_q),
      .trap_value_i(trap_value),
      .mret_i      (returns),
      .interrupt_o (interrupt),
      .vector_o    (vector),
      .epc_o       (return_pc)
    );
    assign returns = live && m_dec_q.effect == EffectRfe;
  end else begin : gen_cp0
    cp0 u_cp0 (
      .clk_i,
      .rst_ni,
      .irq_i,
      .reg_i          (m_dec_q.cop_reg),
      .rdata_o        (cp0_rdata),
      .we_i           (live && m_dec_q.effect == EffectMtc0),
      .wdata_i        (m_b_q),
      .trap_i         (traps),
      .trap_cause_i   (trap_cause),
      .trap_pc_i      (m_pc_q),
      .trap_in_slot_i (m_in_slot_q),
      .trap_bad_i     (!take_irq && (m_dec_q.trap ? m_dec_q.cause == CauseAddressLoad || m_dec_q.cause == CauseFetchBus : 1'b1)),
      .trap_bad_addr_i(m_dec_q.trap ? m_pc_q : m_alu_q),
      .trap_cop_i     (m_dec_q.trap && m_dec_q.cause == CauseCoprocessor ? m_instr_q[27:26] : 2'd0),
      .rfe_i          (live && m_dec_q.effect == EffectRfe),
      .interrupt_o    (interrupt)
    );
    assign csr_exists = 1'b0;
    assign returns    = 1'b0;
    assign vector     = ExceptionVector;
    assign return_pc  = '0;
    logic unused_pe;
    assign unused_pe = ^pe_i;
  end

  // A command is not sent before the core's stores are on the bus, nor while HI and LO are on their way.
  assign is_operand   = m_dec_q.effect == EffectCop2 && cop2_req_o.kind == Cop2Operand && m_dec_q.cop_reg < RegSwap;
  assign is_command   = m_kind_q == Cop2Command;
  assign cop2_may     = !(is_command && (buffered || muldiv_busy));
  assign cop2_valid_o = live && m_dec_q.effect == EffectCop2 && cop2_may;
  always_comb begin
    // A command that has to wait is none yet.
    cop2_req_o.kind   = cop2_may ? m_kind_q : Cop2Read;
    cop2_req_o.index  = is_command ? {1'b0, m_dec_q.cop_reg[3:0]} : m_dec_q.cop_reg;
    // Whether the instruction moves on is known late, and need not be: who waits in the memory stage does not read.
    cop2_req_o.coming = x_dec_q.cop_reg;
    cop2_req_o.data   = m_b_q;
  end

  assign traps = m_valid_q && (m_dec_q.trap || take_irq || (access_valid && access_fault));
  // A command that is not to take effect because the thread is preempted parks the core all the same.
  assign parks = take_preempt || cop2_rsp_i.park;

  // Without `live`, which comes late: an instruction that is not to take effect is done at once.
  always_comb begin
    m_done = 1'b1;
    if (m_dec_q.access != AccessNone) m_done = access_done || access_fault;
    if (needs_muldiv) m_done = !muldiv_busy && (muldiv_started_q || !muldiv_answers);
    if (m_dec_q.effect == EffectCop2) m_done = cop2_may && (cop2_rsp_i.done || cop2_rsp_i.park);
    if (m_dec_q.trap || take_irq || take_preempt) m_done = 1'b1;
  end
  assign stall = m_valid_q && !m_done;
  assign flush = traps || parks || returns;

  // What memory answers comes last, and is 0 where nothing is accessed.
  logic [31:0] m_other;
  always_comb begin
    unique case (m_dec_q.result)
      FromMemory: m_other = '0;
      FromCp0:    m_other = cp0_rdata;
      FromCop2:   m_other = cop2_rsp_i.rdata;
      FromSwap:   m_other = swap_q;
      FromHi:     m_other = hi;
      FromLo:     m_other = lo;
      default:    m_other = m_alu_q;
    endcase
  end
  assign m_result = m_other | access_result;

  // Next state.

  logic [31:0] resume_pc;
  assign resume_pc = take_preempt ? m_pc_q : m_pc_q + 32'd4;

  always_comb begin
    bank_d    = bank_q;
    running_d = running_q;
    if (parks) running_d = 1'b0;
    if (run_i) begin
      running_d = 1'b1;
      bank_d    = run_bank_i;
    end
    if (run_i || traps || returns) pc_else = run_i ? bank_pc_q[run_bank_i] : traps ? vector : return_pc;
    else pc_else = running_q && (!d_valid_q || d_advance) ? pc_q + 32'd4 : pc_q;
  end
  assign pc_d = branch_taken ? branch_target : pc_else;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      pc_q                 <= ResetVector - 32'd4;
      running_q            <= 1'b1;
      bank_q               <= '0;
      d_valid_q            <= 1'b0;
      x_valid_q            <= 1'b0;
      m_valid_q            <= 1'b0;
      m_may_q              <= 1'b0;
      m_kind_q             <= Cop2Read;
      m_first_q            <= 1'b0;
      muldiv_started_q     <= 1'b0;
      w_we_q               <= 1'b0;
      in_handler_q         <= 1'b0;
      hold_q               <= 1'b0;
      swap_q               <= '0;
      started_q            <= 1'b0;
      for (int unsigned b = 0; b < Banks; b++) bank_pc_q[b] <= '0;
    end else begin
      started_q <= 1'b1;
      pc_q      <= pc_d;
      running_q <= running_d;
      bank_q    <= bank_d;
      if (parks) bank_pc_q[bank_q] <= resume_pc;
      if (port_we_i && port_index_i == BankPc) bank_pc_q[port_bank_i] <= port_wdata_i;

      if (flush || (d_advance && !fetching)) d_valid_q <= 1'b0;
      else if (fetching) d_valid_q <= !(Rv32 && branch_taken);

      if (!stall) x_valid_q <= d_advance && !flush;
      if (!stall) m_valid_q <= x_valid_q && !flush;
      if (!stall) m_kind_q  <= flush ? Cop2Read : x_kind;
      if (!stall) m_may_q   <= x_valid_q && !flush && !x_dec_q.trap && !(x_dec_q.overflow && x_overflow);
      m_first_q <= !stall;
      // Set only while the instruction that started it waits.
      muldiv_started_q <= stall && (muldiv_start || muldiv_started_q);

      w_we_q <= m_valid_q && m_done && !traps && !take_preempt && m_dec_q.we && !m_dec_q.trap;

      if (traps) in_handler_q <= 1'b1;
      else if (live && m_dec_q.effect == EffectRfe) in_handler_q <= 1'b0;

      if (live && m_done) begin
        if (m_dec_q.effect == EffectSetSwap) swap_q <= m_b_q;
        if (m_dec_q.access == AccessExchange && !traps) swap_q <= access_result;
        if (m_dec_q.effect == EffectSetSwap || is_operand) hold_q <= 1'b1;
        else if (is_command || m_dec_q.result == FromSwap) hold_q <= 1'b0;
      end
    end
  end

  assign fetching = started_q && running_q && (!d_valid_q || d_advance);

  always_ff @(posedge clk_i) begin
    if (fetching) begin
      d_pc_q               <= pc_q;
      d_instr_q            <= imem_rdata_i;
      d_in_slot_q          <= !Rv32 && d_valid_q && d_dec.branch != BranchNone && !d_traps;
      d_fetch_fault_q      <= f_outside;
      d_fetch_misaligned_q <= !Rv32 && f_misaligned;
    end
    if (!stall) begin
      x_pc_q      <= d_pc_q;
      x_instr_q   <= d_instr_q;
      x_in_slot_q <= d_in_slot_q;
      x_a_q       <= d_dec.link || d_dec.from_pc ? d_pc_q : d_dec.shift_imm ? d_imm : d_a;
      x_b_q       <= d_b;
      x_second_q  <= d_dec.use_imm ? d_imm : d_b;
      x_dec_q     <= d_dec;
      // Behind the branch and its slot.
      if (d_dec.link) begin
        x_second_q  <= Rv32 ? 32'd4 : 32'd8;
        x_dec_q.alu <= AluAdd;
      end
      if (d_traps) begin
        x_dec_q.trap  <= 1'b1;
        x_dec_q.cause <= d_fetch_misaligned_q ? CauseAddressLoad : d_fetch_fault_q ? (Rv32 ? CauseRvFetch : CauseFetchBus) :
                         d_dec.trap ? d_dec.cause : Rv32 ? CauseRvFetchMisaligned : CauseReserved;
      end
      // For mtval, which is where the jump would have gone.
      if (condition && target_astray) begin
        x_a_q       <= branch_target;
        x_second_q  <= '0;
        x_dec_q.alu <= AluAdd;
      end
      m_pc_q      <= x_pc_q;
      m_instr_q   <= x_instr_q;
      m_in_slot_q <= x_in_slot_q;
      m_alu_q     <= x_alu;
      m_a_q       <= x_a_q;
      m_b_q       <= x_b_q;
      m_dec_q     <= x_dec_q;
      if (x_dec_q.overflow && x_overflow && !x_dec_q.trap) begin
        m_dec_q.trap  <= 1'b1;
        m_dec_q.cause <= CauseOverflow;
      end
    end
    w_rd_q   <= m_dec_q.rd;
    w_data_q <= m_result;
    w_bank_q <= bank_q;
  end

  // Registers, and SSH-s's way to them.

  logic [31:0] port_reg, port_mask;
  register_banks #(
    .Banks(Banks)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .bank_i        (bank_q),
    .ra_i          (rs),
    .rb_i          (rt),
    .a_o           (rf_a),
    .b_o           (rf_b),
    .we_i          (w_we_q),
    .w_bank_i      (w_bank_q),
    .rd_i          (w_rd_q),
    .wdata_i       (w_data_q),
    .port_bank_i,
    .port_index_i  (port_index_i[4:0]),
    .port_we_i     (port_we_i && !port_index_i[5]),
    .port_mask_we_i(port_we_i && port_index_i == BankWritten),
    .port_wdata_i,
    .port_rdata_o  (port_reg),
    .port_mask_o   (port_mask)
  );

  always_ff @(posedge clk_i) begin
    unique case (port_index_i)
      BankHi, BankLo: port_rdata_o <= port_hi_lo;
      BankPc:         port_rdata_o <= bank_pc_q[port_bank_i];
      BankWritten:    port_rdata_o <= port_mask;
      default:        port_rdata_o <= port_reg;
    endcase
  end

  // To the outside.

  assign parked_o       = !running_q;
  assign bank_o         = bank_q;
  assign at_pc_o        = m_valid_q ? m_pc_q : x_valid_q ? x_pc_q : d_valid_q ? d_pc_q : pc_q;
  assign waits_sched_o  = stall && m_dec_q.effect == EffectCop2 && cop2_valid_o;
  assign waits_memory_o = stall && !waits_sched_o && (m_dec_q.access != AccessNone || m_dec_q.effect == EffectCop2);

  always_ff @(posedge clk_i) begin
    retire_o.valid     <= rst_ni && m_valid_q && m_done && !take_preempt;
    retire_o.tid       <= tid_i;
    retire_o.pc        <= m_pc_q;
    retire_o.instr     <= m_instr_q;
    retire_o.rd_we     <= live && !traps && m_dec_q.we;
    retire_o.rd        <= m_dec_q.rd;
    retire_o.rd_data   <= m_result;
    retire_o.trap      <= traps;
    retire_o.cause     <= trap_cause;
    retire_o.mem_valid <= access_valid && !access_fault && trace_access;
    retire_o.mem_store <= m_dec_q.access >= AccessSb;
    retire_o.mem_addr  <= m_alu_q;
    retire_o.mem_data  <= trace_data;
    retire_o.mem_be    <= trace_be;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      CoreIsRunOnlyWhenParkedOrParking : assert (!run_i || !running_q || parks);
      CoreDoesNotParkIntoTheSameBank : assert (!(run_i && parks && run_bank_i == bank_q));
      CoreLeavesTheRunningBankToItself : assert (!(port_we_i && running_q && port_bank_i == bank_q));
      CoreHasNoStoreLeftWhenItSendsACommand : assert (!(cop2_valid_o && is_command && buffered));
    end
  end
`endif

endmodule
