// SPDX-License-Identifier: Apache-2.0
// The memory bus of machines with `Pipelined`: address, data to memory and data from memory on wires of their own, a new access each cycle.
// Its ports, and what a master may rely on, are those of mem_bus.sv; its timing is another:
//
//   phase        0      1
//   read         A      D           an access of another master may have its phase 0 in this one's phase 1
//   write        A, D
//   exchange     A, D   D           the memory hands out the old word in the cycle in which it takes the new one: indivisible
//   burst of n   A      D0 ... D(n-1), and for reads one more; nobody else meanwhile
//
// Each is answered, and shown by the snoop port, in its last phase, a write in phase 1 too. Masters are arbitrated round-robin in each cycle
// without a burst; one that was heard waits for its answer. Hence a request is served within 2 + (NumPorts - 1) * L cycles, L those of the
// longest burst, or 1 where there is none.

module wide_bus
  import okosu_pkg::*;
#(
  parameter int unsigned NumPorts = 2,
  // Derived from the parameters above; not to be set.
  parameter int unsigned PortWidth = NumPorts > 1 ? $clog2(NumPorts) : 1
) (
  input  logic                     clk_i,
  input  logic                     rst_ni,

  input  logic     [NumPorts-1:0]  valid_i,
  input  mem_req_t [NumPorts-1:0]  req_i,
  output logic     [NumPorts-1:0]  ready_o,
  output mem_rsp_t [NumPorts-1:0]  rsp_o,

  output logic                     mem_re_o,
  output logic                     mem_we_o,
  output logic     [31:0]          mem_addr_o,
  output logic     [31:0]          mem_wdata_o,
  output logic     [3:0]           mem_be_o,
  input  logic     [31:0]          mem_rdata_i,
  input  logic                     mem_error_i,

  output mem_snoop_t               snoop_o,
  output logic     [PortWidth-1:0] master_o,
  output logic                     active_o
);

  // The access in phase 1: a single one, or a word of a burst.
  logic                 answer_q, burst_q;
  logic [PortWidth-1:0] master_q;
  mem_req_t             req_q;
  logic [5:0]           beat_q;

  // Phase 0.

  logic [NumPorts-1:0]  asking, unused_gnt;
  logic [PortWidth-1:0] index;
  logic                 any, begins;
  mem_req_t             req;

  assign asking = burst_q ? '0 : valid_i & ~(answer_q ? NumPorts'(1) << master_q : '0);
  rr_arbiter #(
    .NumReqs(NumPorts)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (asking),
    .advance_i(any),
    .gnt_o    (unused_gnt),
    .index_o  (index),
    .any_o    (any)
  );
  assign req    = req_i[index];
  assign begins = any && req.kind == MemBurst;

  // A burst: word beat_q is asked for or written; a word that was read is here a cycle later.

  logic [31:0] burst_wdata;
  logic        moves, burst_ends;
  assign burst_wdata = req_i[master_q].wdata;
  assign moves       = burst_q && beat_q != req_q.len;
  assign burst_ends  = burst_q && beat_q == (req_q.we ? req_q.len - 6'd1 : req_q.len);

  assign mem_re_o    = burst_q ? moves && !req_q.we : any && !begins && req.kind != MemWrite;
  assign mem_we_o    = burst_q ? moves && req_q.we : any && !begins && req.kind != MemRead;
  assign mem_addr_o  = burst_q ? req_q.addr + {24'd0, beat_q, 2'b00} : req.addr;
  assign mem_wdata_o = burst_q ? burst_wdata : req.wdata;
  assign mem_be_o    = burst_q ? req_q.be : req.be;

  // Phase 1.

  logic data_now;
  assign data_now = answer_q || (burst_q && (req_q.we || beat_q != '0));
  always_comb begin
    ready_o           = '0;
    rsp_o             = '0;
    ready_o[master_q] = answer_q || burst_ends;
    rsp_o[master_q]   = '{
      valid: data_now,
      last: answer_q || burst_ends,
      error: mem_error_i && data_now && req_q.kind != MemWrite && !req_q.we,
      rdata: mem_rdata_i
    };
  end
  assign snoop_o = '{
    valid: answer_q,
    is_store: req_q.kind != MemRead,
    addr: req_q.addr,
    data: req_q.kind == MemRead ? mem_rdata_i : req_q.wdata,
    be: req_q.be
  };
  assign master_o = master_q;
  assign active_o = |valid_i;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      answer_q <= 1'b0;
      burst_q  <= 1'b0;
      master_q <= '0;
      beat_q   <= '0;
    end else begin
      answer_q <= any && !begins;
      if (any) master_q <= index;
      if (begins) burst_q <= 1'b1;
      else if (burst_ends) burst_q <= 1'b0;
      beat_q <= burst_q && !burst_ends ? beat_q + 6'd1 : '0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (any) req_q <= req;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WideBusAnswersOneAtATime : assert ($onehot0(ready_o));
      WideBusAnswersOnlyWhoAsks : assert ((ready_o & ~valid_i) == '0);
      WideBusMovesNothingBetweenBurstAndAnswer : assert (!(answer_q && burst_q));
    end
  end
`endif

endmodule
