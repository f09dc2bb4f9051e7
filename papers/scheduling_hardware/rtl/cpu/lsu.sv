// SPDX-License-Identifier: Apache-2.0
// Loads, stores and the exchange: from the M stage to the memory bus.
//
// `valid_i` holds an access until `done_o`. A store is done when the one posted-write buffer takes it; everything else waits until
// that buffer is on the bus, so the bus sees a core's accesses in program order. `fault_o` and `cause_o` say, in the access's first
// cycle and before it has any effect, that the address is none; then nothing is done. `done_o` and `fault_o` are said of `access_i` and do
// not wait for `valid_i`, which comes late: without it they mean nothing. Whether an address is one, and which bytes of a word go where, is
// found out a cycle before, of the access that is in the X stage (`coming_*_i`), as it goes on to M (`comes_i`).
// Bytes are little-endian. lwl and lwr merge with `rt_i`, the destination's old value. `result_o` is 0 where nothing is accessed.
//
// RISC-V's atomic accesses (`Rv32`). A reservation is the address of the word that lr read, or an operation of amo; any store to that
// word on the bus ends it, the core's own too, and so does `drop_i` (the thread stops, or traps). A conditional store is a write whose byte
// enables are all 0 where the reservation has ended: nothing comes between a write's address and its data, so the bus decides. On the wide
// bus (`WideBus`) a store is shown in the cycle behind its access, in which the next access may be this one: it counts, too.
// An operation is a read that reserves and a conditional store, again from the read on where that failed.

module lsu
  import okosu_pkg::*;
  import cpu_pkg::*;
