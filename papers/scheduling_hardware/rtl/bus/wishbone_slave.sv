// SPDX-License-Identifier: Apache-2.0
// A Wishbone B4 slave, pipelined mode, in front of a memory that answers a cycle after `mem_re_o` or `mem_we_o` (shared_memory.sv).
//
// A strobe is taken in each cycle without `busy_i`, by which the memory's side makes the master wait, and answered in the next: by an error
// where the memory says one, else by an acknowledge. A word that was read is on `wb_dat_o` with its answer.

module wishbone_slave (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        wb_cyc_i,
  input  logic        wb_stb_i,
  input  logic        wb_we_i,
  input  logic [31:2] wb_adr_i,
  input  logic [31:0] wb_dat_i,
  input  logic [3:0]  wb_sel_i,
  output logic [31:0] wb_dat_o,
  output logic        wb_ack_o,
  output logic        wb_err_o,
  output logic        wb_stall_o,

  input  logic        busy_i,
  output logic        mem_re_o,
  output logic        mem_we_o,
  output logic [31:0] mem_addr_o,
  output logic [31:0] mem_wdata_o,
  output logic [3:0]  mem_be_o,
  input  logic [31:0] mem_rdata_i,
  input  logic        mem_error_i
);

  logic taken, taken_q;

  assign taken       = wb_cyc_i && wb_stb_i && !busy_i;
  assign mem_re_o    = taken && !wb_we_i;
  assign mem_we_o    = taken && wb_we_i;
  assign mem_addr_o  = {wb_adr_i, 2'b00};
  assign mem_wdata_o = wb_dat_i;
  assign mem_be_o    = wb_sel_i;

  assign wb_dat_o   = mem_rdata_i;
  assign wb_ack_o   = taken_q && !mem_error_i;
  assign wb_err_o   = taken_q && mem_error_i;
  assign wb_stall_o = busy_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) taken_q <= 1'b0;
    else taken_q <= taken;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) WishboneSlaveIsStrobedInACycle : assert (!wb_stb_i || wb_cyc_i);
  end
`endif

endmodule
