// SPDX-License-Identifier: Apache-2.0
// A processing element: core, private instruction memory, SSH-s, counters, and one port of the memory bus that the core and SSH-s's
// context engine share. The core goes first; a transaction that began is not interrupted.

module pe
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 8,
  parameter int unsigned Threads   = 256,
  parameter int unsigned Watches   = 16,
  parameter int unsigned PoolSize  = 4,
  parameter ctx_mode_e   CtxMode   = CtxBanked,
  parameter int unsigned Banks     = 4,
  parameter int unsigned Contexts  = 16,
  parameter int unsigned ImemWords = 65536,
  parameter int unsigned DmemWords = 1048576,
  // Bytes of the data cache; 0: there is none.
  parameter int unsigned DcacheBytes = 0,
  parameter bit          Rv32      = 1'b0,
  parameter bit          WideBus   = 1'b0,
  // The memory bus may answer a request in its first cycle.
  parameter bit          Prompt    = 1'b0,
  parameter int unsigned Sections  = 6
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  pe_t                       pe_i,
  input  logic [63:0]               cycle_i,

  output logic                      mem_valid_o,
  output mem_req_t                  mem_req_o,
  input  logic                      mem_ready_i,
  input  mem_rsp_t                  mem_rsp_i,
  input  mem_snoop_t                snoop_i,

  output logic                      bus_valid_o,
  output logic                      bus_more_o,
  output sched_msg_t                bus_msg_o,
  input  logic                      bus_ready_i,
  input  logic                      heard_valid_i,
  input  sched_msg_t                heard_i,

  input  logic [Sections-1:1][31:0] section_start_i,
  input  logic [Sections-1:1][31:0] section_end_i,
  output retire_t                   retire_o,
  output logic                      parked_o,
  output logic                      running_o,
  output tid_t                      tid_o
);

  localparam int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1;

  logic [31:0]          imem_addr, imem_rdata, port_wdata, port_rdata, stack_top, at_pc;
  logic [4:0]           stack_log2;
  logic                 lsu_valid, lsu_ready, core_valid, core_ready, engine_valid, engine_ready, cop2_valid, cop2_room;
  logic                 irq, preempt, preempted, run, parked, switching, port_we, guard_on, waits_memory, waits_sched;
  mem_req_t             lsu_req, core_req, engine_req;
  mem_rsp_t             lsu_rsp, core_rsp, engine_rsp;
  cop2_req_t            cop2_req;
  cop2_rsp_t            cop2_rsp;
  logic [BankWidth-1:0] run_bank, bank, port_bank;
  logic [5:0]           port_index;

  instruction_memory #(
    .Words(ImemWords)
  ) u_imem (
    .clk_i,
    .addr_i (imem_addr),
    .rdata_o(imem_rdata)
  );

  core #(
    .ImemWords(ImemWords),
    .DmemWords(DmemWords),
    .Threads  (Threads),
    .Banks    (Banks),
    .Rv32     (Rv32),
    .WideBus  (WideBus)
  ) u_core (
    .clk_i,
    .rst_ni,
    .imem_addr_o   (imem_addr),
    .imem_rdata_i  (imem_rdata),
    .bus_valid_o   (lsu_valid),
    .bus_req_o     (lsu_req),
    .bus_ready_i   (lsu_ready),
    .bus_rsp_i     (lsu_rsp),
    .snoop_i,
    .cop2_valid_o  (cop2_valid),
    .cop2_req_o    (cop2_req),
    .cop2_rsp_i    (cop2_rsp),
    .cop2_room_i   (cop2_room),
    .irq_i         (irq),
    .preempt_i     (preempt),
    .preempted_o   (preempted),
    .run_i         (run),
    .run_bank_i    (run_bank),
    .parked_o      (parked),
    .bank_o        (bank),
    .port_bank_i   (port_bank),
    .port_index_i  (port_index),
    .port_we_i     (port_we),
    .port_wdata_i  (port_wdata),
    .port_rdata_o  (port_rdata),
    .guard_on_i    (guard_on),
    .stack_top_i   (stack_top),
    .stack_log2_i  (stack_log2),
    .pe_i,
    .tid_i         (tid_o),
    .retire_o,
    .at_pc_o       (at_pc),
    .waits_memory_o(waits_memory),
    .waits_sched_o (waits_sched)
  );
  assign parked_o = parked;

  ssh_s #(
    .NumPes  (NumPes),
    .Threads (Threads),
    .Watches (Watches),
    .PoolSize(PoolSize),
    .CtxMode (CtxMode),
    .Banks   (Banks),
    .Contexts(Contexts),
    .Rv32    (Rv32)
  ) u_ssh_s (
    .clk_i,
    .rst_ni,
    .pe_i,
    .cycle_i,
    .cop2_valid_i (cop2_valid),
    .cop2_req_i   (cop2_req),
    .cop2_rsp_o   (cop2_rsp),
    .cop2_room_o  (cop2_room),
    .irq_o        (irq),
    .preempt_o    (preempt),
    .preempted_i  (preempted),
    .run_o        (run),
    .run_bank_o   (run_bank),
    .parked_i     (parked),
    .bank_i       (bank),
    .port_bank_o  (port_bank),
    .port_index_o (port_index),
    .port_we_o    (port_we),
    .port_wdata_o (port_wdata),
    .port_rdata_i (port_rdata),
    .guard_on_o   (guard_on),
    .stack_top_o  (stack_top),
    .stack_log2_o (stack_log2),
    .mem_valid_o  (engine_valid),
    .mem_req_o    (engine_req),
    .mem_ready_i  (engine_ready),
    .mem_rsp_i    (engine_rsp),
    .bus_valid_o,
    .bus_more_o,
    .bus_msg_o,
    .bus_ready_i,
    .heard_valid_i,
    .heard_i,
    .running_o,
    .switching_o  (switching),
    .tid_o
  );

  if (DcacheBytes > 0) begin : gen_dcache
    dcache #(
      .Bytes(DcacheBytes)
    ) u_dcache (
      .clk_i,
      .rst_ni,
      .core_valid_i(lsu_valid),
      .core_req_i  (lsu_req),
      .core_ready_o(lsu_ready),
      .core_rsp_o  (lsu_rsp),
      .bus_valid_o (core_valid),
      .bus_req_o   (core_req),
      .bus_ready_i (core_ready),
      .bus_rsp_i   (core_rsp),
      .snoop_i
    );
  end else begin : gen_no_dcache
    assign core_valid = lsu_valid;
    assign core_req   = lsu_req;
    assign lsu_ready  = core_ready;
    assign lsu_rsp    = core_rsp;
  end

  // The core and the context engine share one port. Where no request is answered in its first cycle, who is answered has been known for
  // a cycle.

  logic held_q, engine_q, engine_turn, engine_answered;
  assign engine_turn  = held_q ? engine_q : !core_valid;
  assign mem_valid_o  = engine_turn ? engine_valid : core_valid;
  assign mem_req_o    = engine_turn ? engine_req : core_req;
  assign core_ready   = !engine_answered && mem_ready_i;
  assign engine_ready = engine_answered && mem_ready_i;
  // What was read goes to both, for who is not answered does not look at it.
  always_comb begin
    core_rsp         = mem_rsp_i;
    core_rsp.valid   = !engine_answered && mem_rsp_i.valid;
    core_rsp.error   = !engine_answered && mem_rsp_i.error;
    engine_rsp       = mem_rsp_i;
    engine_rsp.valid = engine_answered && mem_rsp_i.valid;
    engine_rsp.error = engine_answered && mem_rsp_i.error;
  end
  assign engine_answered = Prompt ? engine_turn : engine_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q   <= 1'b0;
      engine_q <= 1'b0;
    end else begin
      held_q   <= mem_valid_o && !mem_ready_i;
      engine_q <= engine_turn;
    end
  end

  // A PE waits for a thread parked, or in SOFT mode in NEXT.
  pe_counters #(
    .Sections(Sections)
  ) u_counters (
    .clk_i,
    .rst_ni,
    .switching_i   (switching),
    .idle_i        ((parked && !switching) || (CtxMode == CtxSoft && waits_sched && !running_o)),
    .pc_i          (at_pc),
    .waits_memory_i(waits_memory),
    .waits_sched_i (waits_sched),
    .start_i       (section_start_i),
    .end_i         (section_end_i)
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) PeIsAnsweredInARequestsFirstCycleOnlyWhereItSaysSo : assert (Prompt || held_q || !(mem_ready_i || mem_rsp_i.valid));
  end
`endif

endmodule
