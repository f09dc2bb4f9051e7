// SPDX-License-Identifier: Apache-2.0
// The memory bus: one transaction at a time, 32 bits, address and data multiplexed.
//
// A master raises valid with its request and holds both until `ready`, which comes in the transaction's last cycle. Data pass in
// cycles with `rsp.valid`: for reads and exchanges rdata is the word; in a write burst the master's wdata was taken and the next
// word is to stand there in the next cycle. An error (no such address) is reported with a read's data; a write to
// nowhere is dropped.
//
//   phase        0     1     2     3 ...
//   read         A     T     D
//   write        A     D
//   exchange     A     Dout  Din             indivisible
//   burst read   A     T     D0    D1 ... D(n-1)
//   burst write  A     D0    D1 ...D(n-1) T
//
// The phases on `ad_o` are what 32 wires would carry. Masters are arbitrated round-robin: in the last phase of a transaction among
// the others, so that a busy bus loses no cycle; on an idle bus the last master is parked and begins at once, another one a
// cycle later. Hence with NumPorts masters and transactions of at most L cycles a request is served within
// NumPorts * L + 1 cycles (proved in formal/mem_bus.sby).
//
// Memory answers a cycle after `mem_re_o`; a write takes effect at the end of its cycle.

module mem_bus
  import okosu_pkg::*;
#(
  parameter int unsigned NumPorts = 2,
  // Derived from the parameters above; not to be set.
  parameter int unsigned PortWidth = NumPorts > 1 ? $clog2(NumPorts) : 1
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic     [NumPorts-1:0] valid_i,
  input  mem_req_t [NumPorts-1:0] req_i,
  output logic     [NumPorts-1:0] ready_o,
  output mem_rsp_t [NumPorts-1:0] rsp_o,

  output logic                    mem_re_o,
  output logic                    mem_we_o,
  output logic     [31:0]         mem_addr_o,
  output logic     [31:0]         mem_wdata_o,
  output logic     [3:0]          mem_be_o,
  input  logic     [31:0]         mem_rdata_i,
  input  logic                    mem_error_i,

  output mem_snoop_t              snoop_o,
  output logic     [PortWidth-1:0] master_o,
  output logic                    active_o,
  output logic     [31:0]         ad_o
);

  // The longest burst has 63 words and 65 phases.
  typedef logic [6:0] phase_t;

  logic     [PortWidth-1:0] owner_q, owner_d;
  phase_t                   phase_q, phase_d;
  logic     [31:0]          rdata_q;
  logic                     error_q;

  mem_req_t                 req;
  logic                     active, last;
  phase_t                   last_phase, beat;
  logic                     data_phase;
  logic     [NumPorts-1:0]  others;
  logic     [PortWidth-1:0] next_owner;
  logic                     any_other;

  assign req    = req_i[owner_q];
  assign active = valid_i[owner_q];

  always_comb begin
    unique case (req.kind)
      MemWrite: last_phase = 7'd1;
      MemBurst: last_phase = {1'b0, req.len} + 7'd1;
      default:  last_phase = 7'd2;
    endcase
  end
  assign last    = active && phase_q == last_phase;
  assign phase_d = !active || last ? '0 : phase_q + 7'd1;

  // The next master is chosen during the last phase of the present transaction, or on an idle bus.
  assign others  = valid_i & ~(NumPorts'(1) << owner_q);
  assign owner_d = (last || !active) && any_other ? next_owner : owner_q;

  logic [NumPorts-1:0] unused_gnt;
  rr_arbiter #(
    .NumReqs(NumPorts)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (others),
    .advance_i(last || !active),
    .gnt_o    (unused_gnt),
    .index_o  (next_owner),
    .any_o    (any_other)
  );

  // Which beat of a burst the memory is asked for in this phase: reads are asked for a phase before their word is on the bus.
  assign beat = req.kind != MemBurst || phase_q == '0 ? '0 : phase_q - 7'd1;

  always_comb begin
    mem_re_o    = 1'b0;
    mem_we_o    = 1'b0;
    mem_addr_o  = req.addr + {23'd0, beat, 2'b00};
    mem_wdata_o = req.wdata;
    mem_be_o    = req.be;
    data_phase  = 1'b0;
    if (active) begin
      unique case (req.kind)
        MemRead: begin
          mem_re_o   = phase_q == 7'd0;
          data_phase = phase_q == 7'd2;
        end
        MemWrite: begin
          mem_we_o   = phase_q == 7'd1;
          data_phase = phase_q == 7'd1;
        end
        MemExchange: begin
          mem_re_o   = phase_q == 7'd0;
          mem_we_o   = phase_q == 7'd1;
          data_phase = phase_q == 7'd2;
        end
        default: begin
          mem_re_o   = !req.we && phase_q >= 7'd1 && !last;
          mem_we_o   = req.we && phase_q >= 7'd1 && !last;
          data_phase = req.we ? phase_q >= 7'd1 && !last : phase_q >= 7'd2;
        end
      endcase
    end
  end

  // A single read's word arrives in phase 1 and is on the bus in phase 2; a burst's arrives in the phase in which it is on the bus.
  logic [31:0] rdata;
  logic        error;
  assign rdata = req.kind == MemBurst ? mem_rdata_i : rdata_q;
  assign error = req.kind == MemBurst ? mem_error_i && !req.we : error_q && req.kind != MemWrite;

  always_comb begin
    ready_o = '0;
    rsp_o   = '0;
    ready_o[owner_q] = last;
    rsp_o[owner_q]   = '{valid: data_phase, last: last, error: error, rdata: rdata};
  end

  assign snoop_o = '{
    valid: last && req.kind != MemBurst,
    is_store: req.kind != MemRead,
    addr: req.addr,
    data: req.kind == MemRead ? rdata : req.wdata,
    be: req.be
  };
  assign master_o = owner_q;
  assign active_o = active;
  assign ad_o     = phase_q == '0 ? req.addr : data_phase && !mem_we_o ? rdata : req.wdata;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q <= '0;
      phase_q <= '0;
      rdata_q <= '0;
      error_q <= 1'b0;
    end else begin
      owner_q <= owner_d;
      phase_q <= phase_d;
      if (active && phase_q == 7'd1) begin
        rdata_q <= mem_rdata_i;
        error_q <= mem_error_i;
      end
    end
  end

`ifndef SYNTHESIS
  logic     [NumPorts-1:0] held_q;
  mem_req_t [NumPorts-1:0] req_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      held_q <= '0;
      req_q  <= '0;
    end else begin
      held_q <= valid_i & ~ready_o;
      req_q  <= req_i;
      MemBusServesOneAtATime : assert ($onehot0(ready_o));
      MemBusMastersHoldTheirRequest : assert ((held_q & ~valid_i) == '0);
      for (int unsigned p = 0; p < NumPorts; p++) begin
        MemBusRequestsStandStill :
        assert (!held_q[p] || (req_q[p].kind == req_i[p].kind && req_q[p].addr == req_i[p].addr &&
                               req_q[p].len == req_i[p].len));
      end
    end
  end
`endif

endmodule