#(
  parameter int unsigned DmemWords = 1024,
  parameter int unsigned Threads   = 256,
  parameter bit          Rv32      = 1'b0,
  parameter bit          WideBus   = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        comes_i,
  input  access_e     coming_access_i,
  input  logic [31:0] coming_addr_i,

  input  logic        valid_i,
  input  access_e     access_i,
  // What AccessAmo does: the instruction's funct5.
  input  logic [4:0]  amo_i,
  input  logic [31:0] addr_i,
  input  logic [31:0] rt_i,
  input  logic [31:0] swap_i,
  output logic        done_o,
  output logic        fault_o,
  output logic [4:0]  cause_o,
  output logic [31:0] result_o,
  output logic        buffered_o,

  // Lowest bytes of each stack slot that nobody may touch; see INTERFACES.md.
  input  logic        guard_on_i,
  input  logic [31:0] stack_top_i,
  input  logic [4:0]  stack_log2_i,

  output logic        bus_valid_o,
  output mem_req_t    bus_req_o,
  input  logic        bus_ready_i,
  input  mem_rsp_t    bus_rsp_i,
  input  mem_snoop_t  snoop_i,
  input  logic        drop_i,

  // What the access did, for the retirement port: whether it reached memory, what was on the bus, and which bytes.
  output logic        trace_o,
  output logic [31:0] trace_data_o,
  output logic [3:0]  trace_be_o
);

  localparam logic [31:0] DataBase = 32'h9000_0000;
  localparam logic [31:0] DeviceBase = 32'hbf00_0000;
  localparam logic [31:0] DataBytes = 32'(DmemWords) * 32'd4;
  localparam logic [31:0] DeviceBytes = 32'd8;
  localparam int unsigned LogThreads = $clog2(Threads);
  // The guard is a KiB.
  localparam int unsigned LogGuard = 10;

  logic        is_store, is_exchange, is_sc, is_amo;
  logic        to_store, in_data, in_device, in_stacks, in_guard, misaligned, outside, fault_d, fault_q;
  logic [4:0]  cause_d, cause_q;
  logic [31:0] below_top, slot_mask, beyond;
  logic [1:0]  lane;
  logic [31:0] store_data;
  logic [3:0]  store_be;

  assign lane        = addr_i[1:0];
  assign is_exchange = access_i == AccessExchange;
  assign is_sc       = access_i == AccessSc;
  assign is_amo      = access_i == AccessAmo;

  function automatic logic stores_what(access_e access);
    return access == AccessSb || access == AccessSh || access == AccessSw || access == AccessSwl || access == AccessSwr;
  endfunction
  assign is_store = stores_what(access_i);
  assign to_store = stores_what(coming_access_i);

  // Where the coming address lies. Stack slots end at stack_top_i, which is a multiple of their size. Masks are said bit by bit, for a
  // subtraction would take longer: a slot has the bits below stack_log2_i, and all slots have LogThreads more.
  always_comb begin
    for (int unsigned n = 0; n < 32; n++) begin
      slot_mask[n] = n < 32'(stack_log2_i);
      beyond[n]    = n >= 32'(stack_log2_i) + LogThreads;
    end
  end
  // What is subtracted is one more, so that the lowest address of all slots is within.
  assign below_top = stack_top_i + ~coming_addr_i;
  assign in_data   = coming_addr_i - DataBase < DataBytes;
  assign in_device = to_store && coming_addr_i - DeviceBase < DeviceBytes;
  assign in_stacks = coming_addr_i < stack_top_i && beyond != '0 && (below_top & beyond) == '0;
  assign in_guard  = guard_on_i && in_stacks && ((coming_addr_i & slot_mask) >> LogGuard) == '0;
  assign outside   = !(in_data || in_device) || in_guard;

  always_comb begin
    unique case (coming_access_i)
      AccessLh, AccessLhu, AccessSh:          misaligned = coming_addr_i[0];
      AccessLb, AccessLbu, AccessSb, AccessLwl, AccessLwr,
      AccessSwl, AccessSwr, AccessNone:       misaligned = 1'b0;
      default:                                misaligned = |coming_addr_i[1:0];
    endcase
  end
  assign fault_d = coming_access_i != AccessNone && (misaligned || outside || !coming_addr_i[31] || &coming_addr_i[31:30]);
  always_comb begin
    if (Rv32) begin
      if (misaligned) cause_d = coming_access_i >= AccessSb ? CauseRvStoreMisaligned : CauseRvLoadMisaligned;
      else cause_d = coming_access_i >= AccessSb ? CauseRvStore : CauseRvLoad;
    end else begin
      if (misaligned || !coming_addr_i[31] || &coming_addr_i[31:30]) cause_d = to_store ? CauseAddressStore : CauseAddressLoad;
      else cause_d = CauseDataBus;
    end
  end
  always_ff @(posedge clk_i) begin
    if (comes_i) begin
      fault_q <= fault_d;
      cause_q <= cause_d;
    end
  end
  assign fault_o = fault_q;
  assign cause_o = cause_q;

  always_comb begin
    store_data = rt_i;
    store_be   = 4'b1111;
    unique case (access_i)
      AccessSb: begin
        store_data = {4{rt_i[7:0]}};
        store_be   = 4'b0001 << lane;
      end
      AccessSh: begin
        store_data = {2{rt_i[15:0]}};
        store_be   = lane[1] ? 4'b1100 : 4'b0011;
      end
      AccessSwl: begin
        store_data = rt_i >> {2'd3 - lane, 3'd0};
        store_be   = 4'b1111 >> (2'd3 - lane);
      end
      AccessSwr: begin
        store_data = rt_i << {lane, 3'd0};
        store_be   = 4'b1111 << lane;
      end
      default: ;
    endcase
  end

  logic        posted_q;
  mem_req_t    posted_req_q;
  logic        goes, direct, fits, posting;
  logic [31:0] word;

  // Reservations and what is made of them.

  logic        reserved, holds, conditional, sc_lost, amo_writes;
  logic [31:0] amo_old, amo_new;
  if (Rv32) begin : gen_atomic
    logic        reserved_q, asked_q, amo_writes_q, reserves, stores, ended;
    logic [31:0] reserved_addr_q, amo_old_q;

    assign reserved    = reserved_q && reserved_addr_q[31:2] == addr_i[31:2];
    assign stores      = snoop_i.valid && snoop_i.is_store && snoop_i.be != '0;
    // Other buses show a store before they take the next access. In the cycle of its answer the wide one has the bytes already.
    assign holds       = reserved && !(WideBus && stores && snoop_i.addr[31:2] == reserved_addr_q[31:2]);
    assign amo_writes  = is_amo && amo_writes_q;
    assign conditional = is_sc || amo_writes;
    // A request, once on its way to the bus, is not taken back.
    assign sc_lost     = is_sc && !reserved && !asked_q;
    assign amo_old     = amo_old_q;
    assign reserves    = direct && bus_ready_i && (access_i == AccessLr || (is_amo && !amo_writes_q));
    assign ended       = stores && snoop_i.addr[31:2] == (reserves ? addr_i[31:2] : reserved_addr_q[31:2]);
    logic unused_snoop;
    assign unused_snoop = ^{snoop_i.data, snoop_i.addr[1:0], reserved_addr_q[1:0]};

    always_comb begin
      unique case (amo_i)
        5'h00:   amo_new = amo_old_q + rt_i;
        5'h04:   amo_new = amo_old_q ^ rt_i;
        5'h08:   amo_new = amo_old_q | rt_i;
        5'h0c:   amo_new = amo_old_q & rt_i;
        5'h10:   amo_new = $signed(amo_old_q) < $signed(rt_i) ? amo_old_q : rt_i;
        5'h14:   amo_new = $signed(amo_old_q) < $signed(rt_i) ? rt_i : amo_old_q;
        5'h18:   amo_new = amo_old_q < rt_i ? amo_old_q : rt_i;
        default: amo_new = amo_old_q < rt_i ? rt_i : amo_old_q;
      endcase
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) begin
        reserved_q   <= 1'b0;
        asked_q      <= 1'b0;
        amo_writes_q <= 1'b0;
      end else begin
        if (reserves) reserved_q <= !ended;
        else if (ended || drop_i || (is_sc && valid_i && done_o)) reserved_q <= 1'b0;
        asked_q <= direct && !bus_ready_i;
        if (is_amo && direct && bus_ready_i) amo_writes_q <= !amo_writes_q;
      end
    end
    always_ff @(posedge clk_i) begin
      if (reserves) begin
        reserved_addr_q <= addr_i;
        amo_old_q       <= bus_rsp_i.rdata;
      end
    end
  end else begin : gen_no_atomic
    assign reserved    = 1'b0;
    assign holds       = 1'b0;
    assign conditional = 1'b0;
    assign sc_lost     = 1'b0;
    assign amo_writes  = 1'b0;
    assign amo_old     = '0;
    assign amo_new     = '0;
    logic unused_atomic;
    assign unused_atomic = ^{snoop_i, drop_i, amo_i};
  end

  assign goes       = !fault_o && !is_store && access_i != AccessNone && !posted_q && !sc_lost;
  assign direct     = valid_i && goes;
  // The buffer takes the next store in the cycle in which the last one leaves.
  assign fits       = !fault_o && is_store && (!posted_q || bus_ready_i);
  assign posting    = valid_i && fits;
  assign done_o     = fits || (goes && bus_ready_i && (!is_amo || (amo_writes && reserved))) || (!fault_o && sc_lost);
  assign buffered_o = posted_q;

  assign bus_valid_o = posted_q || direct;
  always_comb begin
    if (posted_q) begin
      bus_req_o = posted_req_q;
    end else begin
      bus_req_o       = '0;
      bus_req_o.kind  = is_exchange ? MemExchange : conditional ? MemWrite : MemRead;
      bus_req_o.we    = conditional;
      bus_req_o.addr  = {addr_i[31:2], 2'b00};
      bus_req_o.wdata = amo_writes ? amo_new : is_sc ? rt_i : swap_i;
      bus_req_o.be    = conditional && !holds ? 4'b0000 : 4'b1111;
    end
  end

  // A byte of a load's result is one of the word, turned by so many bytes; the sign, which is that of one byte; of `rt_i`; or 0.
  typedef struct packed {
    logic [1:0] turn;
    logic [1:0] sign;
    logic [3:0] from_word;
    logic [3:0] from_sign;
    logic [3:0] from_rt;
  } way_t;
  way_t        way_d, way_q;
  logic [31:0] turned, other;
  logic        sign;

  always_comb begin
    way_d.turn      = coming_addr_i[1:0];
    way_d.sign      = coming_addr_i[1:0];
    way_d.from_word = 4'b0000;
    way_d.from_sign = 4'b0000;
    way_d.from_rt   = 4'b0000;
    unique case (coming_access_i)
      AccessLb: begin
        way_d.from_word = 4'b0001;
        way_d.from_sign = 4'b1110;
      end
      AccessLbu: way_d.from_word = 4'b0001;
      AccessLh: begin
        way_d.sign[0]   = 1'b1;
        way_d.from_word = 4'b0011;
        way_d.from_sign = 4'b1100;
      end
      AccessLhu: way_d.from_word = 4'b0011;
      AccessLwl: begin
        way_d.turn      = coming_addr_i[1:0] + 2'd1;
        way_d.from_word = 4'b1111 << (2'd3 - coming_addr_i[1:0]);
        way_d.from_rt   = ~way_d.from_word;
      end
      AccessLwr: begin
        way_d.from_word = 4'b1111 >> coming_addr_i[1:0];
        way_d.from_rt   = ~way_d.from_word;
      end
      AccessLw, AccessLr, AccessExchange: way_d.from_word = 4'b1111;
      default: ;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (comes_i) way_q <= way_d;
  end

  assign word = bus_rsp_i.rdata;
  assign sign = word[{way_q.sign, 3'd7}];
  always_comb begin
    for (int unsigned n = 0; n < 4; n++) begin
      turned[8*n+:8] = way_q.from_word[n] ? word[{2'(n) + way_q.turn, 3'd0}+:8] : 8'd0;
      other[8*n+:8]  = way_q.from_rt[n] ? rt_i[8*n+:8] : 8'd0;
    end
    if (is_sc) other = {31'd0, !reserved};
    if (is_amo) other = amo_old;
    result_o = turned | other;
    for (int unsigned n = 1; n < 4; n++) begin
      if (way_q.from_sign[n] && sign) result_o[8*n+:8] = 8'hff;
    end
  end

  assign trace_o      = !(is_sc && !reserved);
  assign trace_data_o = is_store ? store_data : is_exchange ? swap_i : is_sc ? rt_i : is_amo ? amo_new : word;
  assign trace_be_o   = is_store ? store_be : 4'b1111;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      posted_q     <= 1'b0;
      posted_req_q <= '0;
    end else begin
      if (posting) begin
        posted_q     <= 1'b1;
        posted_req_q <= '{
          kind: MemWrite,
          we: 1'b1,
          addr: {addr_i[31:2], 2'b00},
          wdata: store_data,
          be: store_be,
          len: 6'd0
        };
      end else if (bus_ready_i) begin
        posted_q <= 1'b0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      LsuBusKnowsEveryAddressThatPassed : assert (!(bus_rsp_i.valid && bus_rsp_i.error));
      LsuIsAnsweredOnlyWhenItAsks : assert (!bus_ready_i || bus_valid_o);
    end
  end
`endif

endmodule
