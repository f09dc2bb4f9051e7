// SPDX-License-Identifier: Apache-2.0
// SSH-m's engines have the tables one at a time; messages and the dispatcher take turns where both press; and whose turn is the first
// makes no difference: until one of them has had the tables, never do both want them in a cycle in which an engine is chosen. So no
// program can tell which of them SSH-m begins with. The waiting unit takes up a message behind each store and each deadline. An id that was
// never given out is nobody's: no handle names it, and its deadline does not pass, whatever its row of the table begins with.

module ssh_m_properties
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter bit          Staged  = 1'b0,
  parameter int unsigned Threads = 256
) (
  input logic clk_i,
  input logic rst_ni,
  input logic booted_q,
  input logic bus_valid_i,
  input logic chooses,
  input logic m_want,
  input logic w_want,
  input logic d_presses,
  input logic d_scans,
  input logic r_busy,
  input logic m_pick,
  input logic d_pick,
  input logic m_grant,
  input logic w_grant,
  input logic d_grant,
  input logic r_grant,
  // The waiting unit has nothing under way; it takes up a message, a store, a deadline.
  input logic rests,
  input logic wait_ready,
  input logic wait_start,
  input logic take_hit,
  input logic expire,
  // The message unit begins a message; the one that it looks at, of a thread with this entry.
  input logic    begins,
  input msg_op_e op,
  input thread_t entry,
  input logic    evicts,
  input logic    settled,
  // Ids.
  input logic write,
  input tid_t write_tid,
  input logic known,
  input tid_t named,
  input logic expired,
  input tid_t expired_tid
);

  localparam int unsigned IndexWidth = $clog2(Threads);

  logic started_q = 1'b0;
  // Whether messages or the dispatcher have had the tables since reset, and whether it was messages that had them last.
  logic begun_q, last_q;
  // An engine is chosen in this cycle; messages and the dispatcher both want to be it, and nothing goes before them.
  logic looks, both;

  // A store or a deadline was what the waiting unit took up last. Ids whose rows were written.
  logic               woke_q;
  // In the cycle before a thread was evicted; one that is ready became free to run anywhere.
  logic               evicts_q, frees_q;
  logic [Threads-1:0] used_q;

  assign looks = booted_q && (!Staged || chooses);
  assign both  = looks && !r_busy && !d_scans && !w_want && m_want && d_presses;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!rst_ni) begin
      begun_q <= 1'b0;
      last_q  <= 1'b0;
      woke_q   <= 1'b1;
      used_q   <= '0;
      evicts_q <= 1'b0;
      frees_q  <= 1'b0;
    end else begin
      evicts_q <= evicts;
      frees_q  <= m_grant && begins && op == MsgReleased && entry.state == ThreadReady;
      if (m_grant || d_grant) begin
        begun_q <= 1'b1;
        last_q  <= m_grant;
      end
      if (wait_start) woke_q <= 1'b0;
      else if (take_hit || expire) woke_q <= 1'b1;
      if (write) used_q[write_tid[IndexWidth-1:0]] <= 1'b1;
    end
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    // Each SSH-s's buffer of messages is empty after reset (ShowsAWordIfItHoldsOne of fifo).
    if (!booted_q) NobodySpeaksInTheFirstCycle : assume (!bus_valid_i);
    if (started_q && rst_ni) begin
      OneEngineHasTheTables : assert ($onehot0({r_grant, m_grant, w_grant, d_grant}));
      TheFirstTurnIsNobodys : assert (begun_q || !both);
      AMessageWaitsForOneActionOfTheDispatcher : assert (!both || !begun_q || last_q || m_pick);
      TheDispatcherWaitsForOneMessage : assert (!both || !begun_q || !last_q || d_pick);
      AMessageIsTakenUpBehindAStore : assert (!rests || !woke_q || wait_ready);
      DispatchingGoesOnBehindAnEviction : assert (!evicts_q || !settled);
      DispatchingIsTriedAgainForWhoIsFree : assert (!frees_q || !settled);
      NoHandleNamesWhatWasNeverGivenOut : assert (!m_grant || !known || used_q[named[IndexWidth-1:0]]);
      NoDeadlineOfWhatWasNeverGivenOutPasses : assert (!booted_q || !expired || used_q[expired_tid[IndexWidth-1:0]]);
    end
  end

endmodule

bind ssh_m ssh_m_properties #(
  .Staged (Staged),
  .Threads(Threads)
) u_properties (
  .rests    (u_waiting.rests),
  .take_hit (u_waiting.take_hit),
  .expire   (u_waiting.expire),
  .begins   (u_messages.state_q == '0),
  .op       (in.op),
  .entry    (a),
  .evicts   (u_dispatcher.evict),
  .settled  (u_dispatcher.settled_q),
  .write    (u_threads.write_i),
  .write_tid(u_threads.write_tid_i),
  .named    (u_threads.handle.tid),
  .*
);
