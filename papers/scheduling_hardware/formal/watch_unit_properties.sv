// SPDX-License-Identifier: Apache-2.0
// No wake is lost. A waiter has an entry for its word (claims one, or finds one), and compares the word afterwards; the comparison is
// a read or an exchange that the snoop port shows. Every store of the kind that wakes, from then on, is owed to it until SSH-m takes the
// entry's count, and each entry with a count is shown after at most Watches - 1 others.
//
// One word, whichever, is followed. Addresses have three bits that vary: the unit only compares them with each other, and
// no more than Watches + 3 of them take part in a cycle, so that more bits could show nothing new.

module watch_unit_properties
  import okosu_pkg::*;
#(
  parameter int unsigned Watches = 16,
  parameter int unsigned IndexWidth = $clog2(Watches)
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input mem_snoop_t            snoop_i,
  input logic [31:0]           find_addr_i,
  input logic                  found_o,
  input logic [IndexWidth-1:0] index_o,
  input logic                  free_o,
  input logic [IndexWidth-1:0] free_index_o,
  input logic                  claim_i,
  input logic [1:0]            claim_kind_i,
  input logic                  release_i,
  input logic [IndexWidth-1:0] release_index_i,
  input logic [IndexWidth-1:0] read_index_i,
  input logic [31:0]           read_addr_o,
  input logic [1:0]            read_kind_o,
  input logic                  hit_o,
  input logic [IndexWidth-1:0] hit_index_o,
  input logic [3:0]            hit_count_o,
  input logic                  take_i
);

  localparam logic [1:0] KindMutex = 2'd1;
  localparam logic [1:0] KindBarrier = 2'd3;
  localparam int unsigned HighBits = 27;

  // The word that is followed. Nothing drives this signal, so it is free; it is assumed to stay the same.
  logic [29:0] place, place_q;
  // Not driven: whether SSH-m puts the waiter to sleep after this comparison.
  logic        sleeps;

  logic started_q = 1'b0;
  logic watched_q, asleep_q, due_q;
  logic [1:0]            kind_q;
  logic [IndexWidth-1:0] index_q;
  logic [3:0]            owed_q;
  logic [IndexWidth:0]   others_q;
  logic [Watches-1:0]    held_q;

  logic finds, claims, releases, takes, at_place, wakes;
  assign finds    = find_addr_i[31:2] == place;
  assign claims   = claim_i && finds;
  assign releases = release_i && watched_q && release_index_i == index_q;
  assign takes    = take_i && watched_q && hit_index_o == index_q;
  assign at_place = snoop_i.valid && snoop_i.addr[31:2] == place;
  // A store of any value wakes those at a flag or condition, a word of 0 those at a mutex, nothing those at a barrier.
  always_comb begin
    unique case (kind_q)
      KindMutex:   wakes = at_place && snoop_i.is_store && snoop_i.data == '0 && snoop_i.be == '1;
      KindBarrier: wakes = 1'b0;
      default:     wakes = at_place && snoop_i.is_store;
    endcase
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    place_q   <= place;
    held_q    <= rst_ni ? (held_q | Watches'(claim_i) << free_index_o) & ~(Watches'(release_i) << release_index_i) : '0;
    others_q  <= rst_ni && watched_q && owed_q != '0 && !takes ? others_q + (IndexWidth + 1)'(take_i) : '0;
    if (!rst_ni) watched_q <= 1'b0;
    else if (claims || releases) watched_q <= claims;
    if (claims) begin
      kind_q  <= claim_kind_i;
      index_q <= free_index_o;
      owed_q  <= '0;
    end else if (takes) owed_q <= {3'd0, wakes};
    else if (wakes && owed_q != '1) owed_q <= owed_q + 4'd1;

    // The waiter: comes to sleep by a comparison while the word is watched; due from the first store that wakes on.
    if (!rst_ni || !watched_q || releases || takes) begin
      asleep_q <= 1'b0;
      due_q    <= 1'b0;
    end else begin
      if (at_place && sleeps) asleep_q <= 1'b1;
      if (asleep_q && wakes) due_q <= 1'b1;
    end
  end

  always_comb begin
    if (!started_q) begin
      ResetComesFirst : assume (!rst_ni);
    end else begin
      FollowsTheSame : assume (place == place_q);
    end
    AddressesVaryInThreeBits :
    assume (find_addr_i[31-:HighBits] == '0 && snoop_i.addr[31-:HighBits] == '0 && place[29-:HighBits] == '0);
    // The rules that SSH-m keeps.
    ClaimsOnlyWhatIsFree : assume (!claim_i || (free_o && !found_o));
    ReleasesOnlyWhatIsHeld : assume (!release_i || held_q[release_index_i]);
    TakesOnlyHits : assume (!take_i || hit_o);
  end

  logic reads;
  assign reads = read_index_i == index_q;

  always_comb begin
    if (started_q && rst_ni) begin
      FindsWhatIsWatched : assert (!finds || (found_o == watched_q && (!found_o || index_o == index_q)));
      ShowsWhatIsWatched : assert (!watched_q || !reads || (read_addr_o == {place, 2'b00} && read_kind_o == kind_q));
      HasRoomIfNotAllAreHeld : assert (free_o == (held_q != '1));
      CountIsWhatIsOwed : assert (!watched_q || !hit_o || hit_index_o != index_q || (hit_count_o == owed_q && owed_q != '0));
      WhatIsOwedIsShown : assert (!watched_q || owed_q == '0 || hit_o);
      NoWakeIsLost : assert (!due_q || (watched_q && owed_q != '0 && hit_o));
      WaitIsBounded : assert (32'(others_q) < Watches);
    end
  end

endmodule

bind watch_unit watch_unit_properties #(
  .Watches(Watches)
) u_properties (
  .*
);
