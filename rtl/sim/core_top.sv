// SPDX-License-Identifier: Apache-2.0
// One core with its memories and no SSH: what the golden simulator runs in lockstep with to check the instruction set.
// COP2 operands and reads are answered at once with 0, commands do nothing.

module core_top
  import okosu_pkg::*;
#(
  parameter int unsigned ImemWords = 16384,
  parameter int unsigned DmemWords = 65536
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        irq_i,
  output retire_t     retire_o,
  output logic        print_o,
  output logic [7:0]  char_o,
  output logic        exit_o,
  output logic [31:0] status_o
);

  logic [31:0] imem_addr, imem_rdata, mem_addr, mem_wdata, mem_rdata;
  logic        bus_valid, bus_ready, mem_re, mem_we, mem_error, cop2_valid;
  logic [3:0]  mem_be;
  mem_req_t    bus_req;
  mem_rsp_t    bus_rsp;

  instruction_memory #(
    .Words(ImemWords)
  ) u_imem (
    .clk_i,
    .addr_i (imem_addr),
    .rdata_o(imem_rdata)
  );

  core #(
    .ImemWords(ImemWords),
    .DmemWords(DmemWords)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_addr_o   (imem_addr),
    .imem_rdata_i  (imem_rdata),
    .bus_valid_o   (bus_valid),
    .bus_req_o     (bus_req),
    .bus_ready_i   (bus_ready),
    .bus_rsp_i     (bus_rsp),
    .cop2_valid_o  (cop2_valid),
    .cop2_req_o    (),
    .cop2_rsp_i    ('{done: cop2_valid, park: 1'b0, rdata: '0}),
    .cop2_room_i   (1'b1),
    .irq_i,
    .preempt_i     (1'b0),
    .preempted_o   (),
    .run_i         (1'b0),
    .run_bank_i    ('0),
    .parked_o      (),
    .bank_o        (),
    .port_bank_i   ('0),
    .port_index_i  ('0),
    .port_we_i     (1'b0),
    .port_wdata_i  ('0),
    .port_rdata_o  (),
    .guard_on_i    (1'b0),
    .stack_top_i   ('0),
    .stack_log2_i  ('0),
    .tid_i         ('0),
    .retire_o,
    .at_pc_o       (),
    .waits_memory_o(),
    .waits_sched_o ()
  );

  mem_bus #(
    .NumPorts(1)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .valid_i    (bus_valid),
    .req_i      (bus_req),
    .ready_o    (bus_ready),
    .rsp_o      (bus_rsp),
    .mem_re_o   (mem_re),
    .mem_we_o   (mem_we),
    .mem_addr_o (mem_addr),
    .mem_wdata_o(mem_wdata),
    .mem_be_o   (mem_be),
    .mem_rdata_i(mem_rdata),
    .mem_error_i(mem_error),
    .snoop_o    (),
    .master_o   (),
    .active_o   (),
    .ad_o       ()
  );

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
