// SPDX-License-Identifier: Apache-2.0
// Moves contexts between a core's register banks and memory.
//
// One job at a time, given by a cycle of `start_i` while `busy_o` is low; `done_o` is high in a job's last cycle.
//   fill cold   a new thread: no register written but a0 (argument), gp, sp, ra (exit stub), and the PC    6 cycles
//   fill warm   a burst read of the context from memory                                                    37 cycles and the wait for the bus
//   spill       a burst write of it                                                                        37 likewise
// A context is 256 bytes at `area_i` + 256 * tid: word i (1 to 31) is register i, then HI, LO, PC and the mask of written registers.

module context_engine
  import okosu_pkg::*;
#(
  parameter int unsigned Banks = 4,
  // Derived; do not overwrite.
  parameter int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic                 start_i,
  input  logic                 spill_i,
  input  logic                 cold_i,
  input  logic [BankWidth-1:0] bank_i,
  input  tid_t                 tid_i,
  input  logic [31:0]          entry_i,
  input  logic [31:0]          argument_i,
  output logic                 busy_o,
  output logic                 done_o,

  // Set at boot.
  input  logic [31:0]          stack_top_i,
  input  logic [4:0]           stack_log2_i,
  input  logic [31:0]          exit_stub_i,
  input  logic [31:0]          gp_i,
  input  logic [31:0]          area_i,

  output logic [BankWidth-1:0] port_bank_o,
  output logic [5:0]           port_index_o,
  output logic                 port_we_o,
  output logic [31:0]          port_wdata_o,
  input  logic [31:0]          port_rdata_i,

  output logic                 mem_valid_o,
  output mem_req_t             mem_req_o,
  input  logic                 mem_ready_i,
  input  mem_rsp_t             mem_rsp_i
);

  localparam logic [5:0] FirstWord = 6'd1;
  localparam logic [5:0] MaskWord = 6'd35;
  localparam logic [5:0] Words = 6'd35;
  // The caller's area for four arguments (o32) lies at a stack's very top.
  localparam logic [31:0] ArgumentArea = 32'd16;

  typedef enum logic [1:0] {
    StIdle,
    StCold,
    StWarm,
    StSpill
  } state_e;

  state_e               state_q, state_d;
  logic [5:0]           word_q, word_d;
  logic [BankWidth-1:0] bank_q;
  tid_t                 tid_q;
  // The first word of a spill is on port_rdata_i a cycle after the job begins.
  logic                 started_q;
  logic [31:0]          entry_q, argument_q;

  function automatic logic [5:0] index_of(logic [5:0] word);
    return word == MaskWord ? BankWritten : word;
  endfunction

  assign busy_o      = state_q != StIdle;
  assign mem_valid_o = state_q == StWarm || (state_q == StSpill && started_q);
  assign port_bank_o = bank_q;
  assign mem_req_o   = '{
    kind: MemBurst,
    we: state_q == StSpill,
    addr: area_i + {16'd0, tid_q, 8'd0} + {24'd0, FirstWord, 2'd0},
    wdata: port_rdata_i,
    be: 4'b1111,
    len: Words
  };

  always_comb begin
    state_d      = state_q;
    word_d       = word_q;
    done_o       = 1'b0;
    port_index_o = index_of(word_q);
    port_we_o    = 1'b0;
    port_wdata_o = mem_rsp_i.rdata;
    unique case (state_q)
      StIdle: begin
        word_d = cold_i && !spill_i ? 6'd0 : FirstWord;
        if (start_i) state_d = spill_i ? StSpill : cold_i ? StCold : StWarm;
      end
      StCold: begin
        port_we_o = 1'b1;
        word_d    = word_q + 6'd1;
        unique case (word_q)
          6'd0: begin
            port_index_o = BankWritten;
            port_wdata_o = '0;
          end
          6'd1: begin
            port_index_o = 6'd4;
            port_wdata_o = argument_q;
          end
          6'd2: begin
            port_index_o = 6'd28;
            port_wdata_o = gp_i;
          end
          6'd3: begin
            port_index_o = 6'd29;
            port_wdata_o = stack_top_i - ({24'd0, tid_q} << stack_log2_i) - ArgumentArea;
          end
          6'd4: begin
            port_index_o = 6'd31;
            port_wdata_o = exit_stub_i;
          end
          default: begin
            port_index_o = BankPc;
            port_wdata_o = entry_q;
            done_o       = 1'b1;
            state_d      = StIdle;
          end
        endcase
      end
      StWarm: begin
        port_we_o = mem_rsp_i.valid;
        if (mem_rsp_i.valid) word_d = word_q + 6'd1;
        if (mem_ready_i) begin
          done_o  = 1'b1;
          state_d = StIdle;
        end
      end
      default: begin
        // The bank answers a cycle after it is asked: the index is ahead of the word that is on the bus.
        if (mem_rsp_i.valid) begin
          word_d       = word_q + 6'd1;
          port_index_o = index_of(word_d);
        end
        if (mem_ready_i) begin
          done_o  = 1'b1;
          state_d = StIdle;
        end
      end
    endcase
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q   <= StIdle;
      started_q <= 1'b0;
    end else begin
      state_q   <= state_d;
      started_q <= state_q == StSpill && state_d == StSpill;
    end
  end

  always_ff @(posedge clk_i) begin
    word_q <= word_d;
    if (start_i && !busy_o) begin
      bank_q     <= bank_i;
      tid_q      <= tid_i;
      entry_q    <= entry_i;
      argument_q <= argument_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) ContextEngineDoesOneJobAtATime : assert (!start_i || !busy_o);
  end
`endif

endmodule
