// SPDX-License-Identifier: Apache-2.0
// One master at a time; a transaction has the length that INTERFACES.md gives it, and what it reads and writes is what its
// kind says; nothing comes between an exchange's read and its write; what is snooped is what memory has, and the shared wires carry
// an address first and then data; and a request is served within NumPorts * L + 1 cycles, L being the longest transaction.
//
// One port, one word of memory, and one bit of each of its bytes are followed, whichever. Three bits of addresses vary: the bus adds the
// number of a beat to them and compares them with nothing, and it treats the bits of a byte alike.

module mem_bus_properties
  import okosu_pkg::*;
#(
  parameter int unsigned NumPorts = 2,
  parameter int unsigned PortWidth = NumPorts > 1 ? $clog2(NumPorts) : 1,
  // Bursts are that long at most.
  parameter int unsigned MaxBurst = 2
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic     [NumPorts-1:0]  valid_i,
  input mem_req_t [NumPorts-1:0]  req_i,
  input logic     [NumPorts-1:0]  ready_o,
  input mem_rsp_t [NumPorts-1:0]  rsp_o,
  input logic                     mem_re_o,
  input logic                     mem_we_o,
  input logic     [31:0]          mem_addr_o,
  input logic     [31:0]          mem_wdata_o,
  input logic     [3:0]           mem_be_o,
  input logic     [31:0]          mem_rdata_i,
  input logic                     mem_error_i,
  input mem_snoop_t               snoop_o,
  input logic     [PortWidth-1:0] master_o,
  input logic                     active_o,
  input logic     [31:0]          ad_o
);

  localparam int unsigned Longest = MaxBurst + 2;
  localparam int unsigned Bound = NumPorts * Longest;
  localparam int unsigned BoundWidth = $clog2(Bound + 2);
  typedef logic [6:0] count_t;

  // The port, the word and the bits that are followed. Nothing drives these signals, so they are free; they are assumed
  // to stay the same.
  logic [PortWidth-1:0] port, port_q;
  logic [31:0]          place, place_q;
  logic [4:0]           bit_index, bit_index_q;

  logic                 started_q = 1'b0;
  mem_req_t             req;
  mem_rsp_t             rsp;
  logic                 ready, single;
  assign req    = req_i[master_o];
  assign rsp    = rsp_o[master_o];
  assign ready  = ready_o[master_o];
  assign single = req.kind != MemBurst;

  // Masters hold their requests.

  function automatic logic few(logic [31:0] addr);
    return addr[31:5] == '0;
  endfunction

  logic     [NumPorts-1:0] waiting_q, steady, sensible;
  mem_req_t [NumPorts-1:0] req_q;
  always_comb begin
    for (int unsigned p = 0; p < NumPorts; p++) begin
      steady[p] = !waiting_q[p] ||
                  (valid_i[p] && req_i[p].kind == req_q[p].kind && req_i[p].we == req_q[p].we && req_i[p].addr == req_q[p].addr &&
                   req_i[p].be == req_q[p].be && req_i[p].len == req_q[p].len &&
                   (req_i[p].kind == MemBurst || req_i[p].wdata == req_q[p].wdata));
      sensible[p] = req_i[p].len != '0 && 32'(req_i[p].len) <= MaxBurst && few(req_i[p].addr);
    end
  end

  // Length.

  // Cycles that the present transaction has had.
  count_t spent_q, length;
  always_comb begin
    unique case (req.kind)
      MemWrite: length = 7'd2;
      MemBurst: length = {1'b0, req.len} + 7'd2;
      default:  length = 7'd3;
    endcase
  end

  logic [PortWidth-1:0]  master_q;
  logic [BoundWidth-1:0] waited_q;
  count_t                beats_q;

  // Memory: one bit of it.

  logic at_place, writes, asked_q, word_q, answer_q, before_q, written_q, failed_q;
  assign at_place = mem_addr_o[31:2] == place[31:2];
  assign writes   = mem_we_o && at_place && mem_be_o[bit_index[4:3]];

  // The place of the beat that passes now.
  logic [31:0] beat_addr;
  assign beat_addr = req.addr + {23'd0, beats_q, 2'b00};

  always_ff @(posedge clk_i) begin
    started_q   <= 1'b1;
    port_q      <= port;
    place_q     <= place;
    bit_index_q <= bit_index;
    master_q    <= master_o;
    req_q       <= req_i;
    waiting_q   <= rst_ni ? valid_i & ~ready_o : '0;
    spent_q     <= rst_ni && active_o && !ready ? spent_q + 7'd1 : '0;
    beats_q     <= rst_ni && active_o && !ready ? beats_q + count_t'(rsp.valid) : '0;
    waited_q    <= rst_ni && valid_i[port] && !ready_o[port] ? waited_q + BoundWidth'(1) : '0;

    asked_q   <= mem_re_o && at_place;
    answer_q  <= word_q;
    failed_q  <= mem_error_i;
    written_q <= writes;
    before_q  <= word_q;
    if (writes) word_q <= mem_wdata_o[bit_index];
  end

  always_comb begin
    if (!started_q) begin
      ResetComesFirst : assume (!rst_ni);
    end else begin
      FollowsTheSame : assume (port == port_q && place == place_q && bit_index == bit_index_q && 32'(port) < NumPorts &&
                               few(place) && bit_index[2:0] == '0);
      MastersHoldTheirRequest : assume (steady == '1);
      RequestsAreSmall : assume (sensible == '1);
      MemoryAnswers : assume (!asked_q || mem_rdata_i[bit_index] == answer_q);
    end
  end

  logic [NumPorts-1:0] beside;
  always_comb begin
    beside = '0;
    for (int unsigned p = 0; p < NumPorts; p++) beside[p] = PortWidth'(p) != master_o && (ready_o[p] || rsp_o[p].valid);
  end

  always_comb begin
    if (started_q && rst_ni) begin
      ServesOnlyTheMaster : assert (beside == '0);
      ServesOnlyWhoAsks : assert (active_o == valid_i[master_o] && (active_o || (!ready && !rsp.valid)));
      NobodyTakesTheBusFromItsMaster : assert (spent_q == '0 || (active_o && master_o == master_q));
      TransactionsHaveTheirLength : assert (!active_o || ready == (spent_q + 7'd1 == length));
      MemoryIsTheMasters : assert (!(mem_re_o || mem_we_o) || (active_o && !(mem_re_o && mem_we_o)));
      SinglesStayAtTheirPlace : assert (!(mem_re_o || mem_we_o) || !single || mem_addr_o == req.addr);
      BeatsAreAsMany : assert (!active_o || !ready || beats_q + count_t'(rsp.valid) == (single ? 7'd1 : {1'b0, req.len}));
      ServedInTime : assert (!valid_i[port] || 32'(waited_q) < Bound || (32'(waited_q) == Bound && ready_o[port]));

      // The word is memory's of this cycle, and with errors those of memory's answer.
      if (rsp.valid && beat_addr[31:2] == place[31:2]) begin
        ReadsWhatMemoryHolds : assert (req.kind != MemRead || rsp.rdata[bit_index] == word_q);
        BurstReadsWhatMemoryHolds : assert (single || req.we || rsp.rdata[bit_index] == word_q);
        BurstWritesBeatByBeat : assert (single || !req.we || (mem_we_o && mem_addr_o == beat_addr && mem_wdata_o == req.wdata));
        WritesOnce : assert (req.kind != MemWrite || (mem_we_o && mem_be_o == req.be && mem_wdata_o == req.wdata));
        ExchangeIsIndivisible :
        assert (req.kind != MemExchange ||
                (rsp.rdata[bit_index] == before_q && written_q == req.be[bit_index[4:3]] &&
                 word_q == (written_q ? req.wdata[bit_index] : before_q)));
      end
      ReadsWriteNothing : assert (!mem_we_o || req.kind == MemWrite || req.kind == MemExchange || (!single && req.we));
      ReportsMemorysError : assert (!ready || !(req.kind inside {MemRead, MemExchange}) || rsp.error == failed_q);

      // The wires carry the address first, then data: what is written, what was read.
      if (active_o) begin
        WiresCarryAddressThenData :
        assert (spent_q == '0 ? ad_o[bit_index] == req.addr[bit_index] :
                mem_we_o ? ad_o[bit_index] == req.wdata[bit_index] : !rsp.valid || ad_o[bit_index] == rsp.rdata[bit_index]);
      end

      SnoopShowsEachSingleOnce : assert (snoop_o.valid == (active_o && ready && single));
      if (snoop_o.valid && req.addr[31:2] == place[31:2]) begin
        SnoopShowsWhatMemoryHas :
        assert (snoop_o.addr == req.addr && snoop_o.be == req.be && snoop_o.is_store == (req.kind != MemRead) &&
                (snoop_o.is_store ? snoop_o.data == req.wdata : snoop_o.data[bit_index] == word_q));
      end
    end
  end

endmodule

bind mem_bus mem_bus_properties #(
  .NumPorts(NumPorts)
) u_properties (
  .*
);
