// SPDX-License-Identifier: Apache-2.0
// General registers, one set for each bank.
//
// There are two read ports for the running thread's bank, a write port that names its bank (for the last write may come after a
// switch), and a port by which SSH-s reads and writes any bank that does not run. Reads are combinational. Each bank remembers which of its
// registers have been written since its mask was cleared: one that has
// not reads as 0, so that a new thread sees nothing of the last one's and its first context takes a handful of words.

module register_banks #(
  parameter int unsigned Banks = 1,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,

  input  logic [BankWidth-1:0] bank_i,
  input  logic [4:0]           ra_i,
  input  logic [4:0]           rb_i,
  output logic [31:0]          a_o,
  output logic [31:0]          b_o,
  input  logic                 we_i,
  input  logic [BankWidth-1:0] w_bank_i,
  input  logic [4:0]           rd_i,
  input  logic [31:0]          wdata_i,

  input  logic [BankWidth-1:0] port_bank_i,
  input  logic [4:0]           port_index_i,
  input  logic                 port_we_i,
  input  logic                 port_mask_we_i,
  input  logic [31:0]          port_wdata_i,
  output logic [31:0]          port_rdata_o,
  output logic [31:0]          port_mask_o
);

  logic [31:0] regs_q[Banks][32];
  logic [31:0] written_q[Banks];

  assign a_o          = written_q[bank_i][ra_i] ? regs_q[bank_i][ra_i] : '0;
  assign b_o          = written_q[bank_i][rb_i] ? regs_q[bank_i][rb_i] : '0;
  assign port_rdata_o = written_q[port_bank_i][port_index_i] ? regs_q[port_bank_i][port_index_i] : '0;
  assign port_mask_o  = written_q[port_bank_i];

  // Register 0 is never marked as written, and so reads as 0.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      for (int unsigned b = 0; b < Banks; b++) written_q[b] <= '0;
    end else begin
      if (we_i && rd_i != '0) written_q[w_bank_i][rd_i] <= 1'b1;
      if (port_we_i && port_index_i != '0) written_q[port_bank_i][port_index_i] <= 1'b1;
      if (port_mask_we_i) written_q[port_bank_i] <= {port_wdata_i[31:1], 1'b0};
    end
  end

  always_ff @(posedge clk_i) begin
    if (we_i) regs_q[w_bank_i][rd_i] <= wdata_i;
    if (port_we_i) regs_q[port_bank_i][port_index_i] <= port_wdata_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RegisterBanksPortsNeverWriteTheSameWord : 
      assert (!(we_i && port_we_i && w_bank_i == port_bank_i && rd_i == port_index_i));
    end
  end
`endif

endmodule
