// SPDX-License-Identifier: Apache-2.0
// What SSH-s says of itself, whatever the core asks and SSH-m sends: settings are what was written last, and 0 before; the configuration has
// them; the time is that of the cycle in which it is read, also where its lower half wraps between the reads of both halves; a command that
// there is not is done at once and says nothing; nothing is said before the core or SSH-m has asked; no thread but the first runs that was
// not dispatched or told that its PE idles for it; and a context is made anew for a thread that was dispatched as new, and for no other.
// What commands return is compared with the golden simulators.
//
// The core tells which register is read in the next cycle, and nothing is read behind a request that has no effect.

module ssh_s_properties
  import okosu_pkg::*;
#(
  parameter int unsigned Threads = 256,
  parameter int unsigned Watches = 16,
  parameter int unsigned Banks   = 4,
  parameter ctx_mode_e   CtxMode = CtxBanked
) (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [63:0] cycle_i,
  input logic        cop2_valid_i,
  input cop2_req_t   cop2_req_i,
  input cop2_rsp_t   cop2_rsp_o,
  input logic        guard_on_o,
  input logic [31:0] stack_top_o,
  input logic [4:0]  stack_log2_o,
  input logic        cmd_idle,
  input logic        cmd_push,
  input logic        out_ready,
  input logic        start,
  input logic        heard,
  input sched_msg_t  heard_i,
  input logic        preempted_i,
  input logic        bus_valid_o,
  input logic        run_o,
  input logic        take_next,
  input logic        engine_start,
  input context_job_e engine_job,
  input logic        writes_own,
  input context_job_e at_work,
  // A barrier lets the PE's thread go on.
  input logic        goes_on
);

  localparam logic [3:0] FirstThatIsNone = 4'd12;

  logic        started_q = 1'b0;
  logic        valid_q, guard_q, sets, reads;
  cop2_req_t   req_q;
  logic [31:0] top_q, high_q;
  logic [4:0]  log2_q;
  // Somebody asked for something; a thread came to the slot; the one that came last was new.
  logic        asked_q, came_q, new_q;

  assign sets  = cop2_valid_i && cop2_req_i.kind == Cop2Control;
  assign reads = cop2_valid_i && cop2_req_i.kind == Cop2Read;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    valid_q   <= cop2_valid_i;
    req_q     <= cop2_req_i;
    if (!rst_ni) begin
      guard_q <= 1'b0;
      top_q   <= '0;
      log2_q  <= '0;
      high_q  <= '0;
      asked_q <= 1'b0;
      came_q  <= 1'b0;
      new_q   <= 1'b0;
    end else begin
      if (cop2_valid_i || heard || preempted_i) asked_q <= 1'b1;
      if (heard && (heard_i.op == MsgDispatch0 || heard_i.op == MsgReply)) came_q <= 1'b1;
      if (goes_on) new_q <= 1'b0;
      else if (heard && heard_i.op == MsgDispatch0) new_q <= heard_i.aux[GenWidth];
      if (sets && cop2_req_i.index == 5'd0) top_q <= cop2_req_i.data;
      if (sets && cop2_req_i.index == 5'd1) log2_q <= cop2_req_i.data[4:0];
      if (sets && cop2_req_i.index == 5'd6) guard_q <= cop2_req_i.data[0];
      if (reads && cop2_req_i.index == RegCycleLow) high_q <= cycle_i[63:32];
    end
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    if (!rst_ni) CoreAsksNothingInReset : assume (!cop2_valid_i && cop2_req_i.kind == Cop2Read);
    if (started_q && rst_ni && reads) begin
      CoreTellsWhatItReads : assume (req_q.coming == cop2_req_i.index);
      NothingIsReadBehindWhatHasNoEffect : assume (valid_q || req_q.kind == Cop2Read);
    end
    if (started_q && rst_ni) begin
      SettingsAreWhatWasWritten : assert (guard_on_o == guard_q && stack_top_o == top_q && stack_log2_o == log2_q);
      NothingIsSaidUnasked : assert (!bus_valid_o || asked_q);
      OnlyWhoCameRuns : assert (!(run_o || take_next) || came_q);
      ContextsAreMadeForNewThreads : assert (!engine_start || engine_job != JobCold || new_q);
      OwnMemoryChangesOnlyWhereAContextIsSaved : assert (!writes_own || at_work == JobSave);
      if (reads) begin
        TheLowerHalfOfTheTimeIsThatOfNow : assert (cop2_req_i.index != RegCycleLow || cop2_rsp_o.rdata == cycle_i[31:0]);
        TheUpperHalfIsOfWhenTheLowerOneWasRead : assert (cop2_req_i.index != RegCycleHigh || cop2_rsp_o.rdata == high_q);
        TheConfigurationHasTheSizeOfStacks :
        assert (cop2_req_i.index != RegConfig ||
                cop2_rsp_o.rdata == {7'd0, 8'(Watches), log2_q, 4'($clog2(Threads)), 6'(Banks), CtxMode});
      end
      if (cop2_valid_i && cop2_req_i.kind == Cop2Command && cop2_req_i.index[3:0] >= FirstThatIsNone && cmd_idle && out_ready && !start) begin
        CommandsThatThereAreNotDoNothing : assert (cop2_rsp_o.done && !cop2_rsp_o.park && !cmd_push);
      end
    end
  end

endmodule

bind ssh_s ssh_s_properties #(
  .Threads(Threads),
  .Watches(Watches),
  .Banks  (Banks),
  .CtxMode(CtxMode)
) u_properties (
  .goes_on   (u_registers.released_here),
  .writes_own(u_engine.local_we),
  .at_work   (u_engine.job_q),
  .*
);
