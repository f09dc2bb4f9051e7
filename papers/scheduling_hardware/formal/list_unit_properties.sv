// SPDX-License-Identifier: Apache-2.0
// Lists are sequences: whatever operations come, as long as each is possible, heads, ends and successors are those of a model that
// keeps for each thread the list it is in and its place there. So a thread is in one list at most, what is pushed at the tail
// comes out in that order, and no thread is lost.

module list_unit_properties
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter bit          Staged = 1'b0,
  parameter int unsigned Threads = 256,
  parameter int unsigned Lists = 18,
  parameter int unsigned SideList = 16,
  parameter int unsigned ListWidth = $clog2(Lists),
  parameter int unsigned IndexWidth = $clog2(Threads)
) (
  input logic                 clk_i,
  input logic                 rst_ni,
  input list_op_e             op_i,
  input logic [ListWidth-1:0] list_i,
  input logic [ListWidth-1:0] to_i,
  input tid_t                 tid_i,
  input tid_t                 prev_i,
  input logic                 link_i,
  input tid_t                 link_tid_i,
  input tid_t                 link_next_i,
  input tid_t                 head_o,
  input logic                 empty_o,
  input logic [Lists-1:0]     empties_o,
  input tid_t                 side_head_o,
  input tid_t                 walk_i,
  input tid_t                 next_o,
  input tid_t [Lists-1:0]     heads_o,
  input tid_t [Lists-1:0]     tails_o,
  // Signals inside the unit, for the invariant.
  input logic [IndexWidth-1:0] next_q[Threads],
  input logic [IndexWidth-1:0] head_q[Lists],
  input logic [IndexWidth-1:0] tail_q[Lists]
);

  typedef logic [IndexWidth-1:0] index_t;
  typedef logic [ListWidth-1:0] list_t;

  // The model: whether a thread is in a list, in which, how many are before it; and how long each list is.
  logic   [Threads-1:0]               in_q, in_d;
  list_t  [Threads-1:0]               list_q, list_d;
  index_t [Threads-1:0]               place_q, place_d;
  logic   [Lists-1:0][IndexWidth:0]   size_q, size_d;
  logic                               started_q = 1'b0;

  index_t tid, prev, walk, head, moved, link_tid;
  assign link_tid = index_t'(link_tid_i);
  assign tid  = index_t'(tid_i);
  assign prev = index_t'(prev_i);
  assign walk = index_t'(walk_i);
  assign head = index_t'(head_o);

  logic pushes, pops, moves;
  assign moves  = op_i == ListMoveTail || op_i == ListMoveHead;
  assign pushes = op_i == ListPushTail || op_i == ListPushHead || op_i == ListInsert;
  assign pops   = op_i == ListPop || op_i == ListUnlink || moves;

  // The place in list_i of whom the model takes out, and the place in to_i of whom it puts in.
  index_t out_place, in_place;
  assign out_place = op_i == ListUnlink ? place_q[prev] + index_t'(1) : '0;
  always_comb begin
    unique case (op_i)
      ListPushTail, ListMoveTail: in_place = index_t'(size_q[to_i]);
      ListInsert:                 in_place = place_q[prev] + index_t'(1);
      default:                    in_place = '0;
    endcase
  end

  always_comb begin
    in_d    = in_q;
    list_d  = list_q;
    place_d = place_q;
    size_d  = size_q;
    moved   = tid;
    if (pops) begin
      size_d[list_i] = size_q[list_i] - (IndexWidth + 1)'(1);
      for (int unsigned t = 0; t < Threads; t++) begin
        if (in_q[t] && list_q[t] == list_i) begin
          if (place_q[t] == out_place) begin
            in_d[t] = 1'b0;
            if (moves) moved = index_t'(t);
          end else if (place_q[t] > out_place) place_d[t] = place_q[t] - index_t'(1);
        end
      end
    end
    if (pushes || moves) begin
      size_d[to_i] = size_q[to_i] + (IndexWidth + 1)'(1);
      for (int unsigned t = 0; t < Threads; t++) begin
        if (in_q[t] && list_q[t] == to_i && place_q[t] >= in_place) place_d[t] = place_q[t] + index_t'(1);
      end
      in_d[moved]    = 1'b1;
      list_d[moved]  = to_i;
      place_d[moved] = in_place;
    end
  end

  always_ff @(posedge clk_i) begin
    started_q <= 1'b1;
    in_q      <= rst_ni ? in_d : '0;
    size_q    <= rst_ni ? size_d : '0;
    list_q    <= list_d;
    place_q   <= place_d;
  end

  logic possible;
  always_comb begin
    unique case (op_i)
      ListPushTail, ListPushHead: possible = !in_q[tid];
      ListPop:                    possible = size_q[list_i] != '0;
      ListMoveTail, ListMoveHead: possible = size_q[list_i] != '0 && to_i != list_i;
      ListUnlink:
      possible = in_q[prev] && list_q[prev] == list_i && {1'b0, place_q[prev]} + (IndexWidth + 1)'(1) < size_q[list_i];
      // What is behind `prev` comes to stand behind `tid` in this cycle, or stands there already.
      ListInsert:
      possible = in_q[prev] && list_q[prev] == to_i && !in_q[tid] &&
                 (link_i && link_tid == tid ? index_t'(link_next_i) : next_q[tid]) == next_q[prev];
      default:                    possible = 1'b1;
    endcase
  end

  always_comb begin
    if (!started_q) ResetComesFirst : assume (!rst_ni);
    OperationsArePossible : assume (possible && 32'(list_i) < Lists && 32'(to_i) < Lists);
    ThreadsExist : assume (32'(tid_i) < Threads && 32'(prev_i) < Threads && 32'(walk_i) < Threads && 32'(link_tid_i) < Threads);
    LinksAreOfThreadsInNoList : assume (!link_i || (!in_q[link_tid] && (!Staged || op_i == ListNone)));
  end

  logic [Lists-1:0] empties;
  always_comb begin
    for (int unsigned l = 0; l < Lists; l++) empties[l] = size_q[l] == '0;
  end

  // The invariant: every pointer is what the model says, and the model's places are one thread's each.

  function automatic logic stands(index_t t, list_t l, logic [IndexWidth:0] place);
    return in_q[t] && list_q[t] == l && {1'b0, place_q[t]} == place;
  endfunction

  logic [Lists-1:0]                ends_stand;
  logic [Threads-1:0]              next_stands;
  logic [Threads-1:0][Threads-1:0] apart;
  always_comb begin
    for (int unsigned l = 0; l < Lists; l++) begin
      ends_stand[l] = size_q[l] == '0 || (stands(head_q[l], list_t'(l), '0) &&
                                          stands(tail_q[l], list_t'(l), size_q[l] - (IndexWidth + 1)'(1)));
    end
    for (int unsigned t = 0; t < Threads; t++) begin
      logic [IndexWidth:0] behind;
      behind = {1'b0, place_q[t]} + (IndexWidth + 1)'(1);
      next_stands[t] = !in_q[t] || (32'(list_q[t]) < Lists && (behind == size_q[list_q[t]] ||
                       (behind < size_q[list_q[t]] && stands(next_q[t], list_q[t], behind))));
      for (int unsigned u = 0; u < Threads; u++) begin
        apart[t][u] = t == u || !in_q[t] || !stands(index_t'(u), list_q[t], {1'b0, place_q[t]});
      end
    end
  end

  index_t side, next;
  logic   walks;
  assign side  = index_t'(side_head_o);
  assign next  = index_t'(next_o);
  logic last;
  assign last  = walk == index_t'(tails_o[list_i]);
  assign walks = in_q[walk] && list_q[walk] == list_i;

  always_comb begin
    if (started_q && rst_ni) begin
      EndsAreTheModels : assert (ends_stand == '1);
      SuccessorsAreTheModels : assert (next_stands == '1);
      NoTwoThreadsHaveOnePlace : assert (apart == '1);
      EmptyMeansNoThread : assert (empty_o == empties[list_i] && empties_o == empties);
      HeadIsTheFirst :
      assert (heads_o[list_i] == head_o && (empty_o || (in_q[head] && list_q[head] == list_i && place_q[head] == '0)));
      SideHeadIsTheFirst : assert (empties[SideList] || (in_q[side] && 32'(list_q[side]) == SideList && place_q[side] == '0));
      LastIsTheLast : assert (!walks || last == ({1'b0, place_q[walk]} + (IndexWidth + 1)'(1) == size_q[list_i]));
      NextIsTheOneBehind :
      assert (!walks || last || (in_q[next] && list_q[next] == list_i && place_q[next] == place_q[walk] + index_t'(1)));
    end
  end

endmodule

bind list_unit list_unit_properties #(
  .Staged  (Staged),
  .Threads (Threads),
  .Lists   (Lists),
  .SideList(SideList)
) u_properties (
  .*
);
