// SPDX-License-Identifier: Apache-2.0
// The scheduler bus: one 64-bit message a cycle, seen by everybody.
//
// A sender raises valid with its message and holds both until `ready`, which is the cycle in which the message is on the bus
// (`valid_o`, `msg_o`). SSH-m goes first, then the PEs in turn. `more` keeps the bus for the same sender's next message, so that
// the messages of a group are not parted. A PE may begin only while SSH-m can take a whole group (`master_room_i`); a PE can always take
// what is meant for it, for SSH-m sends nothing that was not asked for or that it holds no credit for.

module sched_bus
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes = 2
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic                    master_valid_i,
  input  logic                    master_more_i,
  input  sched_msg_t              master_msg_i,
  output logic                    master_ready_o,
  input  logic                    master_room_i,

  input  logic       [NumPes-1:0] pe_valid_i,
  input  logic       [NumPes-1:0] pe_more_i,
  input  sched_msg_t [NumPes-1:0] pe_msg_i,
  output logic       [NumPes-1:0] pe_ready_o,

  output logic                    valid_o,
  output logic                    from_master_o,
  output sched_msg_t              msg_o
);

  localparam int unsigned IndexWidth = NumPes > 1 ? $clog2(NumPes) : 1;

  logic                  locked_q, locked_master_q;
  logic [NumPes-1:0]     locked_pe_q;
  logic [NumPes-1:0]     asking, granted;
  logic [IndexWidth-1:0] index;
  logic                  any;

  always_comb begin
    asking = master_room_i ? pe_valid_i : '0;
    if (locked_q) asking = locked_master_q ? '0 : pe_valid_i & locked_pe_q;
  end

  rr_arbiter #(
    .NumReqs(NumPes)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i    (asking),
    .advance_i(!from_master_o && valid_o),
    .gnt_o    (granted),
    .index_o  (index),
    .any_o    (any)
  );

  assign from_master_o  = master_valid_i && (!locked_q || locked_master_q);
  assign valid_o        = from_master_o || any;
  assign msg_o          = from_master_o ? master_msg_i : pe_msg_i[index];
  assign master_ready_o = from_master_o;
  assign pe_ready_o     = from_master_o ? '0 : granted;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      locked_q        <= 1'b0;
      locked_master_q <= 1'b0;
      locked_pe_q     <= '0;
    end else if (valid_o) begin
      locked_q        <= from_master_o ? master_more_i : pe_more_i[index];
      locked_master_q <= from_master_o;
      locked_pe_q     <= granted;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      SchedBusCarriesOneMessage : assert ($onehot0({master_ready_o, pe_ready_o}));
      SchedBusKeepsPairsTogether :
      assert (!locked_q || !valid_o || (locked_master_q ? master_ready_o : (pe_ready_o & ~locked_pe_q) == '0));
    end
  end
`endif

endmodule
