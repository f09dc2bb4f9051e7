// SPDX-License-Identifier: Apache-2.0
// General registers, one set for each bank.
//
// There are two read ports for the running thread's bank, a write port that names its bank, and a port by which SSH-s reads and writes
// any bank that does not run. Reads are combinational. A bank is a memory with one write port, for nobody but SSH-s writes to it while
// it does not run, and nobody but the core while it does: so it fits into distributed memory. Each bank remembers which of its
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

  logic [31:0] written_q[Banks];
  logic [31:0] a_of[Banks];
  logic [31:0] b_of[Banks];
  logic [31:0] port_of[Banks];

  // One memory for each bank, with one write port: that of SSH-s where it writes to this bank, which then does not run.
  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [31:0] regs_q[32];
    logic        port_here, we;
    logic [4:0]  index;
    logic [31:0] wdata;

    assign port_here  = port_we_i && port_bank_i == BankWidth'(b);
    assign we         = port_here || (we_i && w_bank_i == BankWidth'(b));
    assign index      = port_here ? port_index_i : rd_i;
    assign wdata      = port_here ? port_wdata_i : wdata_i;
    assign a_of[b]    = regs_q[ra_i];
    assign b_of[b]    = regs_q[rb_i];
    assign port_of[b] = regs_q[port_index_i];

    always_ff @(posedge clk_i) begin
      if (we) regs_q[index] <= wdata;
    end

    // Register 0 is never marked as written, and so reads as 0.
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) written_q[b] <= '0;
      else if (port_mask_we_i && port_bank_i == BankWidth'(b)) written_q[b] <= {port_wdata_i[31:1], 1'b0};
      else if (we && index != '0) written_q[b][index] <= 1'b1;
    end
  end

  assign a_o          = written_q[bank_i][ra_i] ? a_of[bank_i] : '0;
  assign b_o          = written_q[bank_i][rb_i] ? b_of[bank_i] : '0;
  assign port_rdata_o = written_q[port_bank_i][port_index_i] ? port_of[port_bank_i] : '0;
  assign port_mask_o  = written_q[port_bank_i];

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      RegisterBanksHaveOneWriterEach : assert (!(we_i && (port_we_i || port_mask_we_i) && w_bank_i == port_bank_i));
    end
  end
`endif

endmodule
