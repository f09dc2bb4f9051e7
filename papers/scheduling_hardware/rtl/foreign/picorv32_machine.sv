// SPDX-License-Identifier: Apache-2.0
// A machine of PicoRV32 cores: as many picorv32_pe.sv as there are, SSH-m, both buses and the shared memory of machine.sv.

module picorv32_machine
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 2,
  parameter int unsigned Threads   = 16,
  parameter int unsigned Watches   = 8,
  parameter int unsigned ImemWords = 4096,
  parameter int unsigned DmemWords = 32768
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  output logic              print_o,
  output logic [7:0]        char_o,
  output logic              exit_o,
  output logic [31:0]       status_o,
  output logic [NumPes-1:0] trap_o
);

  localparam int unsigned NumPorts = NumPes + 1;
  localparam int unsigned PoolSize = 2;

  logic       [NumPes-1:0]   pe_valid, pe_more, pe_ready;
  sched_msg_t [NumPes-1:0]   pe_msg;
  logic                      m_valid, m_more, m_ready, m_room, sched_valid, from_master;
  sched_msg_t                m_msg, sched_msg;
  logic       [NumPorts-1:0] mem_valid, mem_ready;
  mem_req_t   [NumPorts-1:0] mem_req;
  mem_rsp_t   [NumPorts-1:0] mem_rsp;
  mem_snoop_t                snoop;
  logic                      re, we, error;
  logic [31:0]               addr, wdata, rdata;
  logic [3:0]                be;
  logic [63:0]               cycle_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) cycle_q <= '0;
    else cycle_q <= cycle_q + 64'd1;
  end

  for (genvar p = 0; p < NumPes; p++) begin : gen_pe
    picorv32_pe #(
      .NumPes   (NumPes),
      .Threads  (Threads),
      .Watches  (Watches),
      .PoolSize (PoolSize),
      .ImemWords(ImemWords),
      .DmemWords(DmemWords)
    ) u_pe (
      .clk_i,
      .rst_ni,
      .pe_i         (pe_t'(p)),
      .cycle_i      (cycle_q),
      .mem_valid_o  (mem_valid[p]),
      .mem_req_o    (mem_req[p]),
      .mem_ready_i  (mem_ready[p]),
      .mem_rsp_i    (mem_rsp[p]),
      .bus_valid_o  (pe_valid[p]),
      .bus_more_o   (pe_more[p]),
      .bus_msg_o    (pe_msg[p]),
      .bus_ready_i  (pe_ready[p]),
      .heard_valid_i(sched_valid && from_master),
      .heard_i      (sched_msg),
      .trap_o       (trap_o[p])
    );
  end

  ssh_m #(
    .NumPes  (NumPes),
    .Threads (Threads),
    .Watches (Watches),
    .PoolSize(PoolSize),
    .CtxMode (CtxSoft)
  ) u_ssh_m (
    .clk_i,
    .rst_ni,
    .cycle_i    (cycle_q[43:0]),
    .bus_valid_i(sched_valid && !from_master),
    .bus_msg_i  (sched_msg),
    .bus_room_o (m_room),
    .bus_valid_o(m_valid),
    .bus_more_o (m_more),
    .bus_msg_o  (m_msg),
    .bus_ready_i(m_ready),
    .mem_valid_o(mem_valid[NumPes]),
    .mem_req_o  (mem_req[NumPes]),
    .mem_ready_i(mem_ready[NumPes]),
    .mem_rsp_i  (mem_rsp[NumPes]),
    .snoop_i    (snoop)
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
    .valid_o       (sched_valid),
    .from_master_o (from_master),
    .msg_o         (sched_msg)
  );

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
    .snoop_o    (snoop),
    .master_o   (),
    .active_o   (),
    .ad_o       ()
  );

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
    .stream_o(),
    .char_o,
    .exit_o,
    .status_o
  );

endmodule
