// SPDX-License-Identifier: Apache-2.0
// PEs, SSH-m and the scheduler bus: the machine without its memory bus and memory, which machine.sv and wishbone_machine.sv put beside it.
//
// Port p of the memory bus is PE p's, port NumPes SSH-m's; their protocol is that of mem_bus.sv, and so is that of `snoop_i`, which has to
// show every single access once, in the order in which memory has them.

module cluster
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 8,
  parameter int unsigned Threads   = 256,
  parameter int unsigned Watches   = 16,
  parameter int unsigned Context   = 3,
  parameter int unsigned Banks     = 4,
  parameter int unsigned Contexts  = 16,
  parameter int unsigned ImemWords = 65536,
  parameter int unsigned DmemWords = 1048576,
  parameter int unsigned DcacheBytes = 0,
  parameter int unsigned Isa       = 0,
  // Whether memory is reached by wide_bus.sv.
  parameter bit          WideBus   = 1'b0,
  // The memory bus may answer a request in its first cycle.
  parameter bit          Prompt    = 1'b0,
  // SSH-m takes three cycles for an action instead of one.
  parameter int unsigned Staged    = 0,
  parameter int unsigned Sections  = 6
) (
  input  logic                                  clk_i,
  input  logic                                  rst_ni,
  output logic [63:0]                           cycle_o,

  output logic     [NumPes:0]                   mem_valid_o,
  output mem_req_t [NumPes:0]                   mem_req_o,
  input  logic     [NumPes:0]                   mem_ready_i,
  input  mem_rsp_t [NumPes:0]                   mem_rsp_i,
  input  mem_snoop_t                            snoop_i,

  input  logic [Sections-1:1][31:0]             section_start_i,
  input  logic [Sections-1:1][31:0]             section_end_i,
  output retire_t [NumPes-1:0]                  retire_o,
  output logic [NumPes-1:0]                     parked_o,
  output logic [NumPes-1:0]                     running_o,
  output tid_t [NumPes-1:0]                     tid_o,
  output logic                                  sched_valid_o,
  output logic                                  sched_from_master_o,
  output sched_msg_t                            sched_msg_o
);

  localparam ctx_mode_e CtxMode = ctx_mode_e'(Context);
  // Ids that wait in a PE's pool are lost to the other PEs, so pools are small where there are few ids.
  localparam int unsigned PoolSize = Threads >= 16 * NumPes ? 4 : Threads >= 4 * NumPes ? 2 : 1;

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
      .WideBus  (WideBus),
      .Prompt   (Prompt),
      .ImemWords(ImemWords),
      .DmemWords(DmemWords),
      .DcacheBytes(DcacheBytes),
      .Sections (Sections)
    ) u_pe (
      .clk_i,
      .rst_ni,
      .pe_i         (pe_t'(p)),
      .cycle_i      (cycle_q),
      .mem_valid_o  (mem_valid_o[p]),
      .mem_req_o    (mem_req_o[p]),
      .mem_ready_i  (mem_ready_i[p]),
      .mem_rsp_i    (mem_rsp_i[p]),
      .snoop_i      (snoop_i),
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
    .CtxMode (CtxMode),
    .Staged  (Staged == 1)
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
    .mem_valid_o(mem_valid_o[NumPes]),
    .mem_req_o  (mem_req_o[NumPes]),
    .mem_ready_i(mem_ready_i[NumPes]),
    .mem_rsp_i  (mem_rsp_i[NumPes]),
    .snoop_i    (snoop_i)
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

endmodule
