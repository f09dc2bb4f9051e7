// SPDX-License-Identifier: Apache-2.0
// From PicoRV32's port for coprocessors (PCPI) to SSH-s: the requests in custom-0 (doc/INTERFACES.md, "The core of RISC-V").
//
// PCPI: the core holds `pcpi_valid_i` with an instruction that it does not have, and the register that rs1 names, until `pcpi_ready_o`;
// with it, `pcpi_wr_o` says that `pcpi_rd_o` goes to rd. `pcpi_wait_o`, in time, says that the instruction is ours: an answer may take as
// long as it likes. What is nobody's makes the core stop. The instruction is shown a cycle before it is valid, which is how SSH-s learns
// what will be read. SSH-s: `cop2_valid_o` with a request until `done`, as core.sv does it. PicoRV32
// begins no instruction before the store in front of it is done, so that a command finds all stores on the bus. `park` is never asked
// for: SSH-s has to be in mode SOFT.

module pcpi_ssh
  import okosu_pkg::*;
(
  input  logic        pcpi_valid_i,
  input  logic [31:0] pcpi_insn_i,
  input  logic [31:0] pcpi_rs1_i,
  output logic        pcpi_wr_o,
  output logic [31:0] pcpi_rd_o,
  output logic        pcpi_wait_o,
  output logic        pcpi_ready_o,

  output logic        cop2_valid_o,
  output cop2_req_t   cop2_req_o,
  input  cop2_rsp_t   cop2_rsp_i
);

  localparam logic [6:0] Custom0 = 7'b0001011;
  localparam logic [2:0] Put = 3'd0;
  localparam logic [2:0] Get = 3'd1;
  localparam logic [2:0] Set = 3'd2;

  logic [4:0] number, rd, rs1;
  logic [2:0] funct3;
  logic       ours;
  assign number = pcpi_insn_i[29:25];
  assign rs1    = pcpi_insn_i[19:15];
  assign funct3 = pcpi_insn_i[14:12];
  assign rd     = pcpi_insn_i[11:7];

  // Fields that are not used are 0; there is no SWAP.
  always_comb begin
    ours = pcpi_insn_i[6:0] == Custom0 && pcpi_insn_i[31:30] == 2'd0 && pcpi_insn_i[24:20] == '0;
    unique case (funct3)
      Put:     ours &= rd == '0 && number != RegSwap;
      Get:     ours &= rs1 == '0 && number != RegSwap;
      Set:     ours &= rd == '0;
      default: ours = 1'b0;
    endcase
  end

  assign cop2_valid_o = pcpi_valid_i && ours;
  always_comb begin
    cop2_req_o = '{kind: Cop2Operand, index: number, coming: number, data: pcpi_rs1_i};
    unique case (funct3)
      Get:     cop2_req_o.kind = Cop2Read;
      Set:     cop2_req_o.kind = Cop2Control;
      default: begin
        if (number[4]) begin
          cop2_req_o.kind  = Cop2Command;
          cop2_req_o.index = {1'b0, number[3:0]};
        end
      end
    endcase
  end

  assign pcpi_wait_o  = cop2_valid_o;
  assign pcpi_ready_o = cop2_valid_o && cop2_rsp_i.done;
  assign pcpi_wr_o    = pcpi_ready_o && funct3 == Get;
  assign pcpi_rd_o    = cop2_rsp_i.rdata;

  logic unused_park;
  assign unused_park = cop2_rsp_i.park;

endmodule
