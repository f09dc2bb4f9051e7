// SPDX-License-Identifier: Apache-2.0
// All lists of threads: ready lists, the free list, and one list of waiters for each watched word.
//
// Each id has one `next` pointer and is in at most one list, so no list can overflow. One operation a cycle, with the result of
// a pop in the same cycle; a move is a pop and a push of what was popped. Heads and `next` can be read in any cycle. After reset
// all are empty, and no pointer needs a value.
//
//   head_o, empty_o   of list `list_i`, from which is popped, unlinked and moved; pushes, inserts and moves go to `to_i`
//   next_o            behind `walk_i`, with last_o: it is the last of `list_i`
//
// An operation must be possible (no pop of an empty list): asserted. Order within a list is proved in formal/list_unit.sby.

module list_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned Threads = 256,
  parameter int unsigned Lists   = 18,
  // A list whose head is always in view.
  parameter int unsigned SideList = 16,
  // Derived from the parameters above; not to be set.
  parameter int unsigned ListWidth = $clog2(Lists)
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  list_op_e             op_i,
  input  logic [ListWidth-1:0] list_i,
  input  logic [ListWidth-1:0] to_i,
  input  tid_t                 tid_i,
  input  tid_t                 prev_i,
  output tid_t                 head_o,
  output logic                 empty_o,
  output logic [Lists-1:0]     empties_o,
  output tid_t                 side_head_o,

  input  tid_t                 walk_i,
  output tid_t                 next_o,
  output logic                 last_o
);

  localparam int unsigned IndexWidth = $clog2(Threads);
  typedef logic [IndexWidth-1:0] index_t;

  index_t           next_q[Threads];
  index_t           head_q[Lists];
  index_t           tail_q[Lists];
  logic [Lists-1:0] empty_q;

  assign head_o    = tid_t'(head_q[list_i]);
  assign empty_o   = empty_q[list_i];
  assign empties_o = empty_q;
  assign side_head_o = tid_t'(head_q[SideList]);
  assign next_o    = tid_t'(next_q[walk_i[IndexWidth-1:0]]);
  assign last_o    = walk_i[IndexWidth-1:0] == tail_q[list_i];

  index_t tid, prev, head, tail, to_tail;
  logic   to_empty;
  assign tid      = tid_i[IndexWidth-1:0];
  assign prev     = prev_i[IndexWidth-1:0];
  assign head     = head_q[list_i];
  assign tail     = tail_q[list_i];
  assign to_tail  = tail_q[to_i];
  assign to_empty = empty_q[to_i];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      empty_q <= '1;
    end else begin
      unique case (op_i)
        ListPushTail, ListPushHead: empty_q[to_i] <= 1'b0;
        ListPop:                    empty_q[list_i] <= head == tail;
        ListMoveTail, ListMoveHead: begin
          empty_q[list_i] <= head == tail;
          empty_q[to_i]   <= 1'b0;
        end
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (op_i)
      ListPushTail: begin
        if (to_empty) head_q[to_i] <= tid;
        else next_q[to_tail] <= tid;
        tail_q[to_i] <= tid;
      end
      ListPushHead: begin
        if (to_empty) tail_q[to_i] <= tid;
        next_q[tid]  <= head_q[to_i];
        head_q[to_i] <= tid;
      end
      ListPop: head_q[list_i] <= next_q[head];
      ListUnlink: begin
        next_q[prev] <= next_q[next_q[prev]];
        if (next_q[prev] == tail) tail_q[list_i] <= prev;
      end
      ListInsert: begin
        next_q[tid]  <= next_q[prev];
        next_q[prev] <= tid;
        if (prev == to_tail) tail_q[to_i] <= tid;
      end
      ListMoveTail: begin
        head_q[list_i] <= next_q[head];
        if (to_empty) head_q[to_i] <= head;
        else next_q[to_tail] <= head;
        tail_q[to_i] <= head;
      end
      ListMoveHead: begin
        head_q[list_i] <= next_q[head];
        if (to_empty) tail_q[to_i] <= head;
        next_q[head] <= head_q[to_i];
        head_q[to_i] <= head;
      end
      default: ;
    endcase
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) begin
      ListUnitNeverPopsAnEmptyList : assert ((op_i != ListPop && op_i != ListMoveTail && op_i != ListMoveHead) || !empty_o);
      ListUnitMovesToAnotherList : assert ((op_i != ListMoveTail && op_i != ListMoveHead) || to_i != list_i);
      ListUnitNeverUnlinksBehindTheLast : assert (op_i != ListUnlink || (!empty_o && prev != tail));
      ListUnitNeverInsertsIntoAnEmptyList : assert (op_i != ListInsert || !to_empty);
    end
  end
`endif

endmodule
