// SPDX-License-Identifier: Apache-2.0
// Shared memory and the two devices behind the memory bus: console and end of simulation.
//
// A word asked for with `re_i` is on `rdata_o` in the next cycle; a write takes effect at the end of its cycle, its enabled bytes only.
// `error_o` is high in the next cycle, too, if the address is none (doc/INTERFACES.md); such a write has no effect.
// The devices speak by pulses, which the simulator reads: a byte printed (`stream_o`: as an error), the word with which a program ended.
// On a board the memory begins with the file that OKOSU_DATA names.

module shared_memory #(
  parameter int unsigned Words = 1024
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        re_i,
  input  logic        we_i,
  input  logic [31:0] addr_i,
  input  logic [31:0] wdata_i,
  input  logic [3:0]  be_i,
  output logic [31:0] rdata_o,
  output logic        error_o,

  output logic        print_o,
  output logic        stream_o,
  output logic [7:0]  char_o,
  output logic        exit_o,
  output logic [31:0] status_o
);

  localparam int unsigned AddrWidth = $clog2(Words);
  localparam logic [31:0] DataBase = 32'h9000_0000;
  localparam logic [31:0] Console = 32'hbf00_0000;
  localparam logic [31:0] Exit = 32'hbf00_0004;

  logic [31:0] mem_q[Words]  /* verilator public_flat_rw */;
  logic        in_memory, error_q;

`ifdef OKOSU_DATA
  initial $readmemh(`OKOSU_DATA, mem_q);
`endif

  assign in_memory = addr_i - DataBase < 32'(Words) * 32'd4;
  assign error_o   = error_q;

  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem_q[addr_i[2+:AddrWidth]];
    if (we_i && in_memory) begin
      for (int unsigned b = 0; b < 4; b++) begin
        if (be_i[b]) mem_q[addr_i[2+:AddrWidth]][8*b+:8] <= wdata_i[8*b+:8];
      end
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      error_q  <= 1'b0;
      print_o  <= 1'b0;
      stream_o <= 1'b0;
      char_o   <= '0;
      exit_o   <= 1'b0;
      status_o <= '0;
    end else begin
      error_q  <= (re_i || we_i) && !in_memory && !(we_i && (addr_i == Console || addr_i == Exit));
      print_o  <= we_i && addr_i == Console;
      stream_o <= be_i[1];
      char_o   <= be_i[1] ? wdata_i[15:8] : wdata_i[7:0];
      exit_o   <= we_i && addr_i == Exit;
      status_o <= wdata_i;
    end
  end

endmodule
