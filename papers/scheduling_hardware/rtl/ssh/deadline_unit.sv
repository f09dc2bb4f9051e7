// SPDX-License-Identifier: Apache-2.0
// Points in time of each thread: when its timed wait ends (`due`), and by when policy edf has it done (`goal`).
//
// One thread a cycle, `scan_tid_o`, is looked at for a wait whose time has come; `due_o` says that it has, and the scan stands while
// `hold_i` is high. A goal is set at a thread's creation (to the end of time) and by DEADLINE.

module deadline_unit
  import okosu_pkg::*;
  import ssh_pkg::*;
#(
  parameter int unsigned Threads = 256
) (
  input  logic  clk_i,
  input  logic  rst_ni,
  input  time_t cycle_i,

  input  logic  due_we_i,
  input  logic  goal_we_i,
  input  tid_t  write_tid_i,
  input  time_t time_i,

  output tid_t  scan_tid_o,
  output logic  due_o,
  input  logic  hold_i,

  // Whether the goal of `new_tid_i` is before those of two others.
  input  tid_t  new_tid_i,
  input  tid_t  first_tid_i,
  input  tid_t  second_tid_i,
  output logic  before_first_o,
  output logic  before_second_o
);

  localparam int unsigned IndexWidth = $clog2(Threads);
  typedef logic [IndexWidth-1:0] index_t;

  time_t  due_q[Threads];
  time_t  goal_q[Threads];
  index_t scan_q;
  time_t  goal;

  assign scan_tid_o      = tid_t'(scan_q);
  assign due_o           = due_q[scan_q] <= cycle_i;
  assign goal            = goal_q[index_t'(new_tid_i)];
  assign before_first_o  = goal < goal_q[index_t'(first_tid_i)];
  assign before_second_o = goal < goal_q[index_t'(second_tid_i)];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) scan_q <= '0;
    else if (!hold_i) scan_q <= scan_q + index_t'(1);
  end

  always_ff @(posedge clk_i) begin
    if (due_we_i) due_q[index_t'(write_tid_i)] <= time_i;
    if (goal_we_i) goal_q[index_t'(write_tid_i)] <= time_i;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (rst_ni) DeadlineUnitWritesOneKind : assert (!(due_we_i && goal_we_i));
  end
`endif

endmodule
