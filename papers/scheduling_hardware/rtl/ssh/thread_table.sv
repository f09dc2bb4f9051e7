// SPDX-License-Identifier: Apache-2.0
// The thread table of SSH-m, and which id is given out next.
//
// Three readers, combinational: the thread that speaks or is acted on (a), the other one of a pair (b), and the scan for deadlines (c).
// One writer. Ids that were never used come from a counter, so the table needs no reset; then the one that has been free longest
// (`free_head_i`, of the free list). `take_i`: the id shown is being given out (`alloc_fresh_o`: not from the list).

module thread_table
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned Threads = 256
) (
  input  logic    clk_i,
  input  logic    rst_ni,

  input  tid_t    a_tid_i,
  output thread_t a_o,
  input  tid_t    b_tid_i,
  output thread_t b_o,
  input  tid_t    c_tid_i,
  output thread_t c_o,
  output logic    c_used_o,
  input  logic    write_i,
  input  tid_t    write_tid_i,
  input  thread_t write_entry_i,

  // Whether `handle_i` names a thread that lives or waits to be joined: the one of its id, whose entry is `named_i`.
  input  logic [31:0] handle_i,
  input  thread_t named_i,
  output logic    known_o,

  input  logic    take_i,
  input  logic    free_empty_i,
  input  tid_t    free_head_i,
  output logic    alloc_o,
  output logic    alloc_fresh_o,
  output tid_t    alloc_tid_o
);

  localparam int unsigned IndexWidth = $clog2(Threads);

  thread_t             table_q[Threads];
  logic [IndexWidth:0] fresh_q;
  handle_t             handle;

  assign a_o = table_q[a_tid_i[IndexWidth-1:0]];
  assign b_o = table_q[b_tid_i[IndexWidth-1:0]];
  assign c_o = table_q[c_tid_i[IndexWidth-1:0]];

  assign c_used_o = {1'b0, c_tid_i[IndexWidth-1:0]} < fresh_q;
  assign handle   = handle_t'(handle_i[15:0]);
  assign known_o  = {1'b0, handle.tid[IndexWidth-1:0]} < fresh_q && 32'(handle.tid) < Threads && handle_i[31:16] == '0 &&
                    named_i.generation == handle.generation && named_i.state != ThreadFree && named_i.state != ThreadGranted;

  assign alloc_fresh_o = 32'(fresh_q) != Threads;
  assign alloc_o       = alloc_fresh_o || !free_empty_i;
  assign alloc_tid_o   = alloc_fresh_o ? tid_t'(fresh_q) : free_head_i;

  // Thread 0 is PE 0's from the start.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) fresh_q <= 1;
    else if (take_i && alloc_fresh_o) fresh_q <= fresh_q + 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (write_i) table_q[write_tid_i[IndexWidth-1:0]] <= write_entry_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) ThreadTableGivesOutOnlyWhatItHas : assert (!take_i || alloc_o);
  end
`endif

endmodule
