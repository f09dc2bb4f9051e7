// SPDX-License-Identifier: Apache-2.0
// The memory bus of machines whose memory is behind Wishbone B4, pipelined mode: one master port for all PEs and SSH-m.
//
// Its ports to the PEs, and what a master may rely on, are those of mem_bus.sv; it takes as long as the slave does. One transaction is under
// way at a time: each of its words is strobed as soon as the slave does not stall, and it ends with the last answer. A read or write is one
// strobe, a burst of n words n, an exchange a read and the write behind it, in one cycle of the bus (`wb_cyc_o`), so that whoever arbitrates
// outside may not part them; slaves answer in order. `wb_cyc_o` stays high until all is answered, and may stay high into the next transaction.
// An answer may come in the cycle of its strobe. Hence a slave of classic cycles is joined by wb_stall_i = wb_cyc_o && !wb_ack_i && !wb_err_i.
//
// `wb_err_i`, in place of an acknowledge, is reported with a read's or exchange's data; a write's is dropped. Masters are arbitrated
// round-robin, on an idle bus as in mem_bus.sv. A request is served after at most NumPorts - 1 transactions of others that it sees end
// (proved in formal/wishbone_bus.sby).

module wishbone_bus
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

  output logic                     wb_cyc_o,
  output logic                     wb_stb_o,
  output logic                     wb_we_o,
  output logic     [31:2]          wb_adr_o,
  output logic     [31:0]          wb_dat_o,
  output logic     [3:0]           wb_sel_o,
  input  logic     [31:0]          wb_dat_i,
  input  logic                     wb_ack_i,
  input  logic                     wb_err_i,
  input  logic                     wb_stall_i,

  output mem_snoop_t               snoop_o,
  output logic     [PortWidth-1:0] master_o,
  output logic                     active_o
);

  logic     [PortWidth-1:0] owner_q, owner_d, next_owner;
  logic     [NumPorts-1:0]  others, unused_gnt;
  mem_req_t                 req;
  logic                     active, any_other, strobed, answered, last;
  // Words that were strobed, and those that were answered.
  logic     [5:0]           strobed_q, answered_q, words;
  // What an exchange read.
  logic     [31:0]          rdata_q, rdata;
  logic                     error_q, error, data_now;

  assign req    = req_i[owner_q];
  assign active = valid_i[owner_q];
  always_comb begin
    unique case (req.kind)
      MemBurst:    words = req.len;
      MemExchange: words = 6'd2;
      default:     words = 6'd1;
    endcase
  end

  assign others  = valid_i & ~(NumPorts'(1) << owner_q);
  assign owner_d = (last || !active) && any_other ? next_owner : owner_q;
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

  // Words on their way out.

  always_comb begin
    unique case (req.kind)
      MemRead:     wb_we_o = 1'b0;
      MemWrite:    wb_we_o = 1'b1;
      MemExchange: wb_we_o = strobed_q != '0;
      default:     wb_we_o = req.we;
    endcase
  end
  assign wb_cyc_o = active;
  assign wb_stb_o = active && strobed_q != words;
  assign wb_adr_o = req.addr[31:2] + (req.kind == MemBurst ? 30'(strobed_q) : '0);
  assign wb_dat_o = req.wdata;
  assign wb_sel_o = req.kind == MemRead || (req.kind == MemBurst && !req.we) ? '1 : req.be;
  assign strobed  = wb_stb_o && !wb_stall_i;

  // Answers.

  assign answered = active && (wb_ack_i || wb_err_i);
  assign last     = answered && answered_q + 6'd1 == words;
  assign rdata    = req.kind == MemExchange ? rdata_q : wb_dat_i;
  assign error    = req.kind == MemExchange ? error_q : wb_err_i && !wb_we_o;
  assign data_now = req.kind != MemBurst ? last : req.we ? strobed : answered;

  always_comb begin
    ready_o = '0;
    rsp_o   = '0;
    ready_o[owner_q] = last;
    rsp_o[owner_q]   = '{valid: data_now, last: last, error: error, rdata: rdata};
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

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      owner_q    <= '0;
      strobed_q  <= '0;
      answered_q <= '0;
    end else begin
      owner_q <= owner_d;
      if (last) begin
        strobed_q  <= '0;
        answered_q <= '0;
      end else begin
        strobed_q  <= strobed_q + 6'(strobed);
        answered_q <= answered_q + 6'(answered);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (answered && answered_q == '0) begin
      rdata_q <= wb_dat_i;
      error_q <= wb_err_i;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      WishboneBusServesOneAtATime : assert ($onehot0(ready_o));
      WishboneBusIsAnsweredWhatItAsked : assert (!(wb_ack_i || wb_err_i) || answered_q < strobed_q + 6'(strobed));
      WishboneBusHasOneAnswerAtATime : assert (!(wb_ack_i && wb_err_i));
    end
  end
`endif

endmodule
