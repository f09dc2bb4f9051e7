// SPDX-License-Identifier: Apache-2.0
// A PE's private instruction memory: ideal, a word a cycle, as an instruction cache that never misses (the paper, section 5.2).
// The word at `addr_i` is on `rdata_o` in the next cycle. The simulator fills it before reset ends;
// on a board it begins with the file that OKOSU_TEXT names.

module instruction_memory #(
  parameter int unsigned Words = 1024
) (
  input  logic        clk_i,
  input  logic [31:0] addr_i,
  output logic [31:0] rdata_o
);

  localparam int unsigned AddrWidth = $clog2(Words);

  logic [31:0] mem_q[Words]  /* verilator public_flat_rw */;

`ifdef OKOSU_TEXT
  initial $readmemh(`OKOSU_TEXT, mem_q);
`endif

  always_ff @(posedge clk_i) rdata_o <= mem_q[addr_i[2+:AddrWidth]];

  logic unused_addr;
  assign unused_addr = ^{addr_i[31:2+AddrWidth], addr_i[1:0]};

endmodule
