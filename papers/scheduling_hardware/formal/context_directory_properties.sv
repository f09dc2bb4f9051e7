// SPDX-License-Identifier: Apache-2.0
// A place of a PE's own memory is free, or holds the context of the thread that claimed it last: a free one is shown where there is one, a
// context is found at its place and nowhere else, and no context leaves but one that is held.

module context_directory_properties
  import okosu_pkg::*;
#(
  parameter int unsigned Places     = 16,
  parameter int unsigned PlaceWidth = Places > 1 ? $clog2(Places) : 1
) (
  input logic                  clk_i,
  input logic                  rst_ni,
  input tid_t                  find_tid_i,
  input logic                  found_o,
  input logic [PlaceWidth-1:0] found_index_o,
  input logic                  free_o,
  input logic [PlaceWidth-1:0] free_index_o,
  input logic                  claim_i,
  input logic [PlaceWidth-1:0] claim_index_i,
  input tid_t                  claim_tid_i,
  input logic                  release_found_i,
  input logic                  release_i,
  input logic [PlaceWidth-1:0] release_index_i,
  input logic                  leave_o,
  input logic [PlaceWidth-1:0] leave_index_o,
  input tid_t                  leave_tid_o
);

  // One place, whichever, is followed. Nothing drives this signal, so it is free; it is assumed to stay the same.
  logic [PlaceWidth-1:0] place, place_q;
  logic                  started_q = 1'b0;
  logic                  held_q;
  tid_t                  tid_q;

  logic claims, releases;
  assign claims   = claim_i && claim_index_i == place;
  assign releases = (release_found_i && found_index_o == place) || (release_i && release_index_i == place);

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    place_q   <= place;
    if (!rst_ni) begin
      held_q <= 1'b0;
    end else if (claims || releases) begin
      held_q <= !releases;
      if (claims) tid_q <= claim_tid_i;
    end
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    else FollowsTheSame : assume (place == place_q);
    // The rules that the register unit keeps.
    ClaimsOnlyWhatIsFree : assume (!claim_i || (free_o && claim_index_i == free_index_o));
    ReleasesOnlyWhatIsFound : assume (!release_found_i || found_o);
    if (started_q && rst_ni) begin
      ShownAsFreeIsFree : assert (!free_o || free_index_o != place || !held_q);
      AFreePlaceIsShown : assert (held_q || free_o);
      FoundIsHeld : assert (!found_o || found_index_o != place || (held_q && tid_q == find_tid_i));
      HeldIsFound : assert (!held_q || tid_q != find_tid_i || found_o);
      OnlyWhatIsHeldLeaves : assert (!leave_o || leave_index_o != place || (held_q && leave_tid_o == tid_q));
    end
  end

endmodule

bind context_directory context_directory_properties #(
  .Places(Places)
) u_properties (
  .*
);
