// SPDX-License-Identifier: Apache-2.0
// A core's data cache, between its loads and stores and the memory bus: direct-mapped, lines of four words, write-through.
//
// A read that hits is answered in its first cycle; one that misses brings its line by a burst. Writes and exchanges go to the bus as they
// are (SSH-m must see every unlock): a write updates the line it hits when it is on the bus, and allocates none; an exchange bypasses the
// cache and drops the line. So does every store or exchange of another master that the bus shows (`snoop_i`); a hit in that very cycle
// still reads the old word, as a read on the bus before it would. The core's accesses come in program order (lsu.sv), so all cores see one
// order of stores: sequential consistency stays. Bursts of context engines are not seen: nobody caches what they write.

module dcache
  import okosu_pkg::*;
#(
  parameter int unsigned Bytes = 1024
) (
  input  logic       clk_i,
  input  logic       rst_ni,

  input  logic       core_valid_i,
  input  mem_req_t   core_req_i,
  output logic       core_ready_o,
  output mem_rsp_t   core_rsp_o,

  output logic       bus_valid_o,
  output mem_req_t   bus_req_o,
  input  logic       bus_ready_i,
  input  mem_rsp_t   bus_rsp_i,
  input  mem_snoop_t snoop_i
);

  localparam int unsigned LineWords = 4;
  localparam int unsigned Lines = Bytes / (4 * LineWords);
  localparam int unsigned IndexWidth = $clog2(Lines);
  localparam int unsigned TagWidth = 28 - IndexWidth;

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [TagWidth-1:0] tag_t;

  logic [Lines-1:0] valid_q;
  tag_t             tag_q[Lines];
  logic [31:0]      data_q[Lines*LineWords];

  index_t index, snoop_index;
  tag_t   tag, snoop_tag;
  assign index       = core_req_i.addr[4+:IndexWidth];
  assign tag         = core_req_i.addr[31-:TagWidth];
  assign snoop_index = snoop_i.addr[4+:IndexWidth];
  assign snoop_tag   = snoop_i.addr[31-:TagWidth];

  logic       hit, is_read, own_write, filled;
  logic [1:0] beat_q, word;
  logic [31:0] wanted_q;
  assign word      = core_req_i.addr[3:2];
  assign hit       = valid_q[index] && tag_q[index] == tag;
  assign is_read   = core_req_i.kind == MemRead;
  assign own_write = core_valid_i && core_req_i.kind == MemWrite && bus_ready_i;
  assign filled    = core_valid_i && is_read && !hit && bus_rsp_i.valid;

  assign bus_valid_o = core_valid_i && !(is_read && hit);
  always_comb begin
    bus_req_o = core_req_i;
    if (is_read) begin
      bus_req_o.kind = MemBurst;
      bus_req_o.we   = 1'b0;
      bus_req_o.addr = {core_req_i.addr[31:4], 4'd0};
      bus_req_o.len  = 6'(LineWords);
    end
  end

  // A miss is answered with the line's last word.
  always_comb begin
    core_ready_o = bus_ready_i;
    core_rsp_o   = bus_rsp_i;
    if (is_read) begin
      core_ready_o     = core_valid_i && (hit || bus_ready_i);
      core_rsp_o.valid = core_ready_o;
      core_rsp_o.last  = core_ready_o;
      core_rsp_o.rdata = hit ? data_q[{index, word}] : beat_q == word ? bus_rsp_i.rdata : wanted_q;
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      beat_q  <= '0;
    end else begin
      if (filled) beat_q <= beat_q + 2'd1;
      if (filled && bus_ready_i) valid_q[index] <= 1'b1;
      if (snoop_i.valid && snoop_i.is_store && !own_write && valid_q[snoop_index] && tag_q[snoop_index] == snoop_tag) begin
        valid_q[snoop_index] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (filled) begin
      data_q[{index, beat_q}] <= bus_rsp_i.rdata;
      if (beat_q == word) wanted_q <= bus_rsp_i.rdata;
      if (bus_ready_i) tag_q[index] <= tag;
    end
    // The bytes are those that the bus shows: whether a conditional store has any may be decided in the last moment (lsu.sv).
    if (own_write && hit) begin
      for (int unsigned b = 0; b < 4; b++) begin
        if (snoop_i.be[b]) data_q[{index, word}][8*b+:8] <= core_req_i.wdata[8*b+:8];
      end
    end
  end

  logic unused_snoop;
  assign unused_snoop = ^{snoop_i.data, snoop_i.addr[3:0]};

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      DcacheLinesComeWhole : assert (!(filled && bus_ready_i) || beat_q == '1);
      DcacheFillsWhileNobodyStores : assert (!(filled && snoop_i.valid && snoop_i.is_store && beat_q != '0));
    end
  end
`endif

endmodule
