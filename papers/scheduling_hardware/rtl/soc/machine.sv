// SPDX-License-Identifier: Apache-2.0
// The whole machine: PEs, SSH-m and their bus (cluster.sv), memory bus, shared memory. doc/INTERFACES.md draws it.

module machine
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 8,
  parameter int unsigned Threads   = 256,
  parameter int unsigned Watches   = 16,
  // 0 SOFT, 1 MEM, 2 LOCAL, 3 BANKED.
  parameter int unsigned Context   = 3,
  parameter int unsigned Banks     = 4,
  // Contexts that each PE's own memory holds, in LOCAL mode.
  parameter int unsigned Contexts  = 16,
  parameter int unsigned ImemWords = 65536,
  parameter int unsigned DmemWords = 1048576,
  // Of each PE's data cache; 0: there are none.
  parameter int unsigned DcacheBytes = 0,
  // Instead of the multiplexed bus: 1 the wide one, 2 one whose memory is behind Wishbone.
  parameter int unsigned Pipelined = 0,
  // The PEs' instruction set: 0 MIPS I, 1 RV32.
  parameter int unsigned Isa       = 0,
  // SSH-m takes three cycles for an action instead of one.
  parameter int unsigned Staged    = 0,
  parameter int unsigned Sections  = 6
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  output logic [63:0]                           cycle_o,
  output logic                                  print_o,
  output logic                                  stream_o,
  output logic [7:0]                            char_o,
  output logic                                  exit_o,
  output logic [31:0]                           status_o,

  input  logic [Sections-1:1][31:0]             section_start_i,
  input  logic [Sections-1:1][31:0]             section_end_i,
  output retire_t [NumPes-1:0]                  retire_o,
  output logic [NumPes-1:0]                     parked_o,
  output logic [NumPes-1:0]                     running_o,
  output tid_t [NumPes-1:0]                     tid_o,
  output mem_snoop_t                            snoop_o,
  output logic [6:0]                            snoop_master_o,
  output logic                                  sched_valid_o,
  output logic                                  sched_from_master_o,
  output sched_msg_t                            sched_msg_o,
  output logic                                  mem_active_o
);

  localparam int unsigned NumPorts = NumPes + 1;
  localparam int unsigned PortWidth = $clog2(NumPorts);

  logic     [NumPorts-1:0] mem_valid, mem_ready;
  mem_req_t [NumPorts-1:0] mem_req;
  mem_rsp_t [NumPorts-1:0] mem_rsp;
  logic                    re, we, error;
  logic [31:0]             addr, wdata, rdata;
  logic [3:0]              be;
  logic [PortWidth-1:0]    master;

  cluster #(
    .NumPes     (NumPes),
    .Threads    (Threads),
    .Watches    (Watches),
    .Context    (Context),
    .Banks      (Banks),
    .Contexts   (Contexts),
    .ImemWords  (ImemWords),
    .DmemWords  (DmemWords),
    .DcacheBytes(DcacheBytes),
    .Isa        (Isa),
    .WideBus    (Pipelined == 1),
    .Prompt     (Pipelined == 2),
    .Staged     (Staged),
    .Sections   (Sections)
  ) u_cluster (
    .clk_i,
    .rst_ni,
    .cycle_o,
    .mem_valid_o(mem_valid),
    .mem_req_o  (mem_req),
    .mem_ready_i(mem_ready),
    .mem_rsp_i  (mem_rsp),
    .snoop_i    (snoop_o),
    .section_start_i,
    .section_end_i,
    .retire_o,
    .parked_o,
    .running_o,
    .tid_o,
    .sched_valid_o,
    .sched_from_master_o,
    .sched_msg_o
  );

  if (Pipelined == 2) begin : gen_wishbone
    logic        cyc, stb, wb_we, ack, err, stall;
    logic [31:2] adr;
    logic [31:0] dat, dat_back;
    logic [3:0]  sel;
    wishbone_bus #(
      .NumPorts(NumPorts)
    ) u_wishbone_bus (
      .clk_i,
      .rst_ni,
      .valid_i   (mem_valid),
      .req_i     (mem_req),
      .ready_o   (mem_ready),
      .rsp_o     (mem_rsp),
      .wb_cyc_o  (cyc),
      .wb_stb_o  (stb),
      .wb_we_o   (wb_we),
      .wb_adr_o  (adr),
      .wb_dat_o  (dat),
      .wb_sel_o  (sel),
      .wb_dat_i  (dat_back),
      .wb_ack_i  (ack),
      .wb_err_i  (err),
      .wb_stall_i(stall),
      .snoop_o,
      .master_o  (master),
      .active_o  (mem_active_o)
    );
    wishbone_slave u_wishbone_slave (
      .clk_i,
      .rst_ni,
      .wb_cyc_i   (cyc),
      .wb_stb_i   (stb),
      .wb_we_i    (wb_we),
      .wb_adr_i   (adr),
      .wb_dat_i   (dat),
      .wb_sel_i   (sel),
      .wb_dat_o   (dat_back),
      .wb_ack_o   (ack),
      .wb_err_o   (err),
      .wb_stall_o (stall),
      .busy_i     (1'b0),
      .mem_re_o   (re),
      .mem_we_o   (we),
      .mem_addr_o (addr),
      .mem_wdata_o(wdata),
      .mem_be_o   (be),
      .mem_rdata_i(rdata),
      .mem_error_i(error)
    );
  end else if (Pipelined == 1) begin : gen_wide
    wide_bus #(
      .NumPorts(NumPorts)
    ) u_wide_bus (
      .clk_i,
      .rst_ni,
      .valid_i    (mem_valid),
      .req_i      (mem_req),
      .ready_o    (mem_ready),
      .rsp_o      (mem_rsp),
      .mem_re_o   (re),
      .mem_we_o   (we),
      .mem_addr_o (addr),
      .mem_wdata_o(wdata),
      .mem_be_o   (be),
      .mem_rdata_i(rdata),
      .mem_error_i(error),
      .snoop_o,
      .master_o   (master),
      .active_o   (mem_active_o)
    );
  end else begin : gen_multiplexed
    mem_bus #(
      .NumPorts(NumPorts)
    ) u_mem_bus (
      .clk_i,
      .rst_ni,
      .valid_i    (mem_valid),
      .req_i      (mem_req),
      .ready_o    (mem_ready),
      .rsp_o      (mem_rsp),
      .mem_re_o   (re),
      .mem_we_o   (we),
      .mem_addr_o (addr),
      .mem_wdata_o(wdata),
      .mem_be_o   (be),
      .mem_rdata_i(rdata),
      .mem_error_i(error),
      .snoop_o,
      .master_o   (master),
      .active_o   (mem_active_o),
      .ad_o       ()
    );
  end
  assign snoop_master_o = 7'(master);

  shared_memory #(
    .Words(DmemWords)
  ) u_memory (
    .clk_i,
    .rst_ni,
    .re_i   (re),
    .we_i   (we),
    .addr_i (addr),
    .wdata_i(wdata),
    .be_i   (be),
    .rdata_o(rdata),
    .error_o(error),
    .print_o,
    .stream_o,
    .char_o,
    .exit_o,
    .status_o
  );

endmodule
