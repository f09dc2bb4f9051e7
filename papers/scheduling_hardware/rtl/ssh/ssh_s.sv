// SPDX-License-Identifier: Apache-2.0
// SSH-s: a PE's side of the scheduler. It answers the core's COP2 requests (cpu_unit), keeps a pool of granted ids so that CREATE
// returns at once, holds the next thread in its prefetch slot and switches the core from bank to bank (register_unit, context_engine), and
// buffers what goes to SSH-m.

module ssh_s
  import okosu_pkg::*;
#(
  parameter int unsigned NumPes   = 8,
  parameter int unsigned Threads  = 256,
  parameter int unsigned Watches  = 16,
  parameter int unsigned PoolSize = 4,
  parameter ctx_mode_e   CtxMode  = CtxBanked,
  parameter int unsigned Banks    = 4,
  // Contexts that a PE's own memory holds, in LOCAL mode.
  parameter int unsigned Contexts = 16,
  parameter bit          Rv32     = 1'b0,
  // Derived from the parameters above; not to be set.
  parameter int unsigned BankWidth = Banks > 1 ? $clog2(Banks) : 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  pe_t                  pe_i,
  input  logic [63:0]          cycle_i,

  input  logic                 cop2_valid_i,
  input  cop2_req_t            cop2_req_i,
  output cop2_rsp_t            cop2_rsp_o,
  output logic                 cop2_room_o,

  output logic                 irq_o,
  output logic                 preempt_o,
  input  logic                 preempted_i,
  output logic                 run_o,
  output logic [BankWidth-1:0] run_bank_o,
  input  logic                 parked_i,
  input  logic [BankWidth-1:0] bank_i,

  output logic [BankWidth-1:0] port_bank_o,
  output logic [5:0]           port_index_o,
  output logic                 port_we_o,
  output logic [31:0]          port_wdata_o,
  input  logic [31:0]          port_rdata_i,

  output logic                 guard_on_o,
  output logic [31:0]          stack_top_o,
  output logic [4:0]           stack_log2_o,

  output logic                 mem_valid_o,
  output mem_req_t             mem_req_o,
  input  logic                 mem_ready_i,
  input  mem_rsp_t             mem_rsp_i,

  output logic                 bus_valid_o,
  output logic                 bus_more_o,
  output sched_msg_t           bus_msg_o,
  input  logic                 bus_ready_i,
  // Messages of SSH-m to this or any PE.
  input  logic                 heard_valid_i,
  input  sched_msg_t           heard_i,

  output logic                 running_o,
  output logic                 switching_o,
  output tid_t                 tid_o
);

  localparam bit Soft = CtxMode == CtxSoft;
  localparam int unsigned OutDepth = 4;
  localparam int unsigned OwnContexts = CtxMode == CtxLocal ? Contexts : 0;
  localparam int unsigned PlaceWidth = OwnContexts > 1 ? $clog2(OwnContexts) : 1;

  // The settings that the program made at boot, and the registers that it reads.
  logic [31:0] stack_top_q, exit_stub_q, gp_q, area_q, quantum_q, cycle_high_q, next_pc_q, next_arg_q;
  logic [4:0]  stack_log2_q;
  logic        guard_q;

  // RES and ERR of the thread in each bank.
  logic [31:0] res_q[Banks];
  logic [7:0]  err_q[Banks];

  // Messages of SSH-m.

  logic heard;
  assign heard = heard_valid_i && heard_i.pe == pe_i;

  // Outgoing buffer.

  logic       push, push_more, out_ready;
  sched_msg_t push_msg;
  logic [$clog2(OutDepth+1)-1:0] out_room;
  fifo #(
    .Width($bits(sched_msg_t) + 1),
    .Depth(OutDepth)
  ) u_out (
    .clk_i,
    .rst_ni,
    .valid_i(push),
    .ready_o(out_ready),
    .data_i ({push_more, push_msg}),
    .valid_o(bus_valid_o),
    .ready_i(bus_ready_i),
    .data_o ({bus_more_o, bus_msg_o}),
    .room_o (out_room)
  );
  assign cop2_room_o = 32'(out_room) >= OutDepth - 1;

  // Pool of ids.

  logic    pool_valid, pool_pop, unused_pool_ready;
  handle_t pool_handle;
  logic [$clog2(PoolSize+1)-1:0] unused_pool_room;
  fifo #(
    .Width($bits(handle_t)),
    .Depth(PoolSize)
  ) u_pool (
    .clk_i,
    .rst_ni,
    .valid_i(heard && heard_i.op == MsgGrant),
    .ready_o(unused_pool_ready),
    .data_i ({heard_i.aux[GenWidth-1:0], heard_i.tid}),
    .valid_o(pool_valid),
    .ready_i(pool_pop),
    .data_o (pool_handle),
    .room_o (unused_pool_room)
  );

  // Commands.

  logic        done, park, next, at_hand, can_yield, take_next, cmd_stop, cmd_keep, cmd_push, cmd_more, cmd_idle, start;
  logic        result_may, result_we;
  logic [31:0] result_res, next_word0, next_word1;
  logic [7:0]  result_err, next_err;
  logic        next_cold;
  handle_t     self, next_handle;
  sched_msg_t  cmd_msg;
  // With one bank the next thread is loaded only when the running one has stopped.
  assign can_yield = Banks == 1 ? at_hand : next;
  cpu_unit #(
    .Soft(Soft)
  ) u_cpu_unit (
    .clk_i,
    .rst_ni,
    .pe_i,
    .self_i       (self.tid),
    .cycle_high_i (cycle_i[43:32]),
    .valid_i      (cop2_valid_i),
    .req_i        (cop2_req_i),
    .done_o       (done),
    .park_o       (park),
    .reply_i      (heard && heard_i.op == MsgReply),
    .reply_res_i  (heard_i.data),
    .reply_err_i  (heard_i.aux[7:0]),
    .pool_valid_i (pool_valid),
    .pool_handle_i(pool_handle),
    .pool_pop_o   (pool_pop),
    .next_i       (can_yield),
    .next_handle_i(next_handle),
    .next_err_i   (next_err),
    .take_next_o  (take_next),
    .stop_o       (cmd_stop),
    .keep_o       (cmd_keep),
    .result_may_o (result_may),
    .result_we_o  (result_we),
    .result_res_o (result_res),
    .result_err_o (result_err),
    .push_o       (cmd_push),
    .push_more_o  (cmd_more),
    .push_msg_o   (cmd_msg),
    // A thread's START goes before its first command.
    .push_ready_i (out_ready && !start),
    .idle_o       (cmd_idle)
  );

  // Threads and banks.

  logic                 released, recalled, kept, start_taken, released_taken, answer_taken, load;
  tid_t                 start_tid, released_tid, answer_tid, engine_tid;
  logic [BankWidth-1:0] load_bank, engine_bank;
  logic                  engine_start, engine_busy, engine_done;
  context_job_e          engine_job;
  logic [PlaceWidth-1:0] engine_place;
  register_unit #(
    .Soft    (Soft),
    .Banks   (Banks),
    .Contexts(OwnContexts)
  ) u_registers (
    .clk_i,
    .rst_ni,
    .first_i         (pe_i == '0),
    .parked_i,
    .bank_i,
    .park_i          (park || preempted_i),
    .stop_i          (cmd_stop || preempted_i),
    .keep_i          (cmd_keep || preempted_i),
    .take_i          (take_next),
    .run_o,
    .run_bank_o,
    .running_o,
    .self_o          (self),
    .dispatch0_i     (heard && heard_i.op == MsgDispatch0),
    .dispatch1_i     (heard && heard_i.op == MsgDispatch1),
    .recall_i        (heard && heard_i.op == MsgRecall),
    .evict_i         (heard && heard_i.op == MsgEvict),
    .idles_i         (heard && heard_i.op == MsgReply && heard_i.aux[7:0] == ErrBlocked && heard_i.data[31]),
    .release_i       (heard_valid_i && heard_i.op == MsgRelease),
    .heard_i,
    .start_o         (start),
    .released_o      (released),
    .recalled_o      (recalled),
    .kept_o          (kept),
    .start_tid_o     (start_tid),
    .released_tid_o  (released_tid),
    .answer_tid_o    (answer_tid),
    .start_taken_i   (start_taken),
    .released_taken_i(released_taken),
    .answer_taken_i  (answer_taken),
    .next_o          (next),
    .at_hand_o       (at_hand),
    .switching_o,
    .next_handle_o   (next_handle),
    .next_cold_o     (next_cold),
    .next_word0_o    (next_word0),
    .next_word1_o    (next_word1),
    .next_err_o      (next_err),
    .load_o          (load),
    .load_bank_o     (load_bank),
    .engine_start_o  (engine_start),
    .engine_job_o    (engine_job),
    .engine_bank_o   (engine_bank),
    .engine_place_o  (engine_place),
    .engine_tid_o    (engine_tid),
    .engine_busy_i   (engine_busy),
    .engine_done_i   (engine_done)
  );
  assign tid_o = self.tid;

  context_engine #(
    .Banks   (Banks),
    .Contexts(OwnContexts),
    .Rv32    (Rv32)
  ) u_engine (
    .clk_i,
    .rst_ni,
    .start_i     (engine_start),
    .job_i       (engine_job),
    .bank_i      (engine_bank),
    .place_i     (engine_place),
    .tid_i       (engine_tid),
    .entry_i     (next_word0),
    .argument_i  (next_word1),
    .busy_o      (engine_busy),
    .done_o      (engine_done),
    .stack_top_i (stack_top_q),
    .stack_log2_i(stack_log2_q),
    .exit_stub_i (exit_stub_q),
    .gp_i        (gp_q),
    .area_i      (area_q),
    .port_bank_o,
    .port_index_o,
    .port_we_o,
    .port_wdata_o,
    .port_rdata_i,
    .mem_valid_o,
    .mem_req_o,
    .mem_ready_i,
    .mem_rsp_i
  );

  // Outgoing messages: the core's, and in cycles without one those that no thread waits for.

  function automatic sched_msg_t say(msg_op_e op, pe_t pe, tid_t tid);
    return '{op: op, pe: pe, tid: tid, aux: '0, data: '0};
  endfunction

  // If a thread is preempted between a command and the reading of its results, the results move with it.
  sched_msg_t yield_msg;
  assign yield_msg = '{op: MsgYield, pe: pe_i, tid: self.tid, aux: {4'd0, err_q[bank_i]}, data: res_q[bank_i]};

  logic spare;
  assign spare          = !cmd_push && cmd_idle && !preempted_i && out_ready;
  // START opens the slot again, so it goes first.
  assign start_taken    = spare && start;
  assign released_taken = spare && !start && released;
  assign answer_taken   = spare && !start && !released && (recalled || kept);
  always_comb begin
    push      = cmd_push || preempted_i || (spare && (start || released || recalled || kept));
    push_more = cmd_push && cmd_more;
    if (cmd_push) push_msg = cmd_msg;
    else if (preempted_i) push_msg = yield_msg;
    else if (start) push_msg = say(MsgStart, pe_i, start_tid);
    else if (released) push_msg = say(MsgReleased, pe_i, released_tid);
    else push_msg = say(recalled ? MsgRecalled : MsgKept, pe_i, answer_tid);
  end

  logic control, operand;
  // Preemption: at the end of the quantum, or at SSH-m's message.

  logic [31:0] ran_q;
  logic        told_q, over_q, fresh, due;
  // `over_q`: the thread has run for its quantum.
  assign fresh     = run_o || take_next || !running_o || (control && cop2_req_i.index == 5'd5);
  assign due       = running_o && (told_q || over_q);
  assign preempt_o = !Soft && due && can_yield && out_ready && cmd_idle;
  assign irq_o     = Soft && due && next;

  // Registers.

  // A read's answer has to be early, for a branch may depend on it: what is read is chosen in the cycle before, and what changes in that
  // cycle is looked at as it will be. Whether a request in that cycle has an effect is known too late, and need not be: nothing comes
  // behind one that has none. Only the time, which changes always, is taken when it is asked for.
  logic [31:0] read_d, read_q;
  logic [31:0] next_pc_d, next_arg_d;
  handle_t     self_d;
  logic        time_q, reads_time, sets_err, sets_res, results, says, told_err, told_res, told_log2;

  assign stack_top_o  = stack_top_q;
  assign stack_log2_o = stack_log2_q;
  assign guard_on_o   = guard_q;

  assign control  = cop2_valid_i && cop2_req_i.kind == Cop2Control;
  // In mode SOFT a handler restores RES and ERR.
  assign operand  = cop2_valid_i && cop2_req_i.kind == Cop2Operand;
  assign sets_err = operand && cop2_req_i.index == RegErr;
  assign sets_res = operand && cop2_req_i.index == RegRes;
  assign results  = result_we && !park;
  assign says     = result_may;
  assign told_err = cop2_req_i.kind == Cop2Operand && cop2_req_i.index == RegErr;
  assign told_res = cop2_req_i.kind == Cop2Operand && cop2_req_i.index == RegRes;
  assign told_log2 = cop2_req_i.kind == Cop2Control && cop2_req_i.index == 5'd1;
  assign reads_time = cop2_valid_i && cop2_req_i.kind == Cop2Read && cop2_req_i.index == RegCycleLow;
  assign self_d   = take_next ? next_handle : self;
  always_comb begin
    next_pc_d  = next_pc_q;
    next_arg_d = next_arg_q;
    if (take_next) begin
      next_pc_d  = next_cold ? next_word0 : '0;
      next_arg_d = next_cold ? next_word1 : next_word0;
    end
  end

  always_comb begin
    unique case (cop2_req_i.coming)
      RegErr:       read_d = {24'd0, told_err ? cop2_req_i.data[7:0] : says ? result_err : err_q[bank_i]};
      RegRes:       read_d = told_res ? cop2_req_i.data : says ? result_res : res_q[bank_i];
      RegSelf:      read_d = {16'd0, self_d};
      RegPe:        read_d = {26'd0, pe_i};
      RegNumPes:    read_d = 32'(NumPes);
      RegCycleHigh: read_d = reads_time ? cycle_i[63:32] : cycle_high_q;
      RegConfig:    read_d = {7'd0, 8'(Watches), told_log2 ? cop2_req_i.data[4:0] : stack_log2_q, 4'($clog2(Threads)), 6'(Banks), CtxMode};
      RegNextPc:    read_d = next_pc_d;
      RegNextArg:   read_d = next_arg_d;
      default:      read_d = '0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    read_q <= read_d;
    time_q <= cop2_req_i.coming == RegCycleLow;
  end
  assign cop2_rsp_o = '{done: done, park: park, rdata: time_q ? cycle_i[31:0] : read_q};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stack_top_q  <= '0;
      exit_stub_q  <= '0;
      gp_q         <= '0;
      area_q       <= '0;
      quantum_q    <= '0;
      stack_log2_q <= '0;
      guard_q      <= 1'b0;
      cycle_high_q <= '0;
      next_pc_q    <= '0;
      next_arg_q   <= '0;
      ran_q        <= '0;
      told_q       <= 1'b0;
      over_q       <= 1'b0;
      for (int unsigned n = 0; n < Banks; n++) begin
        res_q[n] <= '0;
        err_q[n] <= '0;
      end
    end else begin
      next_pc_q    <= next_pc_d;
      next_arg_q   <= next_arg_d;
      if (control) begin
        unique case (cop2_req_i.index)
          5'd0:    stack_top_q <= cop2_req_i.data;
          5'd1:    stack_log2_q <= cop2_req_i.data[4:0];
          5'd2:    exit_stub_q <= cop2_req_i.data;
          5'd3:    gp_q <= cop2_req_i.data;
          5'd4:    area_q <= cop2_req_i.data;
          5'd5:    quantum_q <= cop2_req_i.data;
          5'd6:    guard_q <= cop2_req_i.data[0];
          default: ;
        endcase
      end
      if (reads_time) cycle_high_q <= cycle_i[63:32];

      if (load) begin
        res_q[load_bank] <= next_word0;
        err_q[load_bank] <= next_err;
      end
      if (results) begin
        res_q[bank_i] <= result_res;
        err_q[bank_i] <= result_err;
      end
      if (sets_err) err_q[bank_i] <= cop2_req_i.data[7:0];
      if (sets_res) res_q[bank_i] <= cop2_req_i.data;

      ran_q  <= fresh ? '0 : ran_q + 32'd1;
      over_q <= !fresh && quantum_q != '0 && ran_q + 32'd1 >= quantum_q;
      if (cmd_stop || preempted_i) told_q <= 1'b0;
      else if (heard && heard_i.op == MsgPreempt && heard_i.tid == self.tid && running_o) told_q <= 1'b1;
    end
  end

`ifndef SYNTHESIS
  logic [31:0] has;
  always_comb begin
    unique case (cop2_req_i.index)
      RegErr:       has = {24'd0, err_q[bank_i]};
      RegRes:       has = res_q[bank_i];
      RegSelf:      has = {16'd0, self};
      RegPe:        has = {26'd0, pe_i};
      RegNumPes:    has = 32'(NumPes);
      RegCycleLow:  has = cycle_i[31:0];
      RegCycleHigh: has = cycle_high_q;
      RegConfig:    has = {7'd0, 8'(Watches), stack_log2_q, 4'($clog2(Threads)), 6'(Banks), CtxMode};
      RegNextPc:    has = next_pc_q;
      RegNextArg:   has = next_arg_q;
      default:      has = '0;
    endcase
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      SshSAnswersReadsWithWhatItHas : assert (!(cop2_valid_i && cop2_req_i.kind == Cop2Read) || cop2_rsp_o.rdata == has);
      SshSIsToldWhatWillBeRead :
      assert (!(cop2_valid_i && cop2_req_i.kind == Cop2Read) || $past(cop2_req_i.coming) == cop2_req_i.index);
    end
  end
`endif

endmodule
