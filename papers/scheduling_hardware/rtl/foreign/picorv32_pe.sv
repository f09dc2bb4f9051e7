// SPDX-License-Identifier: Apache-2.0
// A processing element of a core that is not ours: PicoRV32 (which is not in this repository), its instruction memory, SSH-s in mode SOFT
// behind PCPI (pcpi_ssh.sv), and a port of the memory bus. Towards the buses it is what pe.sv is.
//
// The core's own port of memory holds an access until `mem_ready`: fetches go to the instruction memory, which answers in the next cycle,
// loads and stores to the bus. There is nothing for an access that is neither, and PicoRV32 has no way to be told so: it waits for ever,
// which an assertion names. SSH-s's interrupt is not connected, so that threads are not preempted: programs leave the quantum 0 and the
// policy one that does not preempt. `trap_o`: the core has stopped at an instruction that nobody has, or an access that is not aligned.

module picorv32_pe
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes    = 2,
  parameter int unsigned Threads   = 16,
  parameter int unsigned Watches   = 8,
  parameter int unsigned PoolSize  = 2,
  parameter int unsigned ImemWords = 4096,
  parameter int unsigned DmemWords = 32768
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  pe_t         pe_i,
  input  logic [63:0] cycle_i,

  output logic        mem_valid_o,
  output mem_req_t    mem_req_o,
  input  logic        mem_ready_i,
  input  mem_rsp_t    mem_rsp_i,

  output logic        bus_valid_o,
  output logic        bus_more_o,
  output sched_msg_t  bus_msg_o,
  input  logic        bus_ready_i,
  input  logic        heard_valid_i,
  input  sched_msg_t  heard_i,

  output logic        trap_o
);

  localparam logic [31:0] TextBase = 32'h8000_0000;
  localparam logic [31:0] DataBase = 32'h9000_0000;
  localparam logic [31:0] DeviceBase = 32'hbf00_0000;

  logic        valid, is_fetch, ready, in_text, in_data, fetched_q, pcpi_valid, pcpi_wr, pcpi_wait, pcpi_ready;
  logic        cop2_valid, engine_valid, run;
  logic [31:0] addr, wdata, rdata, text, pcpi_insn, pcpi_rs1, pcpi_rd;
  logic [3:0]  wstrb;
  cop2_req_t   cop2_req;
  cop2_rsp_t   cop2_rsp;

  picorv32 #(
    .ENABLE_PCPI   (1'b1),
    .ENABLE_MUL    (1'b1),
    .ENABLE_DIV    (1'b1),
    .PROGADDR_RESET(TextBase)
  ) u_core (
    .clk         (clk_i),
    .resetn      (rst_ni),
    .trap        (trap_o),
    .mem_valid   (valid),
    .mem_instr   (is_fetch),
    .mem_ready   (ready),
    .mem_addr    (addr),
    .mem_wdata   (wdata),
    .mem_wstrb   (wstrb),
    .mem_rdata   (rdata),
    .mem_la_read (),
    .mem_la_write(),
    .mem_la_addr (),
    .mem_la_wdata(),
    .mem_la_wstrb(),
    .pcpi_valid,
    .pcpi_insn,
    .pcpi_rs1,
    .pcpi_rs2    (),
    .pcpi_wr,
    .pcpi_rd,
    .pcpi_wait,
    .pcpi_ready,
    .irq         ('0),
    .eoi         (),
    .trace_valid (),
    .trace_data  ()
  );

  // Memory.

  assign in_text = is_fetch && addr - TextBase < 32'(ImemWords) * 32'd4;
  assign in_data = !is_fetch && (addr - DataBase < 32'(DmemWords) * 32'd4 || (wstrb != '0 && addr - DeviceBase < 32'd8));
  instruction_memory #(
    .Words(ImemWords)
  ) u_imem (
    .clk_i,
    .addr_i (addr),
    .rdata_o(text)
  );
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fetched_q <= 1'b0;
    else fetched_q <= valid && in_text && !fetched_q;
  end

  assign mem_valid_o = valid && in_data;
  assign mem_req_o   = '{
    kind: wstrb == '0 ? MemRead : MemWrite,
    we: wstrb != '0,
    addr: {addr[31:2], 2'b00},
    wdata: wdata,
    be: wstrb == '0 ? 4'b1111 : wstrb,
    len: 6'd0
  };
  assign ready = fetched_q || (mem_valid_o && mem_ready_i);
  assign rdata = fetched_q ? text : mem_rsp_i.rdata;

  // SSH-s. In mode SOFT the thread's registers are the program's to move: nobody parks, and the context engine has nothing to do.

  pcpi_ssh u_pcpi_ssh (
    .pcpi_valid_i(pcpi_valid),
    .pcpi_insn_i (pcpi_insn),
    .pcpi_rs1_i  (pcpi_rs1),
    .pcpi_wr_o   (pcpi_wr),
    .pcpi_rd_o   (pcpi_rd),
    .pcpi_wait_o (pcpi_wait),
    .pcpi_ready_o(pcpi_ready),
    .cop2_valid_o(cop2_valid),
    .cop2_req_o  (cop2_req),
    .cop2_rsp_i  (cop2_rsp)
  );

  ssh_s #(
    .NumPes  (NumPes),
    .Threads (Threads),
    .Watches (Watches),
    .PoolSize(PoolSize),
    .CtxMode (CtxSoft),
    .Banks   (1),
    .Rv32    (1'b1)
  ) u_ssh_s (
    .clk_i,
    .rst_ni,
    .pe_i,
    .cycle_i,
    .cop2_valid_i (cop2_valid),
    .cop2_req_i   (cop2_req),
    .cop2_rsp_o   (cop2_rsp),
    .cop2_room_o  (),
    .irq_o        (),
    .preempt_o    (),
    .preempted_i  (1'b0),
    .run_o        (run),
    .run_bank_o   (),
    .parked_i     (1'b0),
    .bank_i       (1'b0),
    .port_bank_o  (),
    .port_index_o (),
    .port_we_o    (),
    .port_wdata_o (),
    .port_rdata_i ('0),
    .guard_on_o   (),
    .stack_top_o  (),
    .stack_log2_o (),
    .mem_valid_o  (engine_valid),
    .mem_req_o    (),
    .mem_ready_i  (1'b0),
    .mem_rsp_i    ('0),
    .bus_valid_o,
    .bus_more_o,
    .bus_msg_o,
    .bus_ready_i,
    .heard_valid_i,
    .heard_i,
    .running_o    (),
    .switching_o  (),
    .tid_o        ()
  );

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ForeignCoreShowsACoprocessorsInstructionACycleBefore : assert (!pcpi_valid || $past(pcpi_insn) == pcpi_insn);
      ForeignCoreAccessesWhatIsThere : assert (!valid || in_text || in_data);
      ForeignCoreIsNeverAskedToPark : assert (!cop2_rsp.park && !run && !engine_valid);
    end
  end
`endif

endmodule
