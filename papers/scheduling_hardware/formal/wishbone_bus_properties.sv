// SPDX-License-Identifier: Apache-2.0
// To Wishbone: no strobe outside of a cycle of the bus, a strobe that is stalled stands still, the cycle goes on until all is answered, and
// each word is asked for once, as soon as it can be. To the masters: one at a time; a transaction ends with its last answer; what it reads and
// writes is what its kind says, nothing comes between an exchange's read and its write, what is snooped is what memory has; and a request is
// served after at most NumPorts - 1 transactions of others.
//
// The slave stalls and answers when it likes, in order, in the cycle of a strobe or any later one. One port, one word of memory and one bit of
// each of its bytes are followed, whichever; as in mem_bus_properties.sv, three bits of addresses vary.

module wishbone_bus_properties
  import okosu_pkg::*;
#(
  parameter int unsigned NumPorts = 2,
  parameter int unsigned PortWidth = NumPorts > 1 ? $clog2(NumPorts) : 1,
  // Bursts are that long at most. So many words can be without an answer.
  parameter int unsigned MaxBurst = 2
) (
  input logic                     clk_i,
  input logic                     rst_ni,
  input logic     [NumPorts-1:0]  valid_i,
  input mem_req_t [NumPorts-1:0]  req_i,
  input logic     [NumPorts-1:0]  ready_o,
  input mem_rsp_t [NumPorts-1:0]  rsp_o,
  input logic                     wb_cyc_o,
  input logic                     wb_stb_o,
  input logic                     wb_we_o,
  input logic     [31:2]          wb_adr_o,
  input logic     [31:0]          wb_dat_o,
  input logic     [3:0]           wb_sel_o,
  input logic     [31:0]          wb_dat_i,
  input logic                     wb_ack_i,
  input logic                     wb_err_i,
  input logic                     wb_stall_i,
  input mem_snoop_t               snoop_o,
  input logic     [PortWidth-1:0] master_o,
  input logic                     active_o
);

  localparam int unsigned TurnWidth = $clog2(NumPorts + 1);
  typedef logic [2:0] count_t;

  // The port, the word and the bits that are followed. Nothing drives these signals, so they are free; they are assumed
  // to stay the same.
  logic [PortWidth-1:0] port, port_q;
  logic [31:0]          place, place_q;
  logic [4:0]           bit_index, bit_index_q;

  logic                 started_q = 1'b0;
  mem_req_t             req;
  mem_rsp_t             rsp;
  logic                 ready, single, reads;
  assign req    = req_i[master_o];
  assign rsp    = rsp_o[master_o];
  assign ready  = ready_o[master_o];
  assign single = req.kind != MemBurst;
  assign reads  = req.kind == MemRead || (!single && !req.we);

  // Masters hold their requests.

  function automatic logic few(logic [31:0] addr);
    return addr[31:5] == '0;
  endfunction

  logic     [NumPorts-1:0] waiting_q, steady, sensible, beat_q;
  mem_req_t [NumPorts-1:0] req_q;
  always_comb begin
    for (int unsigned p = 0; p < NumPorts; p++) begin
      // A burst's next word stands there when the one before was taken.
      steady[p] = !waiting_q[p] ||
                  (valid_i[p] && req_i[p].kind == req_q[p].kind && req_i[p].we == req_q[p].we && req_i[p].addr == req_q[p].addr &&
                   req_i[p].be == req_q[p].be && req_i[p].len == req_q[p].len &&
                   ((req_i[p].kind == MemBurst && beat_q[p]) || req_i[p].wdata == req_q[p].wdata));
      sensible[p] = req_i[p].len != '0 && 32'(req_i[p].len) <= MaxBurst && few(req_i[p].addr);
    end
  end

  // The slave: strobes that it took, and answers.

  logic   taken, answer;
  count_t open_q, strobes_q, answers_q, words;
  assign taken  = wb_stb_o && !wb_stall_i;
  assign answer = wb_ack_i || wb_err_i;
  always_comb begin
    unique case (req.kind)
      MemBurst:    words = req.len[2:0];
      MemExchange: words = 3'd2;
      default:     words = 3'd1;
    endcase
  end

  // One bit of its memory, which changes and is read when a strobe is taken; what was read waits for its answer.

  logic       at_place, writes, looks, word_q, word_d;
  logic [1:0] look_q, value_q;
  assign at_place = wb_adr_o == place[31:2];
  assign writes   = taken && wb_we_o && at_place && wb_sel_o[bit_index[4:3]];
  assign looks    = taken && !wb_we_o && at_place;
  assign word_d   = writes ? wb_dat_o[bit_index] : word_q;

  // Reads without an answer, the eldest first, this cycle's included.
  logic [2:0] look, value;
  always_comb begin
    look  = {1'b0, look_q};
    value = {1'b0, value_q};
    if (taken) begin
      look[open_q[1:0]]  = looks;
      value[open_q[1:0]] = word_q;
    end
  end

  logic [PortWidth-1:0] master_q;
  logic [TurnWidth-1:0] passed_q;
  logic                 stalled_q, we_q, before_q, wrote_q, failed_q, failed;
  logic [31:2]          adr_q;
  logic [31:0]          dat_q;
  logic [3:0]           sel_q;
  count_t               beats_q;
  assign failed = answers_q == '0 ? wb_err_i : failed_q;

  // The place of the strobe, and that of the word that passes to its reader now.
  logic [31:2] strobe_at, beat_at;
  assign strobe_at = req.addr[31:2] + (single ? '0 : 30'(strobes_q));
  assign beat_at   = req.addr[31:2] + (single ? '0 : 30'(beats_q));

  always_ff @(posedge clk_i) begin
    started_q   <= 1'b1;
    port_q      <= port;
    place_q     <= place;
    bit_index_q <= bit_index;
    master_q    <= master_o;
    req_q       <= req_i;
    waiting_q   <= rst_ni ? valid_i & ~ready_o : '0;
    for (int unsigned p = 0; p < NumPorts; p++) beat_q[p] <= rsp_o[p].valid;

    open_q    <= rst_ni ? open_q + count_t'(taken) - count_t'(answer) : '0;
    strobes_q <= rst_ni && active_o && !ready ? strobes_q + count_t'(taken) : '0;
    answers_q <= rst_ni && active_o && !ready ? answers_q + count_t'(answer) : '0;
    beats_q   <= rst_ni && active_o && !ready ? beats_q + count_t'(rsp.valid) : '0;
    passed_q  <= rst_ni && valid_i[port] && !ready_o[port] ? passed_q + TurnWidth'(|ready_o) : '0;

    look_q  <= answer ? look[2:1] : look[1:0];
    value_q <= answer ? value[2:1] : value[1:0];
    word_q  <= word_d;
    if (looks) before_q <= word_q;
    wrote_q  <= rst_ni && active_o && !ready && (wrote_q || writes);
    failed_q <= failed;

    stalled_q <= rst_ni && wb_stb_o && wb_stall_i;
    we_q      <= wb_we_o;
    adr_q     <= wb_adr_o;
    dat_q     <= wb_dat_o;
    sel_q     <= wb_sel_o;
  end

  always_comb begin
    if (!started_q) begin
      ResetComesFirst : assume (!rst_ni);
    end else begin
      FollowsTheSame : assume (port == port_q && place == place_q && bit_index == bit_index_q && 32'(port) < NumPorts &&
                               few(place) && bit_index[2:0] == '0);
      MastersHoldTheirRequest : assume (steady == '1);
      RequestsAreSmall : assume (sensible == '1);
      SlaveAnswersWhatItTook : assume (!answer || (!(wb_ack_i && wb_err_i) && (taken || open_q != '0)));
      SlaveAnswersWithItsWord : assume (!answer || !look[0] || wb_dat_i[bit_index] == value[0]);
    end
  end

  logic [NumPorts-1:0] beside;
  always_comb begin
    beside = '0;
    for (int unsigned p = 0; p < NumPorts; p++) beside[p] = PortWidth'(p) != master_o && (ready_o[p] || rsp_o[p].valid);
  end

  always_comb begin
    if (started_q && rst_ni) begin
      StrobesOnlyInACycle : assert (!wb_stb_o || wb_cyc_o);
      StandsStillWhileItIsStalled :
      assert (!stalled_q || (wb_cyc_o && wb_stb_o && wb_we_o == we_q && wb_adr_o == adr_q && wb_sel_o == sel_q &&
                             (!wb_we_o || wb_dat_o[bit_index] == dat_q[bit_index])));
      KeepsTheCycleUntilAllIsAnswered : assert (open_q == '0 || (wb_cyc_o && master_o == master_q));
      AsksForItsWordsAndNoMore : assert (wb_stb_o == (active_o && strobes_q < words));
      AsksAtItsPlace : assert (!wb_stb_o || wb_adr_o == strobe_at);
      AsksForWholeWordsOrTheBytesWritten : assert (!wb_stb_o || wb_sel_o == (reads ? '1 : req.be));
      AsksToReadAndToWrite :
      assert (!wb_stb_o || wb_we_o == (req.kind == MemExchange ? strobes_q == 3'd1 : !reads));

      ServesOnlyTheMaster : assert (beside == '0);
      ServesOnlyWhoAsks : assert (active_o == valid_i[master_o] && (active_o || (!ready && !rsp.valid)));
      NobodyTakesTheBusFromItsMaster : assert (strobes_q == '0 || (active_o && master_o == master_q));
      EndsWithItsLastAnswer : assert (ready == (active_o && answer && answers_q + 3'd1 == words));
      BeatsAreAsMany : assert (!ready || beats_q + count_t'(rsp.valid) == (single ? 3'd1 : words));
      ServedInItsTurn : assert (!valid_i[port] || 32'(passed_q) < NumPorts - 1 || ready_o == '0 || ready_o[port]);

      if (rsp.valid && beat_at == place[31:2]) begin
        ReadsWhatMemoryHolds : assert (req.kind != MemRead || rsp.rdata[bit_index] == word_d);
        BurstReadsWhatMemoryHolds : assert (single || req.we || rsp.rdata[bit_index] == word_d);
        BurstWritesWordByWord : assert (single || !req.we || (taken && wb_adr_o == beat_at && wb_dat_o == req.wdata));
        WritesItsBytes :
        assert (req.kind != MemWrite ||
                ((wrote_q || writes) == req.be[bit_index[4:3]] && (!req.be[bit_index[4:3]] || word_d == req.wdata[bit_index])));
        ExchangeIsIndivisible :
        assert (req.kind != MemExchange ||
                (rsp.rdata[bit_index] == before_q && (wrote_q || writes) == req.be[bit_index[4:3]] &&
                 word_d == (req.be[bit_index[4:3]] ? req.wdata[bit_index] : before_q)));
      end
      ReadsWriteNothing : assert (!writes || !reads);
      ReportsTheSlavesError : assert (!ready || !(req.kind inside {MemRead, MemExchange}) || rsp.error == failed);

      SnoopShowsEachSingleOnce : assert (snoop_o.valid == (active_o && ready && single));
      if (snoop_o.valid && req.addr[31:2] == place[31:2]) begin
        SnoopShowsWhatMemoryHas :
        assert (snoop_o.addr == req.addr && snoop_o.be == req.be && snoop_o.is_store == (req.kind != MemRead) &&
                (snoop_o.is_store ? snoop_o.data == req.wdata : snoop_o.data[bit_index] == word_d));
      end
    end
  end

endmodule

bind wishbone_bus wishbone_bus_properties #(
  .NumPorts(NumPorts)
) u_properties (
  .*
);
