// SPDX-License-Identifier: Apache-2.0
// SSH-m's engines have the tables one at a time; messages and the dispatcher take turns where both press; and whose turn is the first
// makes no difference: until one of them has had the tables, never do both want them in a cycle in which an engine is chosen. So no
// program can tell which of them SSH-m begins with.

module ssh_m_properties #(
  parameter bit Staged = 1'b0
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
  input logic r_grant
);

  logic started_q = 1'b0;
  // Whether messages or the dispatcher have had the tables since reset, and whether it was messages that had them last.
  logic begun_q, last_q;
  // An engine is chosen in this cycle; messages and the dispatcher both want to be it, and nothing goes before them.
  logic looks, both;

  assign looks = booted_q && (!Staged || chooses);
  assign both  = looks && !r_busy && !d_scans && !w_want && m_want && d_presses;

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    if (!rst_ni) begin
      begun_q <= 1'b0;
      last_q  <= 1'b0;
    end else if (m_grant || d_grant) begin
      begun_q <= 1'b1;
      last_q  <= m_grant;
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
    end
  end

endmodule

bind ssh_m ssh_m_properties #(
  .Staged(Staged)
) u_properties (
  .*
);
