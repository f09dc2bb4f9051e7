// SPDX-License-Identifier: Apache-2.0
// One core with two banks, its memories and no SSH: what the golden simulator runs in lockstep with to check the instruction set.
//
// In SSH-s's place stands something simple that the golden simulator can foretell: COP2 request number n is answered after a few cycles, a read
// with
// n * CopMultiplier ^ {register, 27 zeros}; commands do nothing; control registers 0, 1 and 6 set the stacks' guard, as SSH-s's do.
// `cop2_*_o` shows each request when it is answered, a cycle later, with the retirement of its instruction; `seen_*_o` likewise what was
// on the bus. On the bus there is another master, too, whose stores come from outside (`other_*_i`, held until `other_ready_o`).

module core_top
  import okosu_pkg::*;
#(
  parameter int unsigned ImemWords = 16384,
  parameter int unsigned DmemWords = 65536,
  // 0 MIPS I, 1 RV32.
  parameter int unsigned Isa       = 0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        irq_i,
  input  logic        cop2_room_i,
  // The next command stops the thread.
  input  logic        park_i,
  input  logic        preempt_i,
  output logic        preempted_o,
  input  logic        run_i,
  input  logic        run_bank_i,
  output logic        parked_o,
  output logic        bank_o,
  input  logic        port_bank_i,
  input  logic [5:0]  port_index_i,
  input  logic        port_we_i,
  input  logic [31:0] port_wdata_i,
  output logic [31:0] port_rdata_o,
  output retire_t     retire_o,
  output logic [31:0] at_pc_o,
  output logic        waits_memory_o,
  output logic        waits_sched_o,
  input  logic        other_valid_i,
  input  logic [31:0] other_addr_i,
  input  logic [31:0] other_data_i,
  output logic        other_ready_o,
  output logic        seen_store_o,
  output logic        seen_other_o,
  output logic [31:0] seen_addr_o,
  output logic [31:0] seen_data_o,
  output logic [3:0]  seen_be_o,
  output logic        cop2_answered_o,
  output logic [1:0]  cop2_kind_o,
  output logic [4:0]  cop2_index_o,
  output logic [31:0] cop2_data_o,
  output logic        print_o,
  output logic [7:0]  char_o,
  output logic        exit_o,
  output logic [31:0] status_o
);

  logic [31:0] imem_addr, imem_rdata, mem_addr, mem_wdata, mem_rdata;
  logic        bus_valid, bus_ready, mem_re, mem_we, mem_error, cop2_valid, cop2_done, guard_q;
  logic [3:0]  mem_be;
  mem_req_t    bus_req;
  mem_rsp_t    bus_rsp, unused_other;
  mem_req_t    other_req;
  mem_snoop_t  snoop;
  logic        snoop_other;
  cop2_req_t   cop2_req;
  logic [31:0] cop2_number_q, stack_top_q;
  logic [1:0]  cop2_waited_q;
  logic [4:0]  stack_log2_q;
  logic        parks;

  localparam logic [31:0] CopMultiplier = 32'h9e37_79b9;

  instruction_memory #(
    .Words(ImemWords)
  ) u_imem (
    .clk_i,
    .addr_i (imem_addr),
    .rdata_o(imem_rdata)
  );

  core #(
    .ImemWords(ImemWords),
    .DmemWords(DmemWords),
    .Banks    (2),
    .Rv32     (Isa == 1)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_addr_o   (imem_addr),
    .imem_rdata_i  (imem_rdata),
    .bus_valid_o   (bus_valid),
    .bus_req_o     (bus_req),
    .bus_ready_i   (bus_ready),
    .bus_rsp_i     (bus_rsp),
    .snoop_i       (snoop),
    .cop2_valid_o  (cop2_valid),
    .cop2_req_o    (cop2_req),
    .cop2_rsp_i    ('{
      done: cop2_done && !parks,
      park: parks,
      rdata: (cop2_number_q * CopMultiplier) ^ {cop2_req.index, 27'd0}
    }),
    .cop2_room_i,
    .irq_i,
    .preempt_i,
    .preempted_o,
    .run_i,
    .run_bank_i,
    .parked_o,
    .bank_o,
    .port_bank_i,
    .port_index_i,
    .port_we_i,
    .port_wdata_i,
    .port_rdata_o,
    .guard_on_i    (guard_q),
    .stack_top_i   (stack_top_q),
    .stack_log2_i  (stack_log2_q),
    .pe_i          (pe_t'(Isa)),
    .tid_i         ('0),
    .retire_o,
    .at_pc_o,
    .waits_memory_o,
    .waits_sched_o
  );

  assign parks = cop2_done && park_i && cop2_req.kind == Cop2Command;
  // Every fourth request waits, for 1 to 3 cycles.
  assign cop2_done = cop2_valid && (cop2_number_q[3:2] != 2'd3 || cop2_waited_q == cop2_number_q[1:0]);
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cop2_number_q <= '0;
      cop2_waited_q <= '0;
      guard_q       <= 1'b0;
      stack_top_q   <= '0;
      stack_log2_q  <= '0;
    end else begin
      cop2_waited_q <= cop2_valid && !cop2_done ? cop2_waited_q + 2'd1 : '0;
      if (cop2_done) cop2_number_q <= cop2_number_q + 32'd1;
      if (cop2_done && cop2_req.kind == Cop2Control) begin
        unique case (cop2_req.index)
          5'd0:    stack_top_q <= cop2_req.data;
          5'd1:    stack_log2_q <= cop2_req.data[4:0];
          5'd6:    guard_q <= cop2_req.data[0];
          default: ;
        endcase
      end
    end
  end
  always_ff @(posedge clk_i) begin
    cop2_answered_o <= rst_ni && cop2_done;
    cop2_kind_o     <= cop2_req.kind;
    cop2_index_o    <= cop2_req.index;
    cop2_data_o     <= cop2_req.data;
  end

  mem_bus #(
    .NumPorts(2)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .valid_i    ({other_valid_i, bus_valid}),
    .req_i      ({other_req, bus_req}),
    .ready_o    ({other_ready_o, bus_ready}),
    .rsp_o      ({unused_other, bus_rsp}),
    .mem_re_o   (mem_re),
    .mem_we_o   (mem_we),
    .mem_addr_o (mem_addr),
    .mem_wdata_o(mem_wdata),
    .mem_be_o   (mem_be),
    .mem_rdata_i(mem_rdata),
    .mem_error_i(mem_error),
    .snoop_o    (snoop),
    .master_o   (snoop_other),
    .active_o   (),
    .ad_o       ()
  );

  assign other_req = '{kind: MemWrite, we: 1'b1, addr: other_addr_i, wdata: other_data_i, be: 4'b1111, len: 6'd0};
  always_ff @(posedge clk_i) begin
    seen_store_o <= rst_ni && snoop.valid && snoop.is_store;
    seen_other_o <= snoop_other;
    seen_addr_o  <= snoop.addr;
    seen_data_o  <= snoop.data;
    seen_be_o    <= snoop.be;
  end

  shared_memory #(
    .Words(DmemWords)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .re_i   (mem_re),
    .we_i   (mem_we),
    .addr_i (mem_addr),
    .wdata_i(mem_wdata),
    .be_i   (mem_be),
    .rdata_o(mem_rdata),
    .error_o(mem_error),
    .print_o,
    .stream_o(),
    .char_o,
    .exit_o,
    .status_o
  );

endmodule
