// SPDX-License-Identifier: Apache-2.0
// The core of RISC-V does what its instructions say, whatever they are and whatever memory, SSH-s and its interrupt answer: each has its
// operands, result, register, next pc, trap and memory access as the specification below has them, x0 is not written, instructions are those
// that lie at their addresses, none is left out or done twice, and nothing but loads and stores reaches the bus.
//
// The content is that of riscv-formal's checks (instructions, registers, pc, causes, memory of instructions and of data). Left out are what
// the multiplier and divider compute, what CSRs hold, the results of operations of amo* but amoswap, and switches of threads (park,
// preemption): these are compared with the golden simulator. Of register_banks.sv it is assumed that a register reads as what was written
// to it last, and register 0 as 0. One register, whichever, and one place of the text are followed.
// Encodings: The RISC-V Instruction Set Manual, volume I (20240411), chapter 34; INTERFACES.md has addresses and custom-0.

module core_rv32_properties
  import okosu_pkg::*;
  import cpu_pkg::*;
#(
  parameter int unsigned ImemWords = 1024,
  parameter int unsigned DmemWords = 1024
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [31:0] imem_rdata_i,
  input logic        bus_valid_o,
  input mem_req_t    bus_req_o,
  input logic        bus_ready_i,
  input mem_rsp_t    bus_rsp_i,
  input logic        cop2_valid_o,
  input cop2_req_t   cop2_req_o,
  input cop2_rsp_t   cop2_rsp_i,
  input logic        preempt_i,
  input logic        run_i,
  input logic        port_we_i,
  input logic        guard_on_i,
  // Signals inside the core.
  input logic        started_q,
  input logic        running_q,
  input logic [31:0] pc_q,
  input logic        d_valid_q,
  input logic        d_in_slot_q,
  input logic        d_fetch_fault_q,
  input logic        d_fetch_misaligned_q,
  input logic [31:0] d_pc_q,
  input logic [31:0] d_instr_q,
  input logic [31:0] d_a,
  input logic [31:0] d_b,
  input logic [4:0]  rs,
  input logic [4:0]  rt,
  input logic [31:0] rf_a,
  input logic [31:0] rf_b,
  input logic        csr_exists,
  input logic        x_valid_q,
  input logic        x_in_slot_q,
  input logic [31:0] x_pc_q,
  input logic [31:0] x_instr_q,
  input logic [31:0] x_a_q,
  input logic [31:0] x_b_q,
  input logic [31:0] x_second_q,
  input decoded_t    x_dec_q,
  input logic        m_valid_q,
  input logic        m_may_q,
  input cop2_kind_e  m_kind_q,
  input logic        m_in_slot_q,
  input logic [31:0] m_pc_q,
  input logic [31:0] m_instr_q,
  input logic [31:0] m_alu_q,
  input logic [31:0] m_a_q,
  input logic [31:0] m_b_q,
  input decoded_t    m_dec_q,
  input logic [31:0] m_result,
  // Which bytes of a word a load takes, in the unit for loads and stores.
  input logic [1:0]  turn,
  input logic [1:0]  sign,
  input logic [3:0]  from_word,
  input logic [3:0]  from_sign,
  input logic [3:0]  from_rt,
  // And whether it holds a reservation.
  input logic        reserved,
  input logic        access_fault,
  input logic [4:0]  access_cause,
  input logic        m_done,
  input logic        stall,
  input logic        w_we_q,
  input logic [4:0]  w_rd_q,
  input logic [31:0] w_data_q,
  input logic        take_irq,
  input logic        traps,
  input logic        returns,
  input logic [4:0]  trap_cause,
  input logic [31:0] vector,
  input logic [31:0] return_pc,
  input logic [31:0] hi,
  input logic [31:0] lo,
  input logic        muldiv_start,
  input logic        muldiv_busy,
  input logic        muldiv_started_q,
  input logic [31:0] cp0_rdata,
  input logic        buffered
);

  localparam logic [31:0] DataBase = 32'h9000_0000;
  localparam logic [31:0] DeviceBase = 32'hbf00_0000;

  // What is followed. Nothing drives these signals, so they are free; they are assumed to stay the same.
  logic [4:0]  place, place_q;
  logic [31:0] at, at_q, word, word_q;
  logic        began_q = 1'b0;

  // The specification: an instruction, its address and its two operands.

  typedef struct packed {
    logic [31:0] instr;
    logic [31:0] pc;
    logic [31:0] a;
    logic [31:0] b;
    // The CSR that it names exists; it could not be fetched.
    logic        exists;
    logic        unfetched;
  } job_t;

  typedef enum logic [3:0] {
    Lui, Auipc, Jal, Jalr, Branch, Load, Store, Imm, Reg, MulDiv, Amo, Csr, Put, Get, Plain, Other
  } kind_e;

  function automatic kind_e kind_of(logic [31:0] i, logic exists);
    logic custom = i[31:30] == 2'd0 && i[24:20] == 5'd0;
    unique case (i[6:0])
      7'b0110111: return Lui;
      7'b0010111: return Auipc;
      7'b1101111: return Jal;
      7'b1100111: return i[14:12] == 3'd0 ? Jalr : Other;
      7'b1100011: return i[14:12] == 3'd2 || i[14:12] == 3'd3 ? Other : Branch;
      7'b0000011: return i[14:12] == 3'd3 || i[14:12] > 3'd5 ? Other : Load;
      7'b0100011: return i[14:12] > 3'd2 ? Other : Store;
      7'b0010011: begin
        if (i[14:12] == 3'd1) return i[31:25] == 7'h00 ? Imm : Other;
        if (i[14:12] == 3'd5) return i[31:25] == 7'h00 || i[31:25] == 7'h20 ? Imm : Other;
        return Imm;
      end
      7'b0110011: begin
        if (i[31:25] == 7'h01) return MulDiv;
        if (i[31:25] == 7'h20) return i[14:12] == 3'd0 || i[14:12] == 3'd5 ? Reg : Other;
        return i[31:25] == 7'h00 ? Reg : Other;
      end
      7'b0001111: return i[14:12] > 3'd1 ? Other : Plain;
      7'b0101111: begin
        if (i[14:12] != 3'd2) return Other;
        if (i[31:27] == 5'h02) return i[24:20] == 5'd0 ? Amo : Other;
        return i[31:27] == 5'h01 || i[31:27] == 5'h03 || i[28:27] == 2'd0 ? Amo : Other;
      end
      7'b1110011: begin
        if (i == 32'h3020_0073 || i == 32'h1050_0073) return Plain;
        if (i[13:12] == 2'd0 || !exists) return Other;
        return i[31:30] == 2'd3 && (!i[13] || i[19:15] != 5'd0) ? Other : Csr;
      end
      7'b0001011: begin
        if (i[14:12] == 3'd0) return custom && i[11:7] == 5'd0 && i[29:25] != 5'd4 ? Put : Other;
        if (i[14:12] == 3'd2) return custom && i[11:7] == 5'd0 ? Put : Other;
        return i[14:12] == 3'd1 && custom && i[19:15] == 5'd0 && i[29:25] != 5'd4 ? Get : Other;
      end
      default: return Other;
    endcase
  endfunction

  function automatic logic uses_a(kind_e kind, logic [31:0] i);
    return kind inside {Jalr, Branch, Load, Store, Imm, Reg, MulDiv, Amo, Put} || (kind == Csr && !i[14]);
  endfunction
  function automatic logic uses_b(kind_e kind, logic [31:0] i);
    return kind inside {Branch, Store, Reg, MulDiv} || (kind == Amo && i[31:27] != 5'h02);
  endfunction
  function automatic logic writes(kind_e kind);
    return !(kind inside {Branch, Store, Put, Plain, Other});
  endfunction

  function automatic logic [31:0] immediate(logic [31:0] i);
    unique case (i[6:0])
      7'b0110111, 7'b0010111: return {i[31:12], 12'd0};
      7'b1101111: return {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
      7'b1100011: return {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
      7'b0100011: return {{20{i[31]}}, i[31:25], i[11:7]};
      7'b0101111: return '0;
      default:    return {{20{i[31]}}, i[31:20]};
    endcase
  endfunction

  function automatic logic [31:0] computed(logic [31:0] i, logic [31:0] a, logic [31:0] b, logic subtracts);
    unique case (i[14:12])
      3'd0:    return subtracts ? a - b : a + b;
      3'd1:    return a << b[4:0];
      3'd2:    return {31'd0, $signed(a) < $signed(b)};
      3'd3:    return {31'd0, a < b};
      3'd4:    return a ^ b;
      3'd5:    return i[30] ? $unsigned($signed(a) >>> b[4:0]) : a >> b[4:0];
      3'd6:    return a | b;
      default: return a & b;
    endcase
  endfunction

  function automatic logic taken(kind_e kind, job_t j);
    logic less;
    unique case (j.instr[14:13])
      2'd0:    less = j.a == j.b;
      2'd2:    less = $signed(j.a) < $signed(j.b);
      default: less = j.a < j.b;
    endcase
    return kind == Jal || kind == Jalr || (kind == Branch && less != j.instr[12]);
  endfunction
  function automatic logic [31:0] target(kind_e kind, job_t j);
    logic [31:0] sum = (kind == Jalr ? j.a : j.pc) + immediate(j.instr);
    return {sum[31:1], 1'b0};
  endfunction
  function automatic logic astray(kind_e kind, job_t j);
    return taken(kind, j) && target(kind, j)[1];
  endfunction
  function automatic logic [31:0] behind(kind_e kind, job_t j);
    return taken(kind, j) ? target(kind, j) : j.pc + 32'd4;
  endfunction
  // It traps, whatever memory it may want to access; and by which cause.
  function automatic logic refused(kind_e kind, job_t j);
    return j.unfetched || kind == Other || astray(kind, j);
  endfunction
  function automatic logic [4:0] refusal(kind_e kind, job_t j);
    if (j.unfetched) return 5'd1;
    if (kind != Other) return 5'd0;
    if (j.instr == 32'h0000_0073) return 5'd11;
    return j.instr == 32'h0010_0073 ? 5'd3 : 5'd2;
  endfunction
  // What the ALU has for it: a result, an address, or where a jump goes that must not.
  function automatic logic [31:0] worked_out(kind_e kind, job_t j);
    if (astray(kind, j)) return target(kind, j);
    unique case (kind)
      Lui:       return immediate(j.instr);
      Auipc:     return j.pc + immediate(j.instr);
      Jal, Jalr: return j.pc + 32'd4;
      Imm:       return computed(j.instr, j.a, immediate(j.instr), 1'b0);
      Reg:       return computed(j.instr, j.a, j.b, j.instr[30]);
      default:   return j.a + immediate(j.instr);
    endcase
  endfunction

  // The invariant: what the pipeline's registers hold of each instruction. The decoder's word is the decoder's; what it means is the
  // specification's matter.

  job_t  x, m;
  kind_e x_kind, m_kind;
  logic  x_exists_q, x_unfetched_q, m_exists_q, m_unfetched_q;
  logic [31:0] x_da_q, x_db_q, m_da_q, m_db_q;
  decoded_t    x_word, m_word, x_wanted, m_wanted;
  logic [31:0] x_imm, unused_imm;
  logic [4:0]  unused_xa, unused_xb, unused_ma, unused_mb;
  decoder_rv32 u_x (.instr_i(x_instr_q), .decoded_o(x_word), .imm_o(x_imm), .ra_o(unused_xa), .rb_o(unused_xb), .csr_exists_i(x_exists_q));
  decoder_rv32 u_m (.instr_i(m_instr_q), .decoded_o(m_word), .imm_o(unused_imm), .ra_o(unused_ma), .rb_o(unused_mb),
                    .csr_exists_i(m_exists_q));

  // A shift has its amount in front, and what custom-0 writes is the second operand (decoder_rv32.sv).
  function automatic logic swapped(logic [31:0] i);
    return i[6:0] == 7'b0001011 || (i[13:12] == 2'd1 && (i[6:0] == 7'b0010011 || (i[6:0] == 7'b0110011 && !i[25])));
  endfunction
  function automatic job_t job(logic [31:0] instr, logic [31:0] pc, logic [31:0] a, logic [31:0] b, logic exists, logic unfetched);
    return '{instr: instr, pc: pc, a: swapped(instr) ? b : a, b: swapped(instr) ? a : b, exists: exists, unfetched: unfetched};
  endfunction
  assign x      = job(x_instr_q, x_pc_q, x_da_q, x_db_q, x_exists_q, x_unfetched_q);
  assign m      = job(m_instr_q, m_pc_q, m_da_q, m_db_q, m_exists_q, m_unfetched_q);
  assign x_kind = kind_of(x.instr, x.exists);
  assign m_kind = kind_of(m.instr, m.exists);

  function automatic decoded_t carried(decoded_t decoded, kind_e kind, job_t j);
    decoded_t d = decoded;
    if (d.link || astray(kind, j)) d.alu = AluAdd;
    if (refused(kind, j)) begin
      d.trap  = 1'b1;
      d.cause = refusal(kind, j);
    end
    return d;
  endfunction
  assign x_wanted = carried(x_word, x_kind, x);
  assign m_wanted = carried(m_word, m_kind, m);

  always_ff @(posedge clk_i) begin
    if (!stall) begin
      x_da_q        <= d_a;
      x_db_q        <= d_b;
      x_exists_q    <= csr_exists;
      x_unfetched_q <= d_fetch_fault_q;
      m_da_q        <= x_da_q;
      m_db_q        <= x_db_q;
      m_exists_q    <= x_exists_q;
      m_unfetched_q <= x_unfetched_q;
    end
  end

  // The register that is followed, as instructions in their order leave it; and as the registers have it, without the last write.
  logic [31:0] value_q, file_q;
  // Where the next instruction is; the store in the buffer.
  logic [31:0] next_q;
  logic [31:0] posted_addr_q, posted_data_q;
  // An access that can reserve has been done since reset.
  logic        reads_q;
  logic [3:0]  posted_be_q;

  logic        commits, completes, x_blocks, m_blocks;
  assign commits   = m_valid_q && m_done;
  assign completes = commits && !traps;
  // What is behind an instruction that traps is not done.
  assign m_blocks  = m_valid_q && refused(m_kind, m);
  assign x_blocks  = x_valid_q && refused(x_kind, x);

  // Stores and loads.

  logic        accesses, is_store, loads, misaligned, outside;
  logic [1:0]  lane;
  logic [31:0] addr, loaded, store_data, by_lane;
  logic [3:0]  store_be;
  assign accesses = m_kind inside {Load, Store, Amo};
  assign is_store = m_kind == Store || (m_kind == Amo && m.instr[31:27] != 5'h02);
  // The result is the word that is read, or a part of it.
  assign loads    = m_kind == Load || (m_kind == Amo && (m.instr[31:27] == 5'h01 || m.instr[31:27] == 5'h02));
  assign addr     = worked_out(m_kind, m);
  assign lane     = addr[1:0];
  assign by_lane  = bus_rsp_i.rdata >> {lane, 3'd0};
  always_comb begin
    unique case (m.instr[13:12])
      2'd0: begin
        misaligned = 1'b0;
        store_data = {4{m.b[7:0]}};
        store_be   = 4'd1 << lane;
        loaded     = {{24{by_lane[7] && !m.instr[14]}}, by_lane[7:0]};
      end
      2'd1: begin
        misaligned = lane[0];
        store_data = {2{m.b[15:0]}};
        store_be   = 4'd3 << lane;
        loaded     = {{16{by_lane[15] && !m.instr[14]}}, by_lane[15:0]};
      end
      default: begin
        misaligned = lane != 2'd0;
        store_data = m.b;
        store_be   = 4'b1111;
        loaded     = bus_rsp_i.rdata;
      end
    endcase
  end
  assign outside = !(addr - DataBase < 32'(DmemWords) * 32'd4) && !(m_kind == Store && addr - DeviceBase < 32'd8);

  always_ff @(posedge clk_i) begin
    began_q <= 1'b1;
    place_q <= place;
    at_q    <= at;
    word_q  <= word;
    if (!rst_ni) begin
      value_q <= '0;
      file_q  <= '0;
      next_q  <= ResetVector;
      reads_q <= 1'b0;
    end else begin
      if (bus_ready_i && !buffered && m_kind == Amo && m.instr[31:27] != 5'h03) reads_q <= 1'b1;
      if (completes && writes(m_kind) && m.instr[11:7] == place && place != 5'd0) value_q <= m_result;
      if (w_we_q && w_rd_q == place && place != 5'd0) file_q <= w_data_q;
      if (commits) next_q <= traps ? vector : m.instr == 32'h3020_0073 ? return_pc : behind(m_kind, m);
      if (completes && m_kind == Store) begin
        posted_addr_q <= {addr[31:2], 2'b00};
        posted_data_q <= store_data;
        posted_be_q   <= store_be;
      end
    end
  end

  // Where the instruction in front of which nothing is missing continues, by how far it has come.
  logic [31:0] behind_m, behind_x;
  assign behind_m = m_valid_q ? behind(m_kind, m) : next_q;
  assign behind_x = x_valid_q ? behind(x_kind, x) : behind_m;

  logic m_is_place, x_waits_for_m;
  assign m_is_place    = m_valid_q && !m_blocks && writes(m_kind) && m.instr[11:7] == place && place != 5'd0;
  assign x_waits_for_m = m_is_place && ((uses_a(x_kind, x.instr) && x.instr[19:15] == place) ||
                                       (uses_b(x_kind, x.instr) && x.instr[24:20] == place));

  always_comb begin
    FollowedStaysTheSame : assume (!began_q || (place == place_q && at == at_q && word == word_q));
    ResetComesFirst : assume (rst_ni == began_q);
    TextDoesNotChange : assume (pc_q != at || imem_rdata_i == word);
    RegistersHoldWhatWasWritten : assume ((rs != place || rf_a == file_q) && (rt != place || rf_b == file_q));
    NothingIsReadFromRegisterZero : assume ((rs != 5'd0 || rf_a == '0) && (rt != 5'd0 || rf_b == '0));
    ThreadsAreNotSwitched : assume (!preempt_i && !run_i && !port_we_i && !cop2_rsp_i.park && !guard_on_i);
    BusAnswersWhoAsks : assume (!bus_ready_i || bus_valid_o);
  end

  always_comb begin
    if (began_q && rst_ni) begin
      // What is promised.
      if (commits) begin
        InstructionsComeInTheirOrder : assert (m_pc_q == next_q);
        InstructionsAreThoseOfTheText : assert (m_unfetched_q || m_pc_q != at || m_instr_q == word);
        OutsideOfTheTextNothingIsFetched : assert (m_unfetched_q == (m_pc_q - ResetVector >= 32'(ImemWords) * 32'd4));
        FirstOperandIsTheRegisters : assert (m_blocks || !uses_a(m_kind, m.instr) || m.instr[19:15] != place || m.a == value_q);
        SecondOperandIsTheRegisters : assert (m_blocks || !uses_b(m_kind, m.instr) || m.instr[24:20] != place || m.b == value_q);
        TrapsAreThoseOfTheSpecification : assert (traps == (take_irq || m_blocks || (accesses && (misaligned || outside))));
        if (traps && !take_irq) begin
          CausesAreThoseOfTheSpecification :
          assert (trap_cause == (m_blocks ? refusal(m_kind, m) : misaligned ? (is_store ? 5'd6 : 5'd4) : is_store ? 5'd7 : 5'd5));
        end
      end
      if (completes) begin
        WritesWhenItShould : assert (m_dec_q.we == writes(m_kind));
        WritesWhereItShould : assert (!m_dec_q.we || m_dec_q.rd == m.instr[11:7]);
        if (m_kind inside {Lui, Auipc, Jal, Jalr, Imm, Reg}) begin
          ResultsAreThoseOfTheSpecification : assert (m_result == worked_out(m_kind, m));
        end
        if (loads) begin
          LoadsGiveWhatTheBusGave : assert (bus_ready_i && m_result == loaded);
        end
        if (m_kind == MulDiv) begin
          ProductsAndQuotientsComeFromTheirUnit : assert (!muldiv_busy && muldiv_started_q);
          HalvesAreThoseOfTheSpecification :
          assert (m_result == (m.instr[14] ? (m.instr[13] ? hi : lo) : m.instr[13:12] == 2'd0 ? lo : hi));
        end
        CsrsAreReadBeforeTheyAreWritten : assert (m_kind != Csr || m_result == cp0_rdata);
        WhatSshAnswersIsTheResult : assert (m_kind != Get || (m_result == cop2_rsp_i.rdata && cop2_rsp_i.done));
        ReturnsAreThoseOfMret : assert (returns == (m.instr == 32'h3020_0073));
      end
      if (muldiv_start) begin
        UnitHasTheOperands : assert (m_kind == MulDiv && m_a_q == m.a && m_b_q == m.b);
      end
      if (cop2_valid_o) begin
        SshIsAskedWhatTheInstructionSays :
        assert ((m_kind == Put || m_kind == Get) && (m_kind == Get || cop2_req_o.data == m.a) &&
                cop2_req_o.kind == (m_kind == Get ? Cop2Read : m.instr[13] ? Cop2Control : m.instr[29] ? Cop2Command : Cop2Operand) &&
                cop2_req_o.index[3:0] == m.instr[28:25] && (cop2_req_o.kind == Cop2Command || cop2_req_o.index[4] == m.instr[29]));
      end
      StoresLeaveAsTheyWereMade :
      assert (!buffered || (bus_valid_o && bus_req_o.kind == MemWrite && bus_req_o.addr == posted_addr_q &&
                            bus_req_o.wdata == posted_data_q && bus_req_o.be == posted_be_q));
      OnlyAccessesReachTheBus :
      assert (!bus_valid_o || buffered || (m_valid_q && accesses && m_kind != Store && !m_blocks && !misaligned && !outside &&
                                           bus_req_o.addr == {addr[31:2], 2'b00}));
      OnlyReadsReserve : assert (!reserved || reads_q);
      LoadsOnlyRead : assert (!bus_valid_o || buffered || m_kind != Load || bus_req_o.kind == MemRead);

      // The invariant.
      PipelineHasStarted :
      assert (started_q || (pc_q == ResetVector - 32'd4 && next_q == ResetVector && !d_valid_q && !x_valid_q && !m_valid_q));
      CoreRuns : assert (running_q);
      NobodyHasSlots : assert (!d_in_slot_q && !d_fetch_misaligned_q);
      FetchedIsTheText : assert (!d_valid_q || d_pc_q != at || d_instr_q == word);
      FetchedHasItsFault : assert (!d_valid_q || d_fetch_fault_q == (d_pc_q - ResetVector >= 32'(ImemWords) * 32'd4));
      ExecutedIsTheText : assert (!x_valid_q || x_pc_q != at || x_instr_q == word);
      ExecutedHasItsFault : assert (!x_valid_q || x_unfetched_q == (x_pc_q - ResetVector >= 32'(ImemWords) * 32'd4));
      LastMayUnlessItTraps : assert (m_may_q == (m_valid_q && !m_dec_q.trap));
      LastKnowsWhatItAsks :
      assert (m_kind_q == (!m_may_q || m_dec_q.effect != EffectCop2 || m_dec_q.we ? Cop2Read : m_dec_q.cop2_control ? Cop2Control :
                           m_dec_q.cop_reg[4] ? Cop2Command : Cop2Operand));
      LastIsTheText : assert (!m_valid_q || m_pc_q != at || m_instr_q == word);
      LastHasItsFault : assert (!m_valid_q || m_unfetched_q == (m_pc_q - ResetVector >= 32'(ImemWords) * 32'd4));
      LastKnowsItsFault : assert (!m_valid_q || m_blocks || access_fault == (accesses && (misaligned || outside)));
      LastKnowsItsCause :
      assert (!m_valid_q || m_blocks || !access_fault || access_cause == (misaligned ? (is_store ? 5'd6 : 5'd4) : is_store ? 5'd7 : 5'd5));
      LastKnowsWhichBytesItTakes :
      assert (!m_valid_q || m_blocks ||
              ({from_word, from_sign, from_rt} == (!loads ? 12'd0 : m_kind == Load && !m.instr[13] ?
               {m.instr[12] ? 4'b0011 : 4'b0001, m.instr[14] ? 4'b0000 : m.instr[12] ? 4'b1100 : 4'b1110, 4'd0} : {4'b1111, 8'd0}) &&
               (!loads || (turn == lane && (from_sign == 4'd0 || sign == {lane[1], lane[0] || m.instr[12]})))));
      LastIsNext : assert (!m_valid_q || m_pc_q == next_q);
      ExecutedIsNext : assert (!x_valid_q || m_blocks || x_pc_q == behind_m);
      DecodedIsNext : assert (!d_valid_q || m_blocks || x_blocks || d_pc_q == behind_x);
      FetchIsNext : assert (!started_q || (d_valid_q ? pc_q == d_pc_q + 32'd4 : m_blocks || x_blocks || pc_q == behind_x));
      ExecutedIsDecoded : assert (!x_valid_q || x_dec_q == x_wanted);
      LastIsDecoded : assert (!m_valid_q || m_dec_q == m_wanted);
      ExecutedHasItsOperands :
      assert (!x_valid_q || (x_b_q == x_db_q && x_a_q == (astray(x_kind, x) ? target(x_kind, x) :
                                                          x_word.link || x_word.from_pc ? x_pc_q :
                                                          x_word.shift_imm ? x_imm : x_da_q)));
      AluHasItsSecondOperand :
      assert (!x_valid_q ||
              x_second_q == (astray(x_kind, x) ? 32'd0 : x_word.link ? 32'd4 : x_word.use_imm ? x_imm : x_db_q));
      LuiAddsToNothing : assert (!x_valid_q || x_kind != Lui || x_da_q == '0);
      LastHasItsOperands : assert (!m_valid_q || (m_b_q == m_db_q && (!(m_kind inside {MulDiv, Csr}) || m_a_q == m_da_q)));
      LastIsWorkedOut :
      assert (!m_valid_q || !(m_kind inside {Lui, Auipc, Jal, Jalr, Imm, Reg, Load, Store, Amo, Branch}) ||
              (m_kind == Branch && !astray(m_kind, m)) || m_alu_q == worked_out(m_kind, m));
      WrittenIsNotForgotten : assert (value_q == (w_we_q && w_rd_q == place && place != 5'd0 ? w_data_q : file_q));
      RegisterZeroIsZero : assert (place != 5'd0 || (value_q == '0 && file_q == '0));
      LastReadsWhatWasWritten :
      assert (!m_valid_q || ((!uses_a(m_kind, m.instr) || m.instr[19:15] != place || m.a == value_q) &&
                             (!uses_b(m_kind, m.instr) || m.instr[24:20] != place || m.b == value_q)));
      NobodyReadsWhatIsNotKnown : assert (!x_valid_q || !x_waits_for_m || m_dec_q.result == FromAlu);
      ExecutedReadsWhatIsWritten :
      assert (!x_valid_q ||
              ((!uses_a(x_kind, x.instr) || x.instr[19:15] != place || x.a == (m_is_place ? m_alu_q : value_q)) &&
               (!uses_b(x_kind, x.instr) || x.instr[24:20] != place || x.b == (m_is_place ? m_alu_q : value_q))));
      UnitIsStartedByWhoWaits : assert (!muldiv_started_q || (m_valid_q && m_kind == MulDiv));
    end
  end

  logic unused_signals;
  assign unused_signals = ^{x_in_slot_q, m_in_slot_q};

endmodule

bind core core_rv32_properties #(
  .ImemWords(ImemWords),
  .DmemWords(DmemWords)
) u_properties (
  .turn     (u_lsu.way_q.turn),
  .sign     (u_lsu.way_q.sign),
  .from_word(u_lsu.way_q.from_word),
  .from_sign(u_lsu.way_q.from_sign),
  .from_rt  (u_lsu.way_q.from_rt),
  .reserved (u_lsu.gen_atomic.reserved_q),
  .*
);
