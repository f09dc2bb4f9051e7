// SPDX-License-Identifier: Apache-2.0
// The whole machine: PEs, SSH-m, both buses, shared memory. doc/INTERFACES.md draws it.

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
  // 1: the wide bus instead of the multiplexed one.
  parameter int unsigned Pipelined = 0,
  // The PEs' instruction set: 0 MIPS I, 1 RV32.
  parameter int unsigned Isa       = 0,
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

  localparam ctx_mode_e CtxMode = ctx_mode_e'(Context);
  localparam int unsigned NumPorts = NumPes + 1;
  localparam int unsigned PortWidth = $clog2(NumPorts);
  // Ids that wait in a PE's pool are lost to the other PEs, so pools are small where there are few ids.
  localparam int unsigned PoolSize = Threads >= 16 * NumPes ? 4 : Threads >= 4 * NumPes ? 2 : 1;

  logic     [NumPorts-1:0] mem_valid, mem_ready;
  mem_req_t [NumPorts-1:0] mem_req;
  mem_rsp_t [NumPorts-1:0] mem_rsp;
  logic                    re, we, error;
  logic [31:0]             addr, wdata, rdata;
  logic [3:0]              be;
  logic [PortWidth-1:0]    master;

  logic       [NumPes-1:0] pe_valid, pe_more, pe_ready;
  sched_msg_t [NumPes-1:0] pe_msg;
  logic                    m_valid, m_more, m_ready, m_room;
  sched_msg_t              m_msg;

  // These are registers because the simulator evaluates at both clock edges whatever depends directly on an input.
  logic [Sections-1:1][31:0] section_start_q, section_end_q;
  always_ff @(posedge clk_i) begin
    section_start_q <= section_start_i;
    section_end_q   <= section_end_i;
  end

  logic [63:0] cycle_q;
  assign cycle_o = cycle_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycle_q <= '0;
    else cycle_q <= cycle_q + 64'd1;
  end

  for (genvar p = 0; p < NumPes; p++) begin : gen_pe
    pe #(
      .NumPes   (NumPes),
      .Threads  (Threads),
      .Watches  (Watches),
      .PoolSize (PoolSize),
      .CtxMode  (CtxMode),
      .Banks    (Banks),
      .Contexts (Contexts),
      .Rv32     (Isa == 1),
      .ImemWords(ImemWords),
      .DmemWords(DmemWords),
      .DcacheBytes(DcacheBytes),
      .Sections (Sections)
    ) u_pe (
      .clk_i,
      .rst_ni,
      .pe_i         (pe_t'(p)),
      .cycle_i      (cycle_q),
      .mem_valid_o  (mem_valid[p]),
      .mem_req_o    (mem_req[p]),
      .mem_ready_i  (mem_ready[p]),
      .mem_rsp_i    (mem_rsp[p]),
      .snoop_i      (snoop_o),
      .bus_valid_o  (pe_valid[p]),
      .bus_more_o   (pe_more[p]),
      .bus_msg_o    (pe_msg[p]),
      .bus_ready_i  (pe_ready[p]),
      .heard_valid_i(sched_valid_o && sched_from_master_o),
      .heard_i      (sched_msg_o),
      .section_start_i(section_start_q),
      .section_end_i  (section_end_q),
      .retire_o     (retire_o[p]),
      .parked_o     (parked_o[p]),
      .running_o    (running_o[p]),
      .tid_o        (tid_o[p])
    );
  end

  ssh_m #(
    .NumPes  (NumPes),
    .Threads (Threads),
    .Watches (Watches),
    .PoolSize(PoolSize),
    .CtxMode (CtxMode)
  ) u_ssh_m (
    .clk_i,
    .rst_ni,
    .cycle_i    (cycle_q[43:0]),
    .bus_valid_i(sched_valid_o && !sched_from_master_o),
    .bus_msg_i  (sched_msg_o),
    .bus_room_o (m_room),
    .bus_valid_o(m_valid),
    .bus_more_o (m_more),
    .bus_msg_o  (m_msg),
    .bus_ready_i(m_ready),
    .mem_valid_o(mem_valid[NumPes]),
    .mem_req_o  (mem_req[NumPes]),
    .mem_ready_i(mem_ready[NumPes]),
    .mem_rsp_i  (mem_rsp[NumPes]),
    .snoop_i    (snoop_o)
  );

  sched_bus #(
    .NumPes(NumPes)
  ) u_sched_bus (
    .clk_i,
    .rst_ni,
    .master_valid_i(m_valid),
    .master_more_i (m_more),
    .master_msg_i  (m_msg),
    .master_ready_o(m_ready),
    .master_room_i (m_room),
    .pe_valid_i    (pe_valid),
    .pe_more_i     (pe_more),
    .pe_msg_i      (pe_msg),
    .pe_ready_o    (pe_ready),
    .valid_o       (sched_valid_o),
    .from_master_o (sched_from_master_o),
    .msg_o         (sched_msg_o)
  );

  if (Pipelined != 0) begin : gen_wide
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
