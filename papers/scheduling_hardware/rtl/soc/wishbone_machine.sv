// SPDX-License-Identifier: Apache-2.0
// The machine for somebody's system on a chip: PEs, SSH-m and a Wishbone B4 master, pipelined mode, by which they reach data and devices.
//
// The protocol is that of wishbone_bus.sv. PEs load from and store to `0x9000_0000` on, DmemWords words, and store to the two words of
// devices at `0xbf00_0000` (doc/INTERFACES.md); nothing else is strobed, but contexts that PEs save lie in memory, too. Whatever else the
// system has may share the memory; stores by others are not seen by threads that wait in the hardware. Instructions come from memories
// within, which have to be filled before reset ends. Isa: 0 for PEs of MIPS, 1 for those of RISC-V.

module wishbone_machine
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 2,
  parameter int unsigned Threads   = 16,
  parameter int unsigned Watches   = 8,
  parameter int unsigned Context   = 1,
  parameter int unsigned Banks     = 1,
  parameter int unsigned Contexts  = 16,
  parameter int unsigned ImemWords = 16384,
  parameter int unsigned DmemWords = 32768,
  parameter int unsigned Isa       = 0
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  output logic              wb_cyc_o,
  output logic              wb_stb_o,
  output logic              wb_we_o,
  output logic [31:2]       wb_adr_o,
  output logic [31:0]       wb_dat_o,
  output logic [3:0]        wb_sel_o,
  input  logic [31:0]       wb_dat_i,
  input  logic              wb_ack_i,
  input  logic              wb_err_i,
  input  logic              wb_stall_i,

  // Which PEs run a thread.
  output logic [NumPes-1:0] running_o
);

  logic     [NumPes:0] valid, ready;
  mem_req_t [NumPes:0] req;
  mem_rsp_t [NumPes:0] rsp;
  mem_snoop_t          snoop;

  cluster #(
    .NumPes   (NumPes),
    .Threads  (Threads),
    .Watches  (Watches),
    .Context  (Context),
    .Banks    (Banks),
    .Contexts (Contexts),
    .ImemWords(ImemWords),
    .DmemWords(DmemWords),
    .Isa      (Isa),
    .Sections (6),
    .Prompt   (1'b1)
  ) u_cluster (
    .clk_i,
    .rst_ni,
    .cycle_o            (),
    .mem_valid_o        (valid),
    .mem_req_o          (req),
    .mem_ready_i        (ready),
    .mem_rsp_i          (rsp),
    .snoop_i            (snoop),
    .section_start_i    ('0),
    .section_end_i      ('0),
    .retire_o           (),
    .parked_o           (),
    .running_o,
    .tid_o              (),
    .sched_valid_o      (),
    .sched_from_master_o(),
    .sched_msg_o        ()
  );

  wishbone_bus #(
    .NumPorts(NumPes + 1)
  ) u_bus (
    .clk_i,
    .rst_ni,
    .valid_i (valid),
    .req_i   (req),
    .ready_o (ready),
    .rsp_o   (rsp),
    .wb_cyc_o,
    .wb_stb_o,
    .wb_we_o,
    .wb_adr_o,
    .wb_dat_o,
    .wb_sel_o,
    .wb_dat_i,
    .wb_ack_i,
    .wb_err_i,
    .wb_stall_i,
    .snoop_o (snoop),
    .master_o(),
    .active_o()
  );

endmodule
