// SPDX-License-Identifier: Apache-2.0
// SSH-s's CPU-SSH interface unit: turns the core's COP2 commands into messages, and replies into results.
//
// A command that needs no answer (CREATE with an id from the pool, EXIT, YIELD, POLICY) is done when its messages are in the
// outgoing buffer; the others wait for SSH-m's REPLY. `stop_o` says that the thread stops here, `keep_o` that it has not ended,
// `park_o` that the core is to park (never in SOFT mode, where ERR 255 tells the library instead and NEXT asks for another thread).
// `push_*` goes to the outgoing buffer, of which `push_ready_i` is the room for one message.
// `valid_i` comes late: `done_o`, `park_o` and `keep_o` are said of `req_i` and do not wait for it; without it they mean nothing, and
// nothing is done.

module cpu_unit
  import okosu_pkg::*;
#(
  parameter bit Soft = 1'b0
) (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  pe_t         pe_i,
  input  tid_t        self_i,
  input  logic [11:0] cycle_high_i,

  input  logic        valid_i,
  input  cop2_req_t   req_i,
  output logic        done_o,
  output logic        park_o,

  input  logic        reply_i,
  input  logic [31:0] reply_res_i,
  input  logic [7:0]  reply_err_i,

  input  logic        pool_valid_i,
  input  handle_t     pool_handle_i,
  output logic        pool_pop_o,

  // The next thread, if it can run at once.
  input  logic        next_i,
  input  handle_t     next_handle_i,
  input  logic [7:0]  next_err_i,
  output logic        take_next_o,

  output logic        stop_o,
  output logic        keep_o,
  // `result_may_o` does not wait for `valid_i`, either, nor for what the command waits for.
  output logic        result_may_o,
  output logic        result_we_o,
  output logic [31:0] result_res_o,
  output logic [7:0]  result_err_o,

  output logic        push_o,
  output logic        push_more_o,
  output sched_msg_t  push_msg_o,
  input  logic        push_ready_i,
  output logic        idle_o
);

  typedef enum logic [1:0] {
    StFirst,
    StSecond,
    StThird,
    StReply
  } state_e;

  state_e      state_q, state_d;
  logic [31:0] arg_q[4];
  logic        creating_q, creating_d, owes_release_q, owes_release_d;
  cmd_e        cmd;
  logic [11:0] count;
  // What a valid request does.
  logic        pops, takes, stops, results, pushes;
  // The request is over, by it the core parks: both as if SSH-m had replied, or there were room for the message. `goes`: that is so.
  logic        is_command, ends, halts, goes;

  assign cmd    = cmd_e'(req_i.index[3:0]);
  assign count  = req_i.data[31:12] == '0 ? req_i.data[11:0] : '1;
  assign idle_o = state_q == StFirst;

  assign is_command = req_i.kind == Cop2Command;
  assign goes       = state_q == StReply ? reply_i : push_ready_i;

  function automatic sched_msg_t say(msg_op_e op, pe_t pe, tid_t tid, logic [11:0] aux, logic [31:0] data);
    return '{op: op, pe: pe, tid: tid, aux: aux, data: data};
  endfunction

  always_comb begin
    state_d        = state_q;
    creating_d     = creating_q;
    owes_release_d = owes_release_q;
    ends           = 1'b0;
    halts          = 1'b0;
    pops           = 1'b0;
    takes          = 1'b0;
    stops          = 1'b0;
    keep_o         = 1'b0;
    results        = 1'b0;
    result_res_o   = '0;
    result_err_o   = ErrNone;
    pushes         = 1'b0;
    push_more_o    = 1'b0;
    push_msg_o     = say(MsgExit, pe_i, self_i, '0, req_i.data);

    if (is_command && state_q == StReply) begin
      state_d      = StFirst;
      results      = 1'b1;
      result_res_o = reply_res_i;
      result_err_o = reply_err_i;
      stops        = reply_err_i == ErrBlocked;
      keep_o       = 1'b1;
      ends         = 1'b1;
      halts        = stops && !Soft;
      if (stops) owes_release_d = Soft;
    end else if (is_command) begin
      pushes = 1'b1;
      unique case (state_q)
        StSecond: begin
          state_d = StReply;
          unique case (cmd)
            CmdCreate: begin
              push_msg_o.op = MsgCreate1;
              if (creating_q) begin
                state_d      = StFirst;
                pops         = 1'b1;
                ends         = 1'b1;
                results      = 1'b1;
                result_res_o = {16'd0, pool_handle_i};
              end
            end
            CmdWait: begin
              push_msg_o.op = MsgWait1;
              push_more_o   = arg_q[1][8];
              if (arg_q[1][8]) state_d = StThird;
            end
            default: push_msg_o = say(MsgDeadline1, pe_i, self_i, cycle_high_i, req_i.data);
          endcase
        end
        StThird: begin
          state_d    = StReply;
          push_msg_o = say(MsgWait2, pe_i, self_i, arg_q[3][11:0], arg_q[2]);
        end
        default: begin
          state_d = StReply;
          unique case (cmd)
            CmdCreate: begin
              // With no id at hand SSH-m is asked for one (bit 11), and the answer is its reply.
              creating_d  = pool_valid_i;
              push_msg_o  = say(MsgCreate0, pe_i, pool_valid_i ? pool_handle_i.tid : self_i,
                                {!pool_valid_i, 6'd0, arg_q[1][4:0]}, arg_q[0]);
              push_more_o = 1'b1;
              state_d     = StSecond;
            end
            CmdExit: begin
              state_d = StFirst;
              stops   = 1'b1;
              ends    = 1'b1;
              halts   = !Soft;
            end
            CmdJoin:   push_msg_o.op = MsgJoin;
            CmdDetach: push_msg_o.op = MsgDetach;
            CmdYield: begin
              // A yield with no other thread in the slot changes nothing.
              state_d       = StFirst;
              pushes        = next_i;
              push_msg_o    = say(MsgYield, pe_i, self_i, '0, '0);
              stops         = next_i;
              keep_o        = 1'b1;
              ends          = 1'b1;
              halts         = next_i && !Soft;
              results       = 1'b1;
              result_err_o  = next_i && Soft ? ErrBlocked : ErrNone;
              if (next_i) owes_release_d = Soft;
            end
            CmdWait: begin
              push_msg_o  = say(MsgWait0, pe_i, self_i, {3'd0, arg_q[1][8:0]}, arg_q[0]);
              push_more_o = 1'b1;
              state_d     = StSecond;
            end
            CmdWake:    push_msg_o = say(MsgWake, pe_i, self_i, count, arg_q[0]);
            CmdBarrier: push_msg_o = say(MsgBarrier, pe_i, self_i, count, arg_q[0]);
            CmdSetPrio: push_msg_o = say(MsgSetPrio, pe_i, self_i, {8'd0, req_i.data[PrioWidth-1:0]}, arg_q[0]);
            CmdPolicy: begin
              state_d    = StFirst;
              push_msg_o = say(MsgPolicy, pe_i, self_i, {9'd0, req_i.data[2:0]}, '0);
              ends       = 1'b1;
            end
            CmdNext: begin
              state_d = StFirst;
              pushes  = 1'b0;
              if (!Soft) begin
                stops = 1'b1;
                ends  = 1'b1;
                halts = 1'b1;
              end else if (owes_release_q) begin
                pushes         = 1'b1;
                push_msg_o.op  = MsgReleased;
                owes_release_d = 1'b0;
              end else if (next_i) begin
                takes        = 1'b1;
                ends         = 1'b1;
                results      = 1'b1;
                result_res_o = {16'd0, next_handle_i};
                result_err_o = next_err_i;
              end
            end
            CmdDeadline: begin
              push_msg_o  = say(MsgDeadline0, pe_i, self_i, '0, arg_q[0]);
              push_more_o = 1'b1;
              state_d     = StSecond;
            end
            default: begin
              state_d = StFirst;
              pushes  = 1'b0;
              ends    = 1'b1;
            end
          endcase
        end
      endcase
    end
  end

  assign done_o       = !is_command || (goes && ends && !halts);
  assign park_o       = is_command && goes && ends && halts;
  assign pool_pop_o   = valid_i && goes && pops;
  assign take_next_o  = valid_i && goes && takes;
  assign stop_o       = valid_i && goes && stops;
  assign result_we_o  = valid_i && goes && results;
  assign result_may_o = results;
  assign push_o       = valid_i && goes && pushes;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q        <= StFirst;
      creating_q     <= 1'b0;
      owes_release_q <= 1'b0;
      for (int unsigned n = 0; n < 4; n++) arg_q[n] <= '0;
    end else begin
      if (valid_i && goes) begin
        state_q        <= state_d;
        creating_q     <= creating_d;
        owes_release_q <= owes_release_d;
      end
      if (valid_i && req_i.kind == Cop2Operand && req_i.index < RegSwap) arg_q[req_i.index[1:0]] <= req_i.data;
      // Operands belong to the next command only.
      if (valid_i && req_i.kind == Cop2Command && (done_o || park_o)) begin
        for (int unsigned n = 0; n < 4; n++) arg_q[n] <= '0;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      CpuUnitHearsOnlyRepliesItWaitsFor : assert (!reply_i || (valid_i && state_q == StReply));
      CpuUnitNeverParksInSoftMode : assert (!(Soft && park_o));
    end
  end
`endif

endmodule
