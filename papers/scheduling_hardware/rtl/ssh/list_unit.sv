// SPDX-License-Identifier: Apache-2.0
// All lists of threads: ready lists, the free list, and one list of waiters for each watched word.
//
// Each id has one `next` pointer and is in at most one list, so no list can overflow. One operation a cycle, with the result of
// a pop in the same cycle; a move is a pop and a push of what was popped. Heads and `next` can be read in any cycle. After reset
// all are empty, and no pointer needs a value.
//
// An insert has two pointers to change. The one of the thread that is put in is changed by `link_i`: `link_next_i` comes to stand behind
// `link_tid_i`, which is in no list. With `Staged` that is done in a cycle before the insert, else in the same or one before: so with
// `Staged` one pointer changes a cycle, and they fit into distributed memory.
//
//   head_o, empty_o   of list `list_i`, from which is popped, unlinked and moved; pushes, inserts and moves go to `to_i`
//   heads_o, tails_o  the first and last of each list, of no meaning where it is empty
//   next_o            behind `walk_i`
//
// An operation must be possible (no pop of an empty list): asserted. Order within a list is proved in formal/list_unit.sby.

module list_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter bit          Staged  = 1'b0,
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
  input  logic                 link_i,
  input  tid_t                 link_tid_i,
  input  tid_t                 link_next_i,
  output tid_t                 head_o,
  output logic                 empty_o,
  output logic [Lists-1:0]     empties_o,
  output tid_t [Lists-1:0]     heads_o,
  output tid_t [Lists-1:0]     tails_o,
  output tid_t                 side_head_o,

  input  tid_t                 walk_i,
  output tid_t                 next_o
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
  always_comb begin
    for (int unsigned l = 0; l < Lists; l++) begin
      heads_o[l] = tid_t'(head_q[l]);
      tails_o[l] = tid_t'(tail_q[l]);
    end
  end

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

  // The pointer that the operation changes.
  logic   we;
  index_t at, to_next;
  always_comb begin
    we      = 1'b0;
    at      = to_tail;
    to_next = tid;
    unique case (op_i)
      ListPushTail: we = !to_empty;
      ListPushHead: begin
        we      = 1'b1;
        at      = tid;
        to_next = head_q[to_i];
      end
      ListUnlink: begin
        we      = 1'b1;
        at      = prev;
        to_next = next_q[next_q[prev]];
      end
      ListInsert: begin
        we = 1'b1;
        at = prev;
      end
      ListMoveTail: begin
        we      = !to_empty;
        to_next = head;
      end
      ListMoveHead: begin
        we      = 1'b1;
        at      = head;
        to_next = head_q[to_i];
      end
      default: ;
    endcase
  end

  index_t link_tid, link_next;
  assign link_tid  = link_tid_i[IndexWidth-1:0];
  assign link_next = link_next_i[IndexWidth-1:0];
  if (Staged) begin : gen_one_port
    always_ff @(posedge clk_i) begin
      if (we || link_i) next_q[link_i ? link_tid : at] <= link_i ? link_next : to_next;
    end
  end else begin : gen_two_ports
    always_ff @(posedge clk_i) begin
      if (link_i) next_q[link_tid] <= link_next;
      if (we) next_q[at] <= to_next;
    end
  end

  always_ff @(posedge clk_i) begin
    unique case (op_i)
      ListPushTail: begin
        if (to_empty) head_q[to_i] <= tid;
        tail_q[to_i] <= tid;
      end
      ListPushHead: begin
        if (to_empty) tail_q[to_i] <= tid;
        head_q[to_i] <= tid;
      end
      ListPop: head_q[list_i] <= next_q[head];
      ListUnlink: if (next_q[prev] == tail) tail_q[list_i] <= prev;
      ListInsert: if (prev == to_tail) tail_q[to_i] <= tid;
      ListMoveTail: begin
        head_q[list_i] <= next_q[head];
        if (to_empty) head_q[to_i] <= head;
        tail_q[to_i] <= head;
      end
      ListMoveHead: begin
        head_q[list_i] <= next_q[head];
        if (to_empty) tail_q[to_i] <= head;
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
      ListUnitChangesOnePointerWhereItHasOnePort : assert (!Staged || !link_i || op_i == ListNone);
    end
  end
`endif

endmodule
