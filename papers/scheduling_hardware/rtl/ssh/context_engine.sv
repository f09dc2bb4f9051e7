// SPDX-License-Identifier: Apache-2.0
// Moves contexts between a core's register banks, memory, and in LOCAL mode a memory of the PE's own that holds `Contexts` of them.
//
// One job at a time, given by a cycle of `start_i` while `busy_o` is low; `done_o` is high in a job's last cycle.
//   cold      a new thread: no register written but a0 (argument), gp, sp, ra (exit stub); HI, LO 0; PC   8 cycles
//   fill      a burst read of the context from memory                                                    37 cycles and the wait for the bus
//   spill     a burst write of it                                                                        37 likewise
//   save      bank to own memory: the registers that were written, HI, LO, PC and the mask               6 cycles and one a register
//   restore   own memory to bank                                                                         likewise
//   migrate   own memory to memory: a burst write                                                        39 cycles and the wait for the bus
// A context is 256 bytes, in memory at `area_i` + 256 * tid: word i (1 to 31) is register i, then HI, LO, PC and the mask of written registers.

module context_engine
  import okosu_pkg::*;
#(
  parameter int unsigned Banks    = 4,
  // Contexts that the PE's own memory holds in LOCAL mode; 0: there is no such memory.
  parameter int unsigned Contexts = 0,
  parameter bit          Rv32     = 1'b0,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth  = Banks > 1 ? $clog2(Banks) : 1,
  parameter int unsigned PlaceWidth = Contexts > 1 ? $clog2(Contexts) : 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic                  start_i,
  input  context_job_e          job_i,
  input  logic [BankWidth-1:0]  bank_i,
  input  logic [PlaceWidth-1:0] place_i,
  input  tid_t                  tid_i,
  input  logic [31:0]           entry_i,
  input  logic [31:0]           argument_i,
  output logic                  busy_o,
  output logic                  done_o,

  // Settings that the program makes at boot.
  input  logic [31:0]           stack_top_i,
  input  logic [4:0]            stack_log2_i,
  input  logic [31:0]           exit_stub_i,
  input  logic [31:0]           gp_i,
  input  logic [31:0]           area_i,

  output logic [BankWidth-1:0]  port_bank_o,
  output logic [5:0]            port_index_o,
  output logic                  port_we_o,
  output logic [31:0]           port_wdata_o,
  input  logic [31:0]           port_rdata_i,

  output logic                  mem_valid_o,
  output mem_req_t              mem_req_o,
  input  logic                  mem_ready_i,
  input  mem_rsp_t              mem_rsp_i
);

  localparam logic [5:0] FirstWord = 6'd1;
  localparam logic [5:0] MaskWord = 6'd35;
  localparam logic [5:0] Words = 6'd35;
  // The registers of a new thread.
  localparam logic [5:0] Argument = Rv32 ? 6'd10 : 6'd4;
  localparam logic [5:0] GlobalPointer = Rv32 ? 6'd3 : 6'd28;
  localparam logic [5:0] StackPointer = Rv32 ? 6'd2 : 6'd29;
  localparam logic [5:0] ReturnAddress = Rv32 ? 6'd1 : 6'd31;
  // The caller's area for four arguments (MIPS's o32) lies at a stack's very top; RISC-V wants the top to be a multiple of 16.
  localparam logic [31:0] ArgumentArea = 32'd16;

  logic                  busy_q;
  context_job_e          job_q;
  logic [5:0]            word_q, word_d;
  logic [BankWidth-1:0]  bank_q;
  logic [PlaceWidth-1:0] place_q;
  tid_t                  tid_q;
  logic [31:0]           entry_q, argument_q;
  // How far a job is that reads before it writes: a bank and the own memory answer a cycle after they are asked. 0 the first word or the
  // mask is asked for, 1 it is here, 2 the job runs.
  logic [1:0]            phase_q, phase_d;

  function automatic logic [5:0] index_of(logic [5:0] word);
    return word == MaskWord ? BankWritten : word;
  endfunction

  // Save and restore: only what was written, the lowest word first.

  logic [34:1] left_q, left_d;
  logic [5:0]  first, moving_q;
  logic        moving_d, any_left, is_moving_q;

  always_comb begin
    first = '0;
    for (int unsigned n = 34; n > 0; n--) begin
      if (left_q[n]) first = 6'(n);
    end
  end
  assign any_left = left_q != '0;

  // The PE's own memory.

  logic        local_we;
  logic [5:0]  local_word, local_write_word;
  logic [31:0] local_wdata, local_rdata, mask_q;
  if (Contexts > 0) begin : gen_local
    logic [31:0] mem_q[Contexts*64];
    logic [31:0] rdata_q;
    always_ff @(posedge clk_i) begin
      rdata_q <= mem_q[{place_q, local_word}];
      if (local_we) mem_q[{place_q, local_write_word}] <= local_wdata;
    end
    assign local_rdata = rdata_q;
  end else begin : gen_no_local
    assign local_rdata = '0;
    logic unused_local;
    assign unused_local = ^{local_we, local_word, local_write_word, local_wdata, place_q};
  end

  // The job.

  assign busy_o      = busy_q;
  assign port_bank_o = bank_q;
  assign mem_req_o   = '{
    kind: MemBurst,
    we: job_q != JobFill,
    addr: area_i + {16'd0, tid_q, 8'd0} + {24'd0, FirstWord, 2'd0},
    // A register that was not written is 0, whatever the place held before.
    wdata: job_q == JobSpill ? port_rdata_i : word_q[5] || mask_q[word_q[4:0]] ? local_rdata : '0,
    be: 4'b1111,
    len: Words
  };

  always_comb begin
    word_d           = word_q;
    phase_d          = phase_q == 2'd2 ? 2'd2 : phase_q + 2'd1;
    left_d           = left_q;
    moving_d         = 1'b0;
    done_o           = 1'b0;
    mem_valid_o      = 1'b0;
    port_index_o     = index_of(word_q);
    port_we_o        = 1'b0;
    port_wdata_o     = mem_rsp_i.rdata;
    local_word       = MaskWord;
    local_we         = 1'b0;
    local_write_word = moving_q;
    local_wdata      = port_rdata_i;
    if (busy_q) begin
      unique case (job_q)
        JobCold: begin
          port_we_o = 1'b1;
          word_d    = word_q + 6'd1;
          unique case (word_q)
            6'd0: begin
              port_index_o = BankWritten;
              port_wdata_o = '0;
            end
            6'd1: begin
              port_index_o = Argument;
              port_wdata_o = argument_q;
            end
            6'd2: begin
              port_index_o = GlobalPointer;
              port_wdata_o = gp_i;
            end
            6'd3: begin
              port_index_o = StackPointer;
              port_wdata_o = stack_top_i - ({24'd0, tid_q} << stack_log2_i) - ArgumentArea;
            end
            6'd4: begin
              port_index_o = ReturnAddress;
              port_wdata_o = exit_stub_i;
            end
            6'd5, 6'd6: begin
              port_index_o = word_q[0] ? BankHi : BankLo;
              port_wdata_o = '0;
            end
            default: begin
              port_index_o = BankPc;
              port_wdata_o = entry_q;
              done_o       = 1'b1;
            end
          endcase
        end
        JobFill: begin
          mem_valid_o = 1'b1;
          port_we_o   = mem_rsp_i.valid;
          if (mem_rsp_i.valid) word_d = word_q + 6'd1;
          done_o = mem_ready_i;
        end
        JobSpill: begin
          // The index is ahead of the word that is on the bus.
          mem_valid_o = phase_q != 2'd0;
          if (mem_rsp_i.valid) begin
            word_d       = word_q + 6'd1;
            port_index_o = index_of(word_d);
          end
          done_o = mem_ready_i;
        end
        JobMigrate: begin
          mem_valid_o = phase_q == 2'd2;
          if (mem_rsp_i.valid) word_d = word_q + 6'd1;
          if (phase_q != 2'd0) local_word = word_d;
          done_o = mem_ready_i;
        end
        JobSave: begin
          port_index_o = phase_q == 2'd0 ? BankWritten : first;
          local_we     = phase_q == 2'd1 || is_moving_q;
          if (phase_q == 2'd1) begin
            local_write_word = MaskWord;
            left_d           = {3'b111, port_rdata_i[31:1]};
          end
          if (phase_q == 2'd2) begin
            moving_d = any_left;
            left_d   = left_q & ~(34'd1 << (first - 6'd1));
            done_o   = !any_left;
          end
        end
        default: begin
          port_we_o    = phase_q == 2'd1 || is_moving_q;
          port_wdata_o = local_rdata;
          port_index_o = phase_q == 2'd1 ? BankWritten : moving_q;
          if (phase_q == 2'd1) left_d = {3'b111, local_rdata[31:1]};
          if (phase_q == 2'd2) begin
            local_word = first;
            moving_d   = any_left;
            left_d     = left_q & ~(34'd1 << (first - 6'd1));
            done_o     = !any_left;
          end
        end
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q      <= 1'b0;
      phase_q     <= '0;
      is_moving_q <= 1'b0;
    end else begin
      busy_q      <= start_i || (busy_q && !done_o);
      phase_q     <= busy_q ? phase_d : '0;
      is_moving_q <= moving_d;
    end
  end

  always_ff @(posedge clk_i) begin
    word_q   <= busy_q ? word_d : job_i == JobCold ? 6'd0 : FirstWord;
    left_q   <= left_d;
    moving_q <= first;
    if (phase_q == 2'd1) mask_q <= local_rdata;
    if (start_i && !busy_q) begin
      job_q      <= job_i;
      bank_q     <= bank_i;
      place_q    <= place_i;
      tid_q      <= tid_i;
      entry_q    <= entry_i;
      argument_q <= argument_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ContextEngineDoesOneJobAtATime : assert (!start_i || !busy_q);
      ContextEngineHasAMemoryForLocalJobs :
      assert (!start_i || Contexts > 0 || !(job_i inside {JobSave, JobRestore, JobMigrate}));
    end
  end
`endif

endmodule
