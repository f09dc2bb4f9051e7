// SPDX-License-Identifier: Apache-2.0
// Cores of another project, each with a small memory of its own, to compare the speed of the simulation with: picorv32, whose source
// the user brings (`okosu lab speed rtl --peer`). Each runs a loop of six register instructions, a store and a jump.

module peer_top #(
  parameter int unsigned Cores = 16
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  // What each core stored last.
  output logic [Cores-1:0][31:0] stored_o
);

  localparam int unsigned Words = 1024;

  for (genvar c = 0; c < Cores; c++) begin : gen_core
    logic        mem_valid, mem_ready_q, trap;
    logic [31:0] mem_addr, mem_wdata, mem_rdata_q;
    logic [3:0]  mem_wstrb;
    logic [31:0] mem_q[Words];

    // x10 is a number of Marsaglia's xorshift, that of core c begins at c + 1.
    initial begin
      mem_q[0] = 32'h0000_0513 | (c + 1) << 20;  // addi x10, x0, c + 1
      mem_q[1] = 32'h00d5_1593;                  // slli x11, x10, 13
      mem_q[2] = 32'h00b5_4533;                  // xor  x10, x10, x11
      mem_q[3] = 32'h0115_5593;                  // srli x11, x10, 17
      mem_q[4] = 32'h00b5_4533;                  // xor  x10, x10, x11
      mem_q[5] = 32'h0055_1593;                  // slli x11, x10, 5
      mem_q[6] = 32'h00b5_4533;                  // xor  x10, x10, x11
      mem_q[7] = 32'h10a0_2023;                  // sw   x10, 256(x0)
      mem_q[8] = 32'hfe5f_f06f;                  // jal  x0, -28
    end

    picorv32 #(
      .ENABLE_COUNTERS(0)
    ) u_core (
      .clk      (clk_i),
      .resetn   (rst_ni),
      .trap     (trap),
      .mem_valid(mem_valid),
      .mem_instr(),
      .mem_ready(mem_ready_q),
      .mem_addr (mem_addr),
      .mem_wdata(mem_wdata),
      .mem_wstrb(mem_wstrb),
      .mem_rdata(mem_rdata_q),
      .pcpi_wr  (1'b0),
      .pcpi_rd  ('0),
      .pcpi_wait(1'b0),
      .pcpi_ready(1'b0),
      .irq      ('0)
    );

    always_ff @(posedge clk_i) begin
      mem_ready_q <= mem_valid && !mem_ready_q;
      mem_rdata_q <= mem_q[mem_addr[11:2]];
      if (mem_valid && !mem_ready_q && mem_wstrb == 4'hf) begin
        mem_q[mem_addr[11:2]] <= mem_wdata;
        stored_o[c]           <= mem_wdata;
      end
    end
  end

endmodule
